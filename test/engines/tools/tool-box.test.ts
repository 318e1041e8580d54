import { expect, it, vi } from 'vitest';
import { FakeClock } from '../../support/fake-clock.js';
import { toolBoxWith } from './tool-box-rig.js';

it('runs no tool that is asked for behind the end of the call', async () => {
  const execute = vi.fn();
  const { box, start } = toolBoxWith({ execute }, new FakeClock());
  box.close();
  const { run } = start();
  await run.settled;
  expect(run.settlement).toMatchObject({ error: 'The call ended before the tool was done.' });
  expect(execute).not.toHaveBeenCalled();
});
