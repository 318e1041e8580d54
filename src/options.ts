// The options of the package: what they mean, their defaults and ranges, and what is refused. Documented here and nowhere else.
import { isIP } from 'node:net';
import { isE164 } from './base/e164.js';
import { ConfigError } from './base/errors.js';
import { hostComplaint } from './base/host-name.js';
import { guardLogger, type Logger } from './base/log.js';
import {
  checkBoolean,
  checkFunction,
  checkMethods,
  checkNames,
  checkNumber,
  checkText,
  requireObject,
} from './base/option-checks.js';
import { fillPlaceholders, type Variables } from './base/placeholders.js';
import type {
  CallCallbacks,
  CallStartPayload,
  MetricsPayload,
  TranscriptPayload,
} from './calls/callbacks.js';
import type { Carrier } from './carriers/carrier.js';
import type { CallRecord } from './contract/call-record.js';
import type { OnMessage } from './engines/responder.js';
import type { LanguageModel } from './providers/language-model.js';
import type { SpeechToText } from './providers/speech-to-text.js';
import type { TextToSpeech } from './providers/text-to-speech.js';

/** Options of `new Offhook(...)`. */
export interface ClientOptions {
  /** The telephony carrier, exactly one: `new CarrierA()`. */
  carrier: Carrier;
  /** The own number, in the form `+15550100` (E.164). */
  phoneNumber: string;
  /** Public host name that leads to this server over TLS, with a port if it is not 443; no scheme, no path. Without it the `Host` header of a webhook counts, and the carrier is not told where we are. */
  webhookUrl?: string | undefined;
}

/** Options of `phone.agent(...)`. */
export interface AgentOptions {
  /** Who the agent is and what it shall do. @default '' */
  systemPrompt?: string | undefined;
  /** What the agent says when the call connects. @default nothing: the caller speaks first */
  firstMessage?: string | undefined;
  /** Speech-to-text. @default the simulated one of the local stack, with a warning */
  stt?: SpeechToText | undefined;
  /** Language model; `onMessage` of `serve` replaces it. @default the scripted one of the local stack, with a warning */
  llm?: LanguageModel | undefined;
  /** Text-to-speech. @default the embedded voice of the local stack, with a warning */
  tts?: TextToSpeech | undefined;
  /** Language of the call, a BCP 47 tag like `en` or `de-CH`. @default the provider's own */
  language?: string | undefined;
  /** Values of `{name}` placeholders in `systemPrompt` and `firstMessage`. Control characters are dropped, a value is cut at 500 characters. @default {} */
  variables?: Variables | undefined;
  /** True when the caller can interrupt the agent. @default true */
  interruptible?: boolean | undefined;
}

/** Options of `phone.serve(...)`. */
export interface ServeOptions {
  /** The agent that answers: what `phone.agent(...)` returned. */
  agent: Agent;
  /** Port to listen on, 1-65535. @default 8000 */
  port?: number | undefined;
  /** Address to listen on. @default '0.0.0.0' */
  host?: string | undefined;
  /** Start a tunnel. Not available in this version, and never together with `webhookUrl`. @default false */
  tunnel?: boolean | undefined;
  /** Called when a call connects. */
  onCallStart?: ((data: CallStartPayload) => unknown) | undefined;
  /** Called with the whole record when a call is over and stored, calls that never connected included. */
  onCallEnd?: ((data: CallRecord) => unknown) | undefined;
  /** Called for each final piece of the transcript. */
  onTranscript?: ((data: TranscriptPayload) => unknown) | undefined;
  /** Replaces the language model: gets what the caller said, returns or streams the answer. */
  onMessage?: OnMessage | undefined;
  /** Called after each turn, with its latency and cost. */
  onMetrics?: ((data: MetricsPayload) => unknown) | undefined;
  /** Serve the page. Its API is there in any case. @default true */
  dashboard?: boolean | undefined;
  /** Bearer token that protects page and API. @default open, with a warning */
  dashboardToken?: string | undefined;
  /** Point the number's voice URL at this server when it starts; needs `webhookUrl` and the carrier's credentials. @default true */
  manageWebhook?: boolean | undefined;
  /** Open streams that one address may have, 1 or more. Behind a proxy all callers share one address unless `trustProxy` is set. @default 10 */
  maxStreamsPerIp?: number | undefined;
  /** Calls at a time, 1 or more; the next one gets the busy answer. @default no limit */
  maxCalls?: number | undefined;
  /** Proxies whose `X-Forwarded-For` is believed: the values of Express's `trust proxy`. @default false */
  trustProxy?: boolean | number | string | string[] | undefined;
  /** Longest call, in minutes, 0.05-1440. @default 60 */
  maxCallMinutes?: number | undefined;
  /** How long `disconnect` waits for connections to close, in seconds, 0-600. @default 10 */
  drainSeconds?: number | undefined;
  /** Where log lines go: any pino-compatible logger. @default pino on standard error, level info */
  logger?: Logger | undefined;
  /** Refuse to start without the carrier's webhook secret. One that is there is always verified. @default false */
  requireSignature?: boolean | undefined;
}

