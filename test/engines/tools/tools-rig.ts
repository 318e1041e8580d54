// A rig whose model calls tools, and tools that the test answers.
import type { LanguageModelEvent } from '../../../src/providers/language-model.js';
import { createAgentTools } from '../../../src/engines/tools/agent-tool.js';
import type { Tool, ToolContext } from '../../../src/engines/tools/tool.js';
import { CallRig, type RigOptions } from '../call-rig.js';

let calls = 0;

/** A model's call of a tool; a text as arguments is what the model wrote. */
export function call(name: string, args: object | string = {}): LanguageModelEvent {
  calls += 1;
  const argumentsText = typeof args === 'string' ? args : JSON.stringify(args);
  const parsed = typeof args === 'string' ? null : (args as Record<string, unknown>);
  return { type: 'tool-call', id: `call_${calls}`, name, arguments: parsed, argumentsText };
}

export const SLOT = { type: 'object', properties: { day: { type: 'string' } }, required: ['day'] };

export async function rigWith(tools: Tool[], options: RigOptions = {}): Promise<CallRig> {
  const { clock } = options;
  return new CallRig({ ...options, tools: createAgentTools(tools, clock) }).start();
}

/** A tool that the test answers. */
export function heldTool(name = 'find_slot') {
  const runs: {
    args: unknown;
    context: ToolContext;
    resolve: (value: unknown) => void;
    reject: (error: unknown) => void;
  }[] = [];
  const tool: Tool = {
    name,
    description: 'Finds a slot.',
    parameters: SLOT,
    execute: (args, context) =>
      new Promise((resolve, reject) => void runs.push({ args, context, resolve, reject })),
  };
  return { tool, runs };
}

export const lastMessages = (rig: CallRig) => rig.model.requests.at(-1)?.messages ?? [];
export const results = (rig: CallRig) =>
  lastMessages(rig).flatMap((message) => (message.role === 'tool' ? [message.content] : []));
