import { expect, it } from 'vitest';
import { loadPlay } from '../bench/machine.bench.mjs';

it('the bench plays schedules on the built machine', async () => {
  const { play } = await loadPlay();
  const policy = {
    interruptible: true,
    keysInterrupt: true,
    idle: undefined,
    endsTurns: false,
    transcribesCaller: false,
  };
  const mode = { isStored: false, policy, greeting: { text: 'Hello.', interruptible: true } };
  const acts = [{ act: 'audible' }, { act: 'heard out' }, { act: 'words', text: 'yes' }];
  expect(play(acts, mode, undefined, 16)).toMatchObject({ broken: [], steps: 16 });
  expect(play(acts, mode).steps).toBeGreaterThan(16);
});