const CLIENT_OPTIONS = ['carrier', 'phoneNumber', 'webhookUrl'];
const AGENT_OPTIONS = [
  'systemPrompt',
  'firstMessage',
  'stt',
  'llm',
  'tts',
  'language',
  'variables',
  'interruptible',
];
const LATER_AGENT_OPTIONS = [
  'engine',
  'tools',
  'transferTargets',
  'guardrails',
  'turnTaking',
  'idle',
  'fallback',
];
const SERVE_OPTIONS = [
  'agent',
  'port',
  'host',
  'tunnel',
  'onCallStart',
  'onCallEnd',
  'onTranscript',
  'onMessage',
  'onMetrics',
  'dashboard',
  'dashboardToken',
  'manageWebhook',
  'maxStreamsPerIp',
  'maxCalls',
  'trustProxy',
  'maxCallMinutes',
  'drainSeconds',
  'logger',
  'requireSignature',
];
const LATER_SERVE_OPTIONS = [
  'recording',
  'voicemailMessage',
  'pricing',
  'dataDir',
  'dashboardUrl',
  'dashboardIngestToken',
  'budget',
];

/** Options of a client that can work. */
export type CheckedClientOptions = Readonly<ClientOptions>;

/** An agent's options with defaults and variables filled in. Stages that are undefined come from the local stack. */
export interface CheckedAgentOptions {
  readonly systemPrompt: string;
  readonly firstMessage: string | undefined;
  readonly stt: SpeechToText | undefined;
  readonly llm: LanguageModel | undefined;
  readonly tts: TextToSpeech | undefined;
  readonly language: string | undefined;
  readonly interruptible: boolean;
}

/** An agent: an immutable recipe, usable for any number of calls. Made by `phone.agent(...)`. */
export class Agent {
  readonly options: CheckedAgentOptions;

  /** @throws ConfigError */
  constructor(options: AgentOptions) {
    this.options = Object.freeze(checkAgentOptions(options));
    Object.freeze(this);
  }
}

/** Options of `serve` with defaults filled in. */
export interface CheckedServeOptions {
  readonly agent: Agent;
  readonly port: number;
  readonly host: string;
  readonly onMessage: OnMessage | undefined;
  readonly callbacks: CallCallbacks;
  readonly dashboard: boolean;
  readonly dashboardToken: string | undefined;
  readonly manageWebhook: boolean;
  readonly maxStreamsPerIp: number;
  readonly maxCalls: number | undefined;
  readonly trustProxy: boolean | number | string | string[];
  readonly maxCallMs: number;
  readonly drainMs: number;
  readonly logger: Logger | undefined;
  readonly requireSignature: boolean;
}

