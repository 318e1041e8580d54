// The options of `phone.serve(...)`: what they mean, their defaults and ranges, and what is refused. Documented here and nowhere else.
import { isIP } from 'node:net';
import { ConfigError } from '../base/errors.js';
import { hostComplaint } from '../base/host-name.js';
import { guardLogger, type Logger } from '../base/log.js';
import {
  checkBoolean,
  checkFunction,
  checkMethods,
  checkNames,
  checkNumber,
  checkText,
  requireObject,
} from '../base/option-checks.js';
import type { BudgetLimits } from '../calls/money/budget.js';
import type {
  CallCallbacks,
  CallStartPayload,
  MetricsPayload,
  TranscriptPayload,
} from '../calls/facts/callbacks.js';
import type { PriceOverrides } from '../calls/money/pricing.js';
import type { CallRecord } from '../contract/call-record.js';
import type { MessageTarget } from '../engines/responder/message-route.js';
import type { OnMessage } from '../engines/responder/responder.js';
import type { CallStore } from '../stores/call-store.js';
import { Agent } from './agent.js';
import { type BudgetOptions, checkBudget } from './budget.js';
import { checkCarrierNeeds } from './carrier-needs.js';
import type { CheckedClientOptions } from './client.js';
import { checkDashboardFeed, type DashboardFeed } from './dashboard-feed.js';
import { checkPricing, stageNames } from './pricing.js';
import { checkStorage } from './storage.js';
import { checkToken } from './token.js';

/** Options of `phone.serve(...)`. */
export interface ServeOptions {
  /** The agent that answers: what `phone.agent(...)` returned. */
  agent: Agent;
  /** Port to listen on, 1-65535. @default 8000 */
  port?: number | undefined;
  /** Address to listen on. @default '0.0.0.0' */
  host?: string | undefined;
  /** Get a public host from `cloudflared`, which must be on PATH or installed as the package of that name. `webhookUrl` and `trustProxy` follow from it, and the voice URL to enter at the carrier is logged. Never together with `webhookUrl`. @default false */
  tunnel?: boolean | undefined;
  /** Called when a call connects. */
  onCallStart?: ((data: CallStartPayload) => unknown) | undefined;
  /** Called with the whole record when a call is over and stored, calls that never connected included. */
  onCallEnd?: ((data: CallRecord) => unknown) | undefined;
  /** Called for each final piece of the transcript. */
  onTranscript?: ((data: TranscriptPayload) => unknown) | undefined;
  /** Replaces the language model: a function that gets what the caller said and returns or streams the answer, or the URL (http, https, ws, wss) of a server of yours that does. 30 s of silence is a failure, of functions too, and `fallback.llm` is not asked then. */
  onMessage?: OnMessage | string | undefined;
  /** Called after each turn, with its latency and cost. */
  onMetrics?: ((data: MetricsPayload) => unknown) | undefined;
  /** Prices in US dollars that stand before the shipped ones, number by number: by vendor and model, `{ openai: { 'gpt-6-luna': { outputPerMillionTokens: 0.4 } } }`, or by carrier and `inbound`, `outbound`, `stream`: `{ 'carrier-a': { inbound: { perMinute: 0.01 } } }`. See *Prices* below. @default the shipped ones */
  pricing?: PriceOverrides | undefined;
  /** How much calls may cost: `{ perCall, perHour, perDay }` in US dollars, see the table below. @default no limit */
  budget?: BudgetOptions | undefined;
  /** Record every call at the carrier; needs its credentials, and `webhookUrl` or `tunnel`. Only for a carrier that can. The carrier tells the address some time after a call, so after `onCallEnd`: it stands in `recording.url` of the record as the API shows it. @default false */
  recording?: boolean | undefined;
  /** What is left on an answering machine that takes an outbound call, with `{name}` placeholders. Calls then listen for machines unless they say otherwise. @default none: the machine is hung up on */
  voicemailMessage?: string | undefined;
  /** Serve the page. Its API is there in any case. @default true */
  dashboard?: boolean | undefined;
  /** Bearer token that protects page and API: 16 or more characters of printable ASCII, without blanks. @default open, with a warning */
  dashboardToken?: string | undefined;
  /** Send the calls to a standalone dashboard elsewhere as well: its address, https unless it is on this machine. `false`: to none. Falls back to `OFFHOOK_DASHBOARD_URL`. @default the `offhook dashboard` of the same user on this machine, if one runs */
  dashboardUrl?: string | false | undefined;
  /** The token of the dashboard at `dashboardUrl`. Falls back to `OFFHOOK_DASHBOARD_TOKEN`. */
  dashboardIngestToken?: string | undefined;
  /** Point the number's voice URL at this server when it starts; needs `webhookUrl` and the carrier's credentials. Ignored with `tunnel`. @default true */
  manageWebhook?: boolean | undefined;
  /** Open streams that one address (IPv6: one /64) may have, 1 or more. Behind a proxy all callers share one address unless `trustProxy` is set. @default 10 */
  maxStreamsPerIp?: number | undefined;
  /** Calls at a time, 1 or more, outbound ones counted. While there is no room, a call that rings gets the busy answer, `call()` throws `LimitError`, and `GET /ready` answers 503. The same happens, whatever `maxCalls` is, while the process does not keep up with its calls and while the `budget` of the hour or day is used up. @default no limit */
  maxCalls?: number | undefined;
  /** Proxies whose `X-Forwarded-For` is believed: the values of Express's `trust proxy`. @default false, and the tunnel with `tunnel` */
  trustProxy?: boolean | number | string | string[] | undefined;
  /** Longest call, in minutes, 0.05-1440. @default 60 */
  maxCallMinutes?: number | undefined;
  /** How long `disconnect` waits for connections to close, in seconds, 0-600. The carrier always has a second to hang up first. @default 10 */
  drainSeconds?: number | undefined;
  /** Where log lines go: any pino-compatible logger. @default pino on standard error, level info */
  logger?: Logger | undefined;
  /** Folder where calls are kept, made with mode 0700 if it is not there. Records outlive the process there; calls that were up when it died are over with `endReason` `process-lost` when it starts again. A folder that cannot be used is a warning, and calls are kept in memory only. `false`: in memory only. @default '.offhook' in the working directory */
  dataDir?: string | false | undefined;
  /** Where calls are kept instead of in `dataDir`: a `CallStore` of your own, such as one on a database. Excludes `dataDir`, and stays yours to close. One server at a time may use it: calls that it holds as active when `serve` starts are over with `endReason` `process-lost`. A store that throws or hangs disturbs no call: that is logged, what happened waits in memory, and the API answers `STORE_FAILED`. @default what `dataDir` says */
  store?: CallStore | undefined;
  /** Refuse to start without the carrier's webhook secret. One that is there is always verified. @default false */
  requireSignature?: boolean | undefined;
}

