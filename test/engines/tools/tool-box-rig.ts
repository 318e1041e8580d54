// A box with one tool, and nothing that a built-in one could do to a call.
import type { Clock } from '../../../src/base/clock.js';
import { silentLogger } from '../../../src/base/log.js';
import { createAgentTools } from '../../../src/engines/tools/agent-tool.js';
import type { Tool } from '../../../src/engines/tools/tool.js';
import { ToolBox } from '../../../src/engines/tools/tool-box.js';
import type { JsonObject } from '../../../src/providers/language-model.js';
import { A_CALL } from '../a-call.js';

export function toolBoxWith(tool: Omit<Tool, 'name' | 'description'>, clock: Clock) {
  const box = new ToolBox({
    tools: createAgentTools([{ name: 'book', description: 'Books.', ...tool }], clock),
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
  return {
    box,
    /** The model calls the tool, and the conversation knows that as `tool-1`. */
    start(args: JsonObject = {}) {
      const call = { id: '1', name: 'book', arguments: args, argumentsText: JSON.stringify(args) };
      const [run] = box.start([call], { caughtUp: async () => true });
      if (run === undefined) throw new Error('nothing runs');
      run.identify('tool-1');
      return { call, run };
    },
  };
}