/** @throws ConfigError */
export function checkClientOptions(options: ClientOptions): CheckedClientOptions {
  const where = 'new Offhook()';
  requireObject(options, where);
  checkNames(options, { known: CLIENT_OPTIONS, later: [] }, where);
  const { carrier, phoneNumber, webhookUrl } = options;
  if (carrier === undefined) {
    throw new ConfigError('CONFIG_MISSING', 'carrier is not set: give one, as in carrier: new CarrierA().');
  }
  checkMethods('carrier', carrier, {
    methods: ['verify', 'openMedia', 'prepare'],
    example: 'exactly one carrier object, as in carrier: new CarrierA()',
  });
  if (phoneNumber === undefined) {
    throw new ConfigError('CONFIG_MISSING', 'phoneNumber is not set: give your number, like +15550100.');
  }
  if (typeof phoneNumber !== 'string' || !isE164(phoneNumber)) {
    throw new ConfigError(
      'CONFIG_INVALID',
      'phoneNumber must be in the form +15550100 (E.164): a plus and 2 to 15 digits, without blanks.',
    );
  }
  if (webhookUrl === undefined) return { carrier, phoneNumber };
  const complaint = typeof webhookUrl === 'string' ? hostComplaint(webhookUrl) : 'is a text';
  if (complaint !== undefined) {
    throw new ConfigError(
      'CONFIG_INVALID',
      `webhookUrl ${complaint}. It is the public host alone, like voice.example.com or voice.example.com:8443.`,
    );
  }
  return { carrier, phoneNumber, webhookUrl };
}

function checkAgentOptions(options: AgentOptions): CheckedAgentOptions {
  const where = 'agent()';
  requireObject(options, where);
  checkNames(options, { known: AGENT_OPTIONS, later: LATER_AGENT_OPTIONS }, where);
  const { systemPrompt = '', stt, llm, tts } = options;
  if (typeof systemPrompt !== 'string') {
    throw new ConfigError('CONFIG_INVALID', 'systemPrompt must be a text.');
  }
  const firstMessage = checkText('firstMessage', options.firstMessage);
  const speech = { methods: ['open'], example: 'a provider object with a name and an open() method' };
  if (stt !== undefined) checkMethods('stt', stt, speech);
  if (tts !== undefined) checkMethods('tts', tts, speech);
  const model = { methods: ['respond'], example: 'a provider object with a name and a respond() method' };
  if (llm !== undefined) checkMethods('llm', llm, model);
  const variables = checkVariables(options.variables);
  return {
    systemPrompt: fillPlaceholders(systemPrompt, variables),
    firstMessage: firstMessage === undefined ? undefined : fillPlaceholders(firstMessage, variables),
    stt,
    llm,
    tts,
    language: checkLanguage(options.language),
    interruptible: checkBoolean('interruptible', options.interruptible, true),
  };
}

function checkLanguage(language: unknown): string | undefined {
  const tag = checkText('language', language);
  try {
    return tag === undefined ? undefined : Intl.getCanonicalLocales(tag)[0];
  } catch {
    throw new ConfigError('CONFIG_INVALID', 'language must be a language tag like en or de-CH (BCP 47).');
  }
}

function checkVariables(variables: unknown): Variables {
  if (variables === undefined) return {};
  const isPlain = typeof variables === 'object' && variables !== null && !Array.isArray(variables);
  const values = isPlain ? Object.entries(variables) : undefined;
  const isUsable = (value: unknown) => typeof value === 'string' || typeof value === 'number';
  if (values?.every(([name, value]) => /^[\w-]+$/.test(name) && isUsable(value)) === true) {
    return Object.fromEntries(values);
  }
  throw new ConfigError(
    'CONFIG_INVALID',
    'variables must be an object of texts or numbers, its names made of letters, digits, _ and -.',
  );
}