/** Options of `phone.attach(...)`: those of `serve` but for where it listens. */
export type AttachOptions = Omit<ServeOptions, 'port' | 'host' | 'tunnel'>;

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
  'pricing',
  'budget',
  'recording',
  'voicemailMessage',
  'dashboard',
  'dashboardToken',
  'dashboardUrl',
  'dashboardIngestToken',
  'manageWebhook',
  'maxStreamsPerIp',
  'maxCalls',
  'trustProxy',
  'maxCallMinutes',
  'drainSeconds',
  'logger',
  'dataDir',
  'store',
  'requireSignature',
];

/** Options of `serve` with defaults filled in. */
export interface CheckedServeOptions {
  readonly agent: Agent;
  readonly port: number;
  readonly host: string;
  readonly tunnel: boolean;
  readonly pricing: PriceOverrides | undefined;
  readonly budget: BudgetLimits | undefined;
  readonly recording: boolean;
  readonly voicemailMessage: string | undefined;
  readonly onMessage: MessageTarget | undefined;
  readonly callbacks: CallCallbacks;
  readonly dashboard: boolean;
  readonly dashboardToken: string | undefined;
  readonly dashboardFeed: DashboardFeed;
  readonly manageWebhook: boolean;
  readonly maxStreamsPerIp: number;
  readonly maxCalls: number | undefined;
  readonly trustProxy: boolean | number | string | string[];
  readonly maxCallMs: number;
  readonly drainMs: number;
  readonly logger: Logger | undefined;
  readonly dataDir: string | false;
  /** In place of `dataDir`. */
  readonly store: CallStore | undefined;
  readonly requireSignature: boolean;
}

const PLACE_OPTIONS = ['port', 'host', 'tunnel'];

