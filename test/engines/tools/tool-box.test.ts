import { expect, it, vi } from 'vitest';
import { silentLogger } from '../../../src/base/log.js';
import { createAgentTools } from '../../../src/engines/tools/agent-tool.js';
import { ToolBox } from '../../../src/engines/tools/tool-box.js';
import { FakeClock } from '../../support/fake-clock.js';
import { A_CALL } from '../a-call.js';

it('runs no tool that is asked for behind the end of the call', async () => {
  const execute = vi.fn();
  const clock = new FakeClock();
  const box = new ToolBox({
    tools: createAgentTools([{ name: 'book', description: 'Books.', execute }], clock),
    transferTargets: {},
    call: A_CALL,
    controls: {
      transfer: () => new Promise(() => {}),
      sendDigits: async () => {},
      pauseRecording() {},
      resumeRecording() {},
    },
    clock,
    logger: silentLogger,
  });
  box.close();
  const call = { id: '1', name: 'book', arguments: {}, argumentsText: '{}' };
  const [run] = box.start([call], { caughtUp: async () => true });
  run?.identify('tool-1');
  await run?.settled;
  expect(run?.settlement).toMatchObject({ error: 'The call ended before the tool was done.' });
  expect(execute).not.toHaveBeenCalled();
});
