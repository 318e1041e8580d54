// The options of `phone.call(...)`: what they mean, their defaults and ranges, and what is refused. Documented here and nowhere else.
import { isE164 } from '../base/e164.js';
import { ConfigError } from '../base/errors.js';
import { checkBoolean, checkNames, checkNumber, checkText, requireObject } from '../base/option-checks.js';
import { maskPhone } from '../base/redact.js';
import type { Variables } from '../contract/call-context.js';
import { Agent, checkVariables } from './agent.js';
import type { CheckedClientOptions } from './client.js';

/** Options of `phone.call(...)`. */
export interface CallOptions {
  /** The number to call, as `+15550111` (E.164). */
  to: string;
  /** The number to call from: one of this client's. @default `phoneNumber`, or the first one of `phoneNumbers` */
  from?: string | undefined;
  /** The agent that talks: the result of `phone.agent(...)`. @default the agent of `serve`, whatever number the call is from */
  agent?: Agent | undefined;
  /** Values of `{name}` placeholders for this call, which its tools, `onMessage`, guardrails and voices get as well; they override the agent's. Control characters are removed; values are cut at 500 characters. @default {} */
  variables?: Variables | undefined;
  /** What the agent says when the call is answered; may contain `{name}` placeholders. @default the agent's `firstMessage` */
  firstMessage?: string | undefined;
  /** Detect answering machines; the carrier may charge for it. The agent talks meanwhile and falls silent for a machine. A fax is hung up on, with the outcome `failed`. @default true if there is a voicemail message here or in `serve`, else false */
  machineDetection?: boolean | undefined;
  /** Message to leave on an answering machine; may contain `{name}` placeholders. @default that of `serve` */
  voicemailMessage?: string | undefined;
  /** How long to let it ring, in seconds, 5-600. @default 25 */
  ringTimeoutSeconds?: number | undefined;
}

const CALL_OPTIONS = [
  'to',
  'from',
  'agent',
  'variables',
  'firstMessage',
  'machineDetection',
  'voicemailMessage',
  'ringTimeoutSeconds',
];

/** What a call takes from `serve` and the client. */
export interface CallDefaults {
  readonly agent: Agent;
  readonly numbers: CheckedClientOptions['numbers'];
  /** Who stands for an agent now. */
  current(agent: Agent): Agent;
  readonly voicemailMessage: string | undefined;
}

/** Options of a call with defaults filled in. */
export interface CheckedCallOptions {
  readonly to: string;
  readonly from: string;
  readonly agent: Agent;
  readonly variables: Variables;
  readonly firstMessage: string | undefined;
  readonly machineDetection: boolean;
  /** Its placeholders are filled. Undefined where no machine is listened for. */
  readonly voicemailMessage: string | undefined;
  readonly ringTimeoutSeconds: number;
}

/** @throws ConfigError */
export function checkCallOptions(options: CallOptions, defaults: CallDefaults): CheckedCallOptions {
  const where = 'call()';
  requireObject(options, where, "{ to: '+15550111' }");
  checkNames(options, CALL_OPTIONS, where);
  const { to, agent: given = defaults.agent } = options;
  if (to === undefined) {
    throw new ConfigError('CONFIG_MISSING', 'to is missing: set the number to call, like +15550111.');
  }
  if (typeof to !== 'string' || !isE164(to)) {
    throw new ConfigError(
      'CONFIG_INVALID',
      'to must be in the form +15550111 (E.164): a plus and 2 to 15 digits, no spaces.',
    );
  }
  const from = checkFrom(options.from, defaults.numbers);
  if (!(given instanceof Agent)) {
    throw new ConfigError(
      'CONFIG_INVALID',
      `agent must be the result of phone.agent({ … })${typeof given === 'string' ? ', not its name' : ''}.`,
    );
  }
  const agent = defaults.current(given);
  const variables = checkVariables(options.variables);
  const message = checkText('voicemailMessage', options.voicemailMessage) ?? defaults.voicemailMessage;
  const machineDetection = checkBoolean('machineDetection', options.machineDetection, message !== undefined);
  const isWanted = machineDetection && message !== undefined;
  return {
    to,
    from,
    agent,
    variables,
    firstMessage: checkText('firstMessage', options.firstMessage),
    machineDetection,
    voicemailMessage: isWanted ? agent.fill(message, { variables }) : undefined,
    ringTimeoutSeconds: checkNumber('ringTimeoutSeconds', options.ringTimeoutSeconds, {
      min: 5,
      max: 600,
      whole: true,
      fallback: 25,
    }),
  };
}

function checkFrom(from: unknown, numbers: CallDefaults['numbers']): string {
  const own = from === undefined ? numbers[0] : numbers.find(({ number }) => number === from);
  if (own !== undefined) return own.number;
  const allowed = numbers.map(({ number }) => maskPhone(number)).join(', ');
  // Errors are logged, and logs show four digits of a number.
  const given =
    typeof from !== 'string' || !isE164(from)
      ? ' It takes a number as +15550100 (E.164): a plus and 2 to 15 digits, no spaces.'
      : ` ${maskPhone(from)} (${from.length - 1} digits) is not among phoneNumber or phoneNumbers.`;
  throw new ConfigError('CONFIG_INVALID', `from must be a number of this client: ${allowed}.${given}`);
}