/** @throws ConfigError */
export function checkAttachOptions(
  options: AttachOptions,
  client: CheckedClientOptions,
): CheckedServeOptions {
  const where = 'attach()';
  requireObject(options, where);
  const known = SERVE_OPTIONS.filter((name) => !PLACE_OPTIONS.includes(name));
  checkNames(options, known, where);
  return checkServeOptions({ ...options, host: '127.0.0.1' }, client);
}

/** @throws ConfigError */
export function checkServeOptions(options: ServeOptions, client: CheckedClientOptions): CheckedServeOptions {
  const where = 'serve()';
  requireObject(options, where);
  checkNames(options, SERVE_OPTIONS, where);
  const { agent, logger, onCallStart, onCallEnd, onTranscript, onMetrics } = options;
  if (!(agent instanceof Agent)) {
    const code = agent === undefined ? 'CONFIG_MISSING' : 'CONFIG_INVALID';
    throw new ConfigError(code, 'agent must be what phone.agent({ … }) returned.');
  }
  const tunnel = checkBoolean('tunnel', options.tunnel, false);
  if (tunnel && client.webhookUrl !== undefined) {
    throw new ConfigError(
      'CONFIG_CONFLICT',
      'tunnel and webhookUrl exclude each other: leave one of them out.',
    );
  }
  const recording = checkBoolean('recording', options.recording, false);
  checkCarrierNeeds(client, { recording, tunnel });
  const callbacks = { onCallStart, onCallEnd, onTranscript, onMetrics };
  for (const [name, value] of Object.entries(callbacks)) checkFunction(name, value);
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
  const host = checkHost(options.host);
  return {
    agent,
    tunnel,
    pricing: checkPricing(options.pricing, {
      providers: stageNames(agent.options),
      carrier: client.carrier.id,
    }),
    budget: checkBudget(options.budget),
    recording,
    voicemailMessage: checkText('voicemailMessage', options.voicemailMessage),
    port: checkNumber('port', options.port, { min: 1, max: 65_535, whole: true, fallback: 8000 }),
    host,
    onMessage: checkOnMessage(options.onMessage),
    callbacks,
    dashboard: checkBoolean('dashboard', options.dashboard, true),
    dashboardToken: checkToken('dashboardToken', options.dashboardToken),
    dashboardFeed: checkDashboardFeed(options),
    manageWebhook: checkBoolean('manageWebhook', options.manageWebhook, true),
    maxStreamsPerIp: checkNumber('maxStreamsPerIp', options.maxStreamsPerIp, { ...many, fallback: 10 }),
    maxCalls: checkNumber('maxCalls', options.maxCalls, { ...many, fallback: undefined }),
    trustProxy: checkTrustProxy(options.trustProxy) ?? (tunnel ? tunnelProxies(host) : false),
    maxCallMs: checkNumber('maxCallMinutes', options.maxCallMinutes, minutes) * 60_000,
    drainMs: checkNumber('drainSeconds', options.drainSeconds, { min: 0, max: 600, fallback: 10 }) * 1000,
    logger: logger === undefined ? undefined : guardLogger(logger),
    ...checkStorage(options),
    requireSignature,
  };
}

function checkOnMessage(value: unknown): MessageTarget | undefined {
  if (value === undefined || typeof value === 'function') return value as OnMessage | undefined;
  const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : undefined;
  if (url !== undefined && /^(https?|wss?):$/.test(url.protocol)) return url;
  throw new ConfigError(
    'CONFIG_INVALID',
    'onMessage must be a function, or a URL that begins with http://, https://, ws:// or wss://.',
  );
}

function checkHost(value: unknown): string {
  const host = checkText('host', value) ?? '0.0.0.0';
  if (isIP(host) !== 0 || (hostComplaint(host) === undefined && !host.includes(':'))) return host;
  throw new ConfigError('CONFIG_INVALID', 'host must be an address to listen on, like 127.0.0.1 or 0.0.0.0.');
}

function checkTrustProxy(value: unknown): boolean | number | string | string[] | undefined {
  if (value === undefined) return undefined;
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

/** A tunnel's program stands on this machine, and comes from the address that it goes to. */
function tunnelProxies(host: string): string[] {
  return isIP(host) === 0 || ['0.0.0.0', '::'].includes(host) ? ['loopback'] : ['loopback', host];
}

function isProxyRange(range: string): boolean {
  if (['loopback', 'linklocal', 'uniquelocal'].includes(range)) return true;
  const [address = '', bits, ...rest] = range.split('/');
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128));
}
