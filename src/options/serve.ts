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
  CallEndPayload,
  CallStartPayload,
  MetricsPayload,
  TranscriptPayload,
} from '../calls/facts/callbacks.js';
import type { PrivacyPolicy } from '../calls/privacy/private-facts.js';
import type { PriceOverrides } from '../calls/money/pricing.js';
import type { MessageTarget } from '../engines/responder/message-route.js';
import type { OnMessage } from '../engines/responder/responder.js';
import type { CallStore } from '../stores/call-store.js';
import type { TransferTargets } from '../engines/tools/built-in-tools.js';
import type { Agent } from './agent.js';
import { checkAgents, type CheckedAgents, type ChooseAgent } from './agent-choice.js';
import { type BudgetOptions, checkBudget } from './budget.js';
import { checkCarrierNeeds } from './carrier-needs.js';
import type { ServedClient } from './client.js';
import { type CheckedCluster, checkCluster, type ClusterOptions } from './cluster.js';
import { checkDashboardFeed, type DashboardFeed } from './dashboard-feed.js';
import { checkListenIn } from './listen-in.js';
import {
  type CheckedLocalRecording,
  checkLocalRecording,
  type LocalRecordingOptions,
} from './local-recording.js';
import { checkPricing, stageNames } from './pricing.js';
import { type CheckedResumeOptions, checkResume, type ResumeOptions } from './resume.js';
import { checkPrivacy, type PrivacyOptions } from './privacy.js';
import { checkDurability, checkStorage } from './storage.js';
import { checkToken } from './token.js';