/** @throws ConfigError */
export function checkServeOptions(options: ServeOptions, client: CheckedClientOptions): CheckedServeOptions {
  const where = 'serve()';
  requireObject(options, where);
  checkNames(options, { known: SERVE_OPTIONS, later: LATER_SERVE_OPTIONS }, where);
  const { agent, logger, onMessage, onCallStart, onCallEnd, onTranscript, onMetrics } = options;
  if (!(agent instanceof Agent)) {
    const code = agent === undefined ? 'CONFIG_MISSING' : 'CONFIG_INVALID';
    throw new ConfigError(code, 'agent must be what phone.agent({ … }) returned.');
  }
  refuseTunnel(checkBoolean('tunnel', options.tunnel, false), client.webhookUrl);
  if (typeof onMessage === 'string') {
    throw new ConfigError(
      'CONFIG_INVALID',
      'onMessage as a URL is not available in this version: give a function.',
    );
  }
  const callbacks = { onCallStart, onCallEnd, onTranscript, onMetrics };
  for (const [name, value] of Object.entries({ ...callbacks, onMessage })) checkFunction(name, value);
  if (logger !== undefined) {
    const methods = ['debug', 'info', 'warn', 'error'];
    checkMethods('logger', logger, {
      methods,
      example: 'a pino-compatible logger with debug, info, warn, error',
    });
  }
  const requireSignature = checkBoolean('requireSignature', options.requireSignature, false);
  if (requireSignature && !client.carrier.verifies) {
    const { secretSetting } = client.carrier;
    throw new ConfigError(
      'CONFIG_MISSING',
      `requireSignature needs the webhook secret: set ${secretSetting}.`,
    );
  }
  const minutes = { min: 0.05, max: 1440, fallback: 60 };
  const many = { min: 1, max: Number.MAX_SAFE_INTEGER, whole: true };
  return {
    agent,
    port: checkNumber('port', options.port, { min: 1, max: 65_535, whole: true, fallback: 8000 }),
    host: checkHost(options.host),
    onMessage,
    callbacks,
    dashboard: checkBoolean('dashboard', options.dashboard, true),
    dashboardToken: checkText('dashboardToken', options.dashboardToken),
    manageWebhook: checkBoolean('manageWebhook', options.manageWebhook, true),
    maxStreamsPerIp: checkNumber('maxStreamsPerIp', options.maxStreamsPerIp, { ...many, fallback: 10 }),
    maxCalls: checkNumber('maxCalls', options.maxCalls, { ...many, fallback: undefined }),
    trustProxy: checkTrustProxy(options.trustProxy),
    maxCallMs: checkNumber('maxCallMinutes', options.maxCallMinutes, minutes) * 60_000,
    drainMs: checkNumber('drainSeconds', options.drainSeconds, { min: 0, max: 600, fallback: 10 }) * 1000,
    logger: logger === undefined ? undefined : guardLogger(logger),
    requireSignature,
  };
}

function refuseTunnel(tunnel: boolean, webhookUrl: string | undefined): void {
  if (!tunnel) return;
  if (webhookUrl !== undefined) {
    throw new ConfigError(
      'CONFIG_CONFLICT',
      'tunnel and webhookUrl exclude each other: leave one of them out.',
    );
  }
  throw new ConfigError(
    'CONFIG_INVALID',
    'tunnel is not available in this version: run a tunnel yourself and set webhookUrl to its host.',
  );
}

function checkHost(value: unknown): string {
  const host = checkText('host', value) ?? '0.0.0.0';
  if (isIP(host) !== 0 || (hostComplaint(host) === undefined && !host.includes(':'))) return host;
  throw new ConfigError('CONFIG_INVALID', 'host must be an address to listen on, like 127.0.0.1 or 0.0.0.0.');
}

function checkTrustProxy(value: unknown): boolean | number | string | string[] {
  if (value === undefined) return false;
  if (typeof value === 'boolean') return value;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0) return value;
  const listed = typeof value === 'string' ? value.split(',') : value;
  const ranges: unknown[] = Array.isArray(listed) ? listed : [];
  const texts = ranges.filter((range) => typeof range === 'string').map((range) => range.trim());
  if (ranges.length > 0 && texts.length === ranges.length && texts.every(isProxyRange)) return texts;
  throw new ConfigError(
    'CONFIG_INVALID',
    'trustProxy must be true, false, a number of proxies, or addresses and networks like loopback or 10.0.0.0/8.',
  );
}

function isProxyRange(range: string): boolean {
  if (['loopback', 'linklocal', 'uniquelocal'].includes(range)) return true;
  const [address = '', bits, ...rest] = range.split('/');
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128));
}
