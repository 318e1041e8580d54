// `serve({ agent: function })`: what it is told, what it may return, and what is refused. Documented here and nowhere else.
import { ConfigError } from '../base/errors.js';
import { checkNumber, checkText, requireObject, checkNames } from '../base/option-checks.js';
import type { Variables } from '../contract/call-context.js';
import type { CallDetails } from '../carriers/carrier.js';
import type { CallDirection } from '../contract/call-record.js';
import type { TransferTargets } from '../engines/tools/built-in-tools.js';
import { Agent, checkLanguage, checkTransferTargets, checkVariables } from './agent.js';

/** A call that rings, as the function in `agent` is told of it. All but `callId` is what the network claims: anybody can write it. */
export interface RingingCall extends CallDetails {
  readonly callId: string;
  /** Always `inbound`. */
  readonly direction: CallDirection;
  /** A number, a SIP address, or a word such as `anonymous`. */
  readonly caller: string;
  readonly callee: string;
}

/** What the function in `agent` returns. */
export type AgentChoice =
  | Agent
  /** The agent with other texts, as in `phone.call()`. */
  | {
      readonly agent: Agent;
      readonly variables?: Variables | undefined;
      readonly firstMessage?: string | undefined;
    }
  /** Turns the call away unanswered: it costs nothing. */
  | { readonly reject: 'busy' | 'declined' }
  /** Answers, says the text with the carrier's voice, and hangs up. The carrier bills the call. At most 1000 characters. */
  | { readonly say: string; readonly language?: string | undefined }
  /** Answers and connects to a number, by its name in `transferTargets`. If nobody answers there, `fallbackAgent` takes the call. */
  | { readonly transfer: string };

/** Chooses what becomes of an inbound call while it rings. `signal` is aborted when the time is up or the caller has left. */
export type ChooseAgent = (
  call: RingingCall,
  context: { readonly signal: AbortSignal },
) => AgentChoice | Promise<AgentChoice>;

/** What `serve` is given of that. */
interface GivenAgents {
  readonly agent: Agent | ChooseAgent;
  readonly fallbackAgent?: Agent | undefined;
  readonly answerWithinMs?: number | undefined;
  readonly transferTargets?: TransferTargets | undefined;
}

const FUNCTION_OPTIONS = ['fallbackAgent', 'answerWithinMs', 'transferTargets'] as const;

/** How agents are chosen. */
export interface CheckedAgentChoice {
  readonly choose: ChooseAgent;
  readonly answerWithinMs: number;
  readonly transferTargets: TransferTargets;
}

/** `agent`: the server's own. `choice`: undefined where it answers every call. */
export interface CheckedAgents {
  readonly agent: Agent;
  readonly choice: CheckedAgentChoice | undefined;
}

const AN_AGENT = 'must be the result of phone.agent({ … })';

/** @throws ConfigError */
export function checkAgents(options: GivenAgents): CheckedAgents {
  const { agent, fallbackAgent } = options;
  if (agent === undefined) throw new ConfigError('CONFIG_MISSING', `agent ${AN_AGENT}.`);
  if (agent instanceof Agent) {
    const extra = FUNCTION_OPTIONS.find((name) => options[name] !== undefined);
    if (extra === undefined) return { agent, choice: undefined };
    throw new ConfigError(
      'CONFIG_CONFLICT',
      `${extra} of serve() belongs to a function in agent, and agent is an agent. Remove ${extra}.`,
    );
  }
  if (typeof agent !== 'function')
    throw new ConfigError('CONFIG_INVALID', `agent ${AN_AGENT}, or a function that chooses one.`);
  if (fallbackAgent === undefined)
    throw new ConfigError(
      'CONFIG_MISSING',
      'fallbackAgent is missing: a function in agent may fail, so set the agent that answers then.',
    );
  if (!(fallbackAgent instanceof Agent))
    throw new ConfigError('CONFIG_INVALID', `fallbackAgent ${AN_AGENT}.`);
  const range = { min: 100, max: 10_000, fallback: 2500 };
  return {
    agent: fallbackAgent,
    choice: {
      choose: agent,
      answerWithinMs: checkNumber('answerWithinMs', options.answerWithinMs, range),
      transferTargets: checkTransferTargets(options.transferTargets),
    },
  };
}

/** Carriers take texts of this length. */
const MAX_SAID_CHARS = 1000;
const REJECTIONS = ['busy', 'declined'] as const;
/** Each kind of choice, by the property that names it. */
const CHOICES = {
  agent: ['agent', 'variables', 'firstMessage'],
  reject: ['reject'],
  say: ['say', 'language'],
  transfer: ['transfer'],
} as const;

/** A choice that can be carried out. */
export type CheckedChoice =
  | {
      readonly type: 'agent';
      readonly agent: Agent;
      readonly variables: Variables;
      readonly firstMessage: string | undefined;
    }
  | { readonly type: 'reject'; readonly reason: (typeof REJECTIONS)[number] }
  | { readonly type: 'say'; readonly text: string; readonly language: string | undefined }
  /** `to`: E.164. */
  | { readonly type: 'transfer'; readonly to: string };

/** What the function has returned. @throws ConfigError that says what it may return */
export function checkChoice(value: AgentChoice, transferTargets: TransferTargets): CheckedChoice {
  const where = 'The function in agent';
  if (value instanceof Agent) return { type: 'agent', agent: value, variables: {}, firstMessage: undefined };
  const kinds = Object.keys(CHOICES) as (keyof typeof CHOICES)[];
  const isObject = typeof value === 'object' && value !== null;
  const [kind, ...others] = isObject ? kinds.filter((name) => Object.hasOwn(value, name)) : [];
  if (kind === undefined || others.length > 0)
    throw new ConfigError(
      'CONFIG_INVALID',
      `${where} must return an agent, or an object with one of ${kinds.join(', ')}.`,
    );
  checkNames(requireObject(value, where), CHOICES[kind], `The result of the function in agent`);
  if ('agent' in value) {
    const { agent } = value;
    if (!(agent instanceof Agent))
      throw new ConfigError('CONFIG_INVALID', `agent in the result ${AN_AGENT}.`);
    const firstMessage = checkText('firstMessage', value.firstMessage);
    return { type: 'agent', agent, variables: checkVariables(value.variables), firstMessage };
  }
  if ('reject' in value) {
    const reason = REJECTIONS.find((each) => each === value.reject);
    if (reason !== undefined) return { type: 'reject', reason };
    throw new ConfigError('CONFIG_INVALID', `reject must be one of ${REJECTIONS.join(', ')}.`);
  }
  if ('say' in value) {
    const text = checkText('say', value.say);
    if (text === undefined || text.length > MAX_SAID_CHARS)
      throw new ConfigError('CONFIG_INVALID', `say must be a text of at most ${MAX_SAID_CHARS} characters.`);
    return { type: 'say', text, language: checkLanguage(value.language) };
  }
  return { type: 'transfer', to: numberNamed(value.transfer, transferTargets) };
}

/** A number would let whoever writes into a CRM choose whom we call. */
function numberNamed(name: unknown, targets: TransferTargets): string {
  const to = typeof name === 'string' && Object.hasOwn(targets, name) ? targets[name] : undefined;
  if (to !== undefined) return to;
  const names = Object.keys(targets);
  throw new ConfigError(
    'CONFIG_INVALID',
    names.length === 0
      ? 'transfer needs transferTargets in serve(), which has none.'
      : `transfer must be a name in transferTargets of serve(): ${names.join(', ')}.`,
  );
}