/** Options of `phone.serve(...)`. */
export interface ServeOptions {
  /** The agent that answers: the result of `phone.agent(...)`. Or a function that chooses one for each inbound call while it rings: `(call, { signal })` returns an agent, `{ agent, variables, firstMessage }`, `{ reject: 'busy' | 'declined' }`, `{ say, language }` or `{ transfer }`. Numbers in `phoneNumbers` may have an agent of their own, and `server.setAgent` changes agents while the server runs. */
  agent: Agent | ChooseAgent;
  /** Answers when the function in `agent` throws, returns something else, or takes too long. Also talks in outbound calls that name no agent, and in calls of an earlier process whose agent is not found. Required with a function; excluded without one. */
  fallbackAgent?: Agent | undefined;
  /** How long the function in `agent` may take, in milliseconds, 100-10000. The caller hears ringing meanwhile. Only with a function. @default 2500 */
  answerWithinMs?: number | undefined;
  /** Numbers (E.164) that the function in `agent` can transfer to, by name. Only with a function. @default {}: no transfers */
  transferTargets?: TransferTargets | undefined;
  /** Port to listen on, 1-65535. @default 8000 */
  port?: number | undefined;
  /** Address to listen on. @default '0.0.0.0' */
  host?: string | undefined;
  /** Get a public host from `cloudflared`, which must be on PATH or installed as the npm package of that name. Sets `webhookUrl` and `trustProxy`, and logs the voice URL to enter at the carrier. Cannot be combined with `webhookUrl`. @default false */
  tunnel?: boolean | undefined;
  /** Called when a call connects. */
  onCallStart?: ((data: CallStartPayload) => unknown) | undefined;
  /** Called with the full record after a call has ended and is stored. Includes calls that never connected. Called again with `redelivered: true` by the next process on the same `dataDir` if this one died before it returned. */
  onCallEnd?: ((data: CallEndPayload) => unknown) | undefined;
  /** Called for each final segment of the transcript. */
  onTranscript?: ((data: TranscriptPayload) => unknown) | undefined;
  /** Replaces the language model. Either a function that receives what the caller said and returns or streams the answer, or the URL (http, https, ws, wss) of your server that does. 30 s without output is a failure; `fallback.llm` does not apply. */
  onMessage?: OnMessage | string | undefined;
  /** Called after each turn with its latency and cost. */
  onMetrics?: ((data: MetricsPayload) => unknown) | undefined;
  /** Prices in US dollars that override the built-in ones, value by value. By vendor and model: `{ openai: { 'gpt-6-luna': { outputPerMillionTokens: 0.4 } } }`. By carrier and `inbound`, `outbound` or `stream`: `{ 'carrier-a': { inbound: { perMinute: 0.01 } } }`. @default the built-in prices */
  pricing?: PriceOverrides | undefined;
  /** Spending limits in US dollars: `{ perCall, perHour, perDay }`. @default no limit */
  budget?: BudgetOptions | undefined;
  /** Record every call at the carrier. Needs a carrier that can record, its credentials, and `webhookUrl` or `tunnel`. The carrier reports the recording's address some time after the call, so after `onCallEnd`; read it from `recording.url` of the record in the API. @default false */
  recording?: boolean | undefined;
  /** Record every call on this machine: stereo, the caller left, the agent right as the caller heard it. Kept in `dataDir`, played by the API. `true`, or options such as `{ keepDays: 30 }`. Needs `dashboardToken`, unless the server listens on loopback only and has neither `webhookUrl` nor `tunnel`. Excludes `dataDir: false` and `store`. @default false */
  localRecording?: boolean | LocalRecordingOptions | undefined;
  /** Let the dashboard and its API listen in to live calls. Nobody on the line notices; the log says each time. Needs `dashboardToken`, unless the server listens on loopback only and has neither `webhookUrl` nor `tunnel`. @default false */
  listenIn?: boolean | undefined;
  /** What of a call is kept, shown and reported: `{ transcript: 'redacted' }` takes out private numbers and e-mail addresses, `{ transcript: 'none', keys: 'none' }` all words and keys. @default everything */
  privacy?: PrivacyOptions | undefined;
  /** Message to leave when an answering machine takes an outbound call; may contain `{name}` placeholders. Turns on machine detection for calls that do not set it themselves. @default none: hang up on machines */
  voicemailMessage?: string | undefined;
  /** Serve the dashboard page. Its API is always served. @default true */
  dashboard?: boolean | undefined;
  /** Bearer token that protects page and API: at least 16 printable ASCII characters, no spaces. @default open, with a warning */
  dashboardToken?: string | undefined;
  /** Address of a standalone dashboard that also receives the calls; https unless it runs on this machine. `false` sends calls to none. Falls back to `OFFHOOK_DASHBOARD_URL`. @default the same user's `offhook dashboard` on this machine, if one runs */
  dashboardUrl?: string | false | undefined;
  /** Token of the dashboard at `dashboardUrl`. Falls back to `OFFHOOK_DASHBOARD_TOKEN`. */
  dashboardIngestToken?: string | undefined;
  /** Point the voice URL of the number, or of each of `phoneNumbers`, at this server at start. Needs `webhookUrl` and the carrier's credentials. Ignored with `tunnel`. @default true */
  manageWebhook?: boolean | undefined;
  /** Open media streams allowed per address (IPv6: per /64), 1 or more. Behind a proxy, set `trustProxy`, or all callers count as one address. In a `cluster`, on all servers together. @default 10 */
  maxStreamsPerIp?: number | undefined;
  /** Concurrent calls allowed, 1 or more, inbound and outbound. At the limit, inbound calls get the carrier's busy answer, `call()` throws `LimitError`, and `GET /ready` answers 503. The same happens regardless of `maxCalls` while the process is overloaded or the hourly or daily `budget` is used up. In a `cluster`, of all servers together. @default no limit */
  maxCalls?: number | undefined;
  /** Proxies whose `X-Forwarded-For` is trusted; takes the values of Express's `trust proxy`. @default false; with `tunnel`, the tunnel */
  trustProxy?: boolean | number | string | string[] | undefined;
  /** Longest call, in minutes, 0.05-1440. @default 60 */
  maxCallMinutes?: number | undefined;
  /** How long `disconnect` waits for connections to close, in seconds, 0-600. Hang-ups always get at least one second first. @default 10 */
  drainSeconds?: number | undefined;
  /** Drain at SIGINT and SIGTERM as `phone.drain()` does, then end the process; a second signal, a second or more later, ends it at once. @default false: signals are yours */
  handleSignals?: boolean | undefined;
  /** Take over from the server that has `dataDir`, if one runs: new calls at once, and those that are up one by one, in mid-call. Give the new server another port, and have the proxy know both. Excludes `tunnel`, `store` and `dataDir: false`. @default false: `dataDir` belongs to the server that runs */
  takeOver?: boolean | undefined;
  /** How a call goes on whose media stream, or server process, was lost. @default `{ holdSeconds: 2 }`; in a cluster `{ holdSeconds: 0 }` */
  resume?: ResumeOptions | undefined;
  /** What a live call outlasts: the end of the `process`, or also a `power` failure, at the price of a disk sync with each step of a conversation. Records survive both. @default 'process' */
  durability?: 'process' | 'power' | undefined;
  /** Makes several servers behind any load balancer one phone system, by a Redis or Valkey: `{ url, name, secret, address }`. Needs `webhookUrl`, the webhook secret, and the npm package `@redis/client`. Every server has the same agents. Excludes `takeOver`, `tunnel`, `store` and `privacy: { transcript: 'none' }`. @default this server is alone */
  cluster?: ClusterOptions | undefined;
  /** Any pino-compatible logger. @default JSON lines on standard error, level info */
  logger?: Logger | undefined;
  /** Folder that keeps call records, created with mode 0700. Records survive a restart; calls that were up when the process died go on in the next one, or end with `process-lost`. If the folder cannot be used, offhook warns and keeps calls in memory. `false` keeps calls in memory only. @default '.offhook' in the working directory */
  dataDir?: string | false | undefined;
  /** A `CallStore` of your own, such as one on a database, that keeps the calls instead of `dataDir`. Excludes `dataDir`. You close it. Only one server at a time may use it: calls that it holds as active when `serve` starts end with `process-lost`. If the store throws or hangs, calls go on: offhook logs it and keeps new facts in memory, and the API answers `STORE_FAILED`. @default none */
  store?: CallStore | undefined;
  /** Refuse to start without the carrier's webhook secret. A configured secret is always enforced. @default false */
  requireSignature?: boolean | undefined;
}

