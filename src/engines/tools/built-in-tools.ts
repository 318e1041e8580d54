// Tools that every agent has: what they offer the model, and what they do with the call.
import { OffhookError } from '../../base/errors.js';
import type { JsonObject, ModelToolCall, ToolDefinition } from '../../providers/language-model.js';
import type { BeforeOutside, EngineControls, HandOff } from '../engine.js';
import { ToolError } from './tool.js';

export const END_CALL = 'end_call';
export const TRANSFER_CALL = 'transfer_call';
export const SEND_DTMF = 'send_dtmf';
export const HAND_OFF = 'hand_off';
export const BUILT_IN_NAMES: readonly string[] = [END_CALL, TRANSFER_CALL, SEND_DTMF, HAND_OFF];

/** Other agents by the names that the model chooses from, each with when it is to. */
export type HandoffOffers = Readonly<Record<string, string>>;

/** Whom a caller may be handed over to: numbers (E.164) by the names that the model chooses from. */
export type TransferTargets = Readonly<Record<string, string>>;

/** What the model is told of a call that it wanted to end. */
export const CALL_ENDS = 'The call ends.';
/** To whoever is given up in the middle of it. */
export const CALL_ENDS_LATER =
  'Your goodbye was cut off. The call ends with the rest of it, unless the caller speaks.';
export const CALL_GOES_ON = 'The caller spoke before you had finished. The call goes on.';

/** The caller took the floor before the tool did anything. */
const SPOKEN_OVER = 'Not done: the caller spoke before you had finished.';

const RESULTS = {
  connected: 'The caller is connected.',
  busy: 'Not transferred: the line is busy. The caller is back with you.',
  'no-answer': 'Not transferred: nobody answered. The caller is back with you.',
  failed: 'Not transferred: the number could not be reached. The caller is back with you.',
} as const;

/** What a built-in tool may do, and wait for. */
export interface BuiltInContext {
  readonly call: ModelToolCall;
  readonly controls: EngineControls;
  readonly beforeOutside?: BeforeOutside | undefined;
  /** Resolves true when all that was said so far has been heard, false when the caller did not let it be said. */
  caughtUp(): Promise<boolean>;
  /** The carrier is asked to hand the caller over: if the call ends from now on, that is no failure of the tool. */
  handsOver(): void;
  readonly handOff?: HandOff | undefined;
}

/** A hand-off that is checked and done in the tick of its result. No tool of an application gives one. */
export class PendingHandOff {
  readonly order: () => ReturnType<HandOff>;

  constructor(order: PendingHandOff['order']) {
    this.order = order;
  }
}

export interface BuiltInTool {
  readonly definition: ToolDefinition;
  /** @throws ToolError */
  run(args: JsonObject, context: BuiltInContext): Promise<string | PendingHandOff>;
}

/** `end_call` is not among the functions: the reply that carries it does it. */
export function createBuiltInTools(
  targets: TransferTargets,
  handoffs: HandoffOffers = {},
): ReadonlyMap<string, BuiltInTool> {
  const tools = [
    endCall,
    ...(Object.keys(targets).length === 0 ? [] : [transferCall(targets)]),
    ...(Object.keys(handoffs).length === 0 ? [] : [handOff(handoffs)]),
    sendDtmf,
  ];
  return new Map(tools.map((tool) => [tool.definition.name, tool]));
}

const endCall: BuiltInTool = {
  definition: {
    name: END_CALL,
    description:
      'Ends the call as soon as the caller has heard what you say in this answer. Say goodbye in the same answer.',
    parameters: { type: 'object', properties: {} },
  },
  run: async () => CALL_ENDS,
};

const sendDtmf: BuiltInTool = {
  definition: {
    name: SEND_DTMF,
    description: 'Presses keys of the telephone for the other side, to get through an automatic menu.',
    parameters: {
      type: 'object',
      properties: {
        digits: {
          type: 'string',
          pattern: '^[0-9A-D#*wW]{1,32}$',
          description: '0-9, A-D, # and *; w waits half a second, W a second.',
        },
      },
      required: ['digits'],
    },
  },
  async run(args, { call, controls, beforeOutside, caughtUp }) {
    const digits = String(args.digits);
    if (!(await caughtUp())) throw new ToolError(SPOKEN_OVER, 'refused');
    await beforeOutside?.({ type: 'keys', isOutside: true, call, digits });
    await ordered(controls.sendDigits(digits));
    return 'The keys were pressed.';
  },
};

/** The model chooses a name, never a number. */
function transferCall(targets: TransferTargets): BuiltInTool {
  return {
    definition: {
      name: TRANSFER_CALL,
      description:
        'Connects the caller with somebody else. Tell the caller in the same answer; you are told if it fails.',
      parameters: {
        type: 'object',
        properties: { to: { type: 'string', enum: Object.keys(targets) } },
        required: ['to'],
      },
    },
    async run({ to }, { call, controls, beforeOutside, caughtUp, handsOver }) {
      const number = Object.hasOwn(targets, String(to)) ? targets[String(to)] : undefined;
      if (number === undefined) throw new ToolError('There is nobody of that name.', 'arguments');
      if (!(await caughtUp())) throw new ToolError(SPOKEN_OVER, 'refused');
      await beforeOutside?.({ type: 'transfer', isOutside: true, call, to: number });
      handsOver();
      const result = await ordered(controls.transfer(number));
      if (result === 'connected') return RESULTS.connected;
      throw new ToolError(RESULTS[result], 'refused');
    },
  };
}

/** The next agent knows all that was said. */
function handOff(offers: HandoffOffers): BuiltInTool {
  const when = Object.entries(offers).map(([name, text]) => `${name}: ${text}`);
  return {
    definition: {
      name: HAND_OFF,
      description:
        'Hands the caller over to another agent of this line, who knows all that was said and goes on at once. Say at most one sentence in the same answer, and no goodbye.',
      parameters: {
        type: 'object',
        properties: {
          to: { type: 'string', enum: Object.keys(offers), description: when.join('\n') },
          summary: {
            type: 'string',
            description: 'One line for that agent: what the caller wants, and what is done already.',
          },
        },
        required: ['to', 'summary'],
      },
    },
    async run({ to, summary }, { caughtUp, handOff: order }) {
      if (order === undefined) throw new ToolError('There is nobody of that name.', 'arguments');
      if (!(await caughtUp())) throw new ToolError(SPOKEN_OVER, 'refused');
      return new PendingHandOff(() => order({ to: String(to), summary: toLine(String(summary)) }));
    },
  };
}

const MAX_SUMMARY_CHARS = 500;

function toLine(text: string): string {
  return text
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .slice(0, MAX_SUMMARY_CHARS);
}

/** Sentences of our own errors may be told. */
async function ordered<T>(order: Promise<T>): Promise<T> {
  try {
    return await order;
  } catch (error) {
    throw OffhookError.isInstance(error) ? new ToolError(error.message, 'refused') : error;
  }
}
