// Calls by the real clock are taken also where the machine has no time for them: it is not the tests that it would have to spare.
import { afterAll } from 'vitest';
import { LoadJudge } from '../../src/base/load-judge.js';

// No spy: vitest takes those back before each test (`restoreMocks`).
const judgment = Object.getOwnPropertyDescriptor(LoadJudge.prototype, 'isOverloaded');
if (judgment === undefined) throw new Error('nobody judges the load');
Object.defineProperty(LoadJudge.prototype, 'isOverloaded', { ...judgment, get: () => false });
afterAll(() => void Object.defineProperty(LoadJudge.prototype, 'isOverloaded', judgment));