/** Options of `phone.attach(...)`: those of `serve` except address and signals, which belong to the owner of the server. */
export type AttachOptions = Omit<ServeOptions, 'port' | 'host' | 'tunnel' | 'handleSignals'>;

const SERVE_OPTIONS = [
  'agent',
  'fallbackAgent',
  'answerWithinMs',
  'transferTargets',
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
  'localRecording',
  'listenIn',
  'privacy',
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
  'handleSignals',
  'takeOver',
  'resume',
  'durability',
  'cluster',
  'logger',
  'dataDir',
  'store',
  'requireSignature',
];

/** Options of `serve` with defaults filled in. */
export interface CheckedServeOptions extends CheckedAgents {
  readonly port: number;
  readonly host: string;
  readonly tunnel: boolean;
  readonly pricing: PriceOverrides | undefined;
  readonly budget: BudgetLimits | undefined;
  readonly recording: boolean;
  /** Undefined where no call is recorded on this machine. */
  readonly localRecording: CheckedLocalRecording | undefined;
  readonly listenIn: boolean;
  readonly privacy: PrivacyPolicy;
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
  readonly handleSignals: boolean;
  readonly takeOver: boolean;
  readonly resume: CheckedResumeOptions;
  readonly isSynced: boolean;
  /** Undefined for a server that is alone. */
  readonly cluster: CheckedCluster | undefined;
  readonly logger: Logger | undefined;
  readonly dataDir: string | false;
  /** In place of `dataDir`. */
  readonly store: CallStore | undefined;
  readonly requireSignature: boolean;
}

const PLACE_OPTIONS = ['port', 'host', 'tunnel', 'handleSignals'];

/** @throws ConfigError */
export function checkAttachOptions(options: AttachOptions, client: ServedClient): CheckedServeOptions {
  const where = 'attach()';
  requireObject(options, where, '{ agent: phone.agent({ … }) }');
  const known = SERVE_OPTIONS.filter((name) => !PLACE_OPTIONS.includes(name));
  checkNames(options, known, where);
  return checkServeOptions({ ...options, host: '127.0.0.1' }, client, { isAttached: true });
}

