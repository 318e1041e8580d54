// Calls by the real clock are taken also where the machine has no time for them: it is not the tests that it would have to spare.
import { afterAll, vi } from 'vitest';
import { LoadJudge } from '../../src/base/load-judge.js';

const judgment = vi.spyOn(LoadJudge.prototype, 'isOverloaded', 'get').mockReturnValue(false);
afterAll(() => judgment.mockRestore());