/** `isAttached`: on a server of the application's, which may listen anywhere. @throws ConfigError */
export function checkServeOptions(
  options: ServeOptions,
  client: ServedClient,
  { isAttached = false }: { readonly isAttached?: boolean } = {},
): CheckedServeOptions {
  const where = 'serve()';
  requireObject(options, where, '{ agent: phone.agent({ … }) }');
  checkNames(options, SERVE_OPTIONS, where);
  const { logger, onCallStart, onCallEnd, onTranscript, onMetrics } = options;
  const agents = checkAgents(options);
  const tunnel = checkBoolean('tunnel', options.tunnel, false);
  if (tunnel && client.webhookUrl !== undefined) {
    throw new ConfigError('CONFIG_CONFLICT', 'tunnel and webhookUrl exclude each other: remove one of them.');
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
  const storage = checkStorage(options);
  const dashboardToken = checkToken('dashboardToken', options.dashboardToken);
  const privacy = checkPrivacy(options.privacy);
  const reach = {
    hasToken: dashboardToken !== undefined,
    host: isAttached ? undefined : host,
    isPublic: tunnel || client.webhookUrl !== undefined,
  };
  return {
    ...agents,
    tunnel,
    pricing: checkPricing(options.pricing, {
      providers: stageNames(agents.agent.options),
      carrier: client.carrier.id,
    }),
    budget: checkBudget(options.budget),
    recording,
    privacy,
    voicemailMessage: checkText('voicemailMessage', options.voicemailMessage),
    port: checkNumber('port', options.port, { min: 1, max: 65_535, whole: true, fallback: 8000 }),
    host,
    onMessage: checkOnMessage(options.onMessage),
    callbacks,
    dashboard: checkBoolean('dashboard', options.dashboard, true),
    dashboardToken,
    dashboardFeed: checkDashboardFeed(options),
    manageWebhook: checkBoolean('manageWebhook', options.manageWebhook, true),
    maxStreamsPerIp: checkNumber('maxStreamsPerIp', options.maxStreamsPerIp, { ...many, fallback: 10 }),
    maxCalls: checkNumber('maxCalls', options.maxCalls, { ...many, fallback: undefined }),
    trustProxy: checkTrustProxy(options.trustProxy) ?? (tunnel ? tunnelProxies(host) : false),
    maxCallMs: checkNumber('maxCallMinutes', options.maxCallMinutes, minutes) * 60_000,
    drainMs: checkNumber('drainSeconds', options.drainSeconds, { min: 0, max: 600, fallback: 10 }) * 1000,
    handleSignals: checkBoolean('handleSignals', options.handleSignals, false),
    takeOver: checkTakeOver(options, { tunnel }),
    // Another server of a cluster answers at once.
    resume: checkResume(options.resume, { holdSeconds: options.cluster === undefined ? 2 : 0 }),
    cluster: checkCluster(options.cluster, {
      client,
      others: {
        takeOver: options.takeOver === true,
        tunnel,
        store: options.store !== undefined,
        "privacy: { transcript: 'none' }": privacy.transcript === 'none',
      },
    }),
    isSynced: checkDurability(options.durability) === 'power',
    logger: logger === undefined ? undefined : guardLogger(logger),
    ...storage,
    localRecording: checkLocalRecording(options.localRecording, {
      dataDir: storage.dataDir,
      hasStore: storage.store !== undefined,
      reach,
      keepsKeys: privacy.keys === 'full',
    }),
    listenIn: checkListenIn(options.listenIn, reach),
    requireSignature,
  };
}

function checkTakeOver(
  { takeOver, store, dataDir, privacy }: ServeOptions,
  { tunnel }: { tunnel: boolean },
): boolean {
  if (!checkBoolean('takeOver', takeOver, false)) return false;
  const others = { tunnel, store: store !== undefined, 'dataDir: false': dataDir === false };
  if (privacy?.transcript === 'none')
    throw new ConfigError(
      'CONFIG_CONFLICT',
      "takeOver and privacy.transcript 'none' exclude each other: who takes a call over needs its words.",
    );
  const [conflict] = Object.entries(others).find(([, isThere]) => isThere) ?? [];
  if (conflict === undefined) return true;
  throw new ConfigError(
    'CONFIG_CONFLICT',
    `takeOver and ${conflict} exclude each other: calls move between servers of one dataDir.`,
  );
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
