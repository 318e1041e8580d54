// Carrier A's telephone exchange: its numbers, its calls in both directions, and what all of them share. Knows no HTTP server.
import { systemClock, type Clock } from '../../base/clock.js';
import { isE164 } from '../../base/e164.js';
import { ConfigError, OffhookError } from '../../base/errors.js';
import { calleeScript, checkCallee, SILENT_CALLEE } from '../callee.js';
import { prepareScript, type OpenVoice, type PreparedStep } from '../caller-script.js';
import { openEmbeddedVoice } from '../caller-voice.js';
import { checkLine } from '../line-conditions.js';
import type { CallReport } from '../report.js';
import { checkInboundCall } from '../call-checks.js';
import type { Callee, Disturbances, InboundCall, SimulatorOptions } from '../simulator.js';
import { requireWritable } from '../writable.js';
import { createSharedAbort } from '../../base/shared-abort.js';
import { createId } from './ids.js';
import { runInboundCall } from './inbound-call.js';
import { Leg } from './leg.js';
import { type Dialer, MarkupRunner } from './markup-runner.js';
import type { Callback, EventCallback } from './markup-verbs.js';
import { createNumber, type NumberSettings } from './numbers.js';
import { type OutboundSettings, runOutboundCall } from './outbound-call.js';
import type { StreamNoise, Switchboard } from './switchboard.js';
import type { WebhookTarget } from './webhook-post.js';
import { WebhookSender } from './webhook-sender.js';

export interface ExchangeOptions extends SimulatorOptions {
  accountSid: string;
  /** Signs webhooks and upgrades. Nothing is signed without it. */
  authToken: string | undefined;
  /**
   * Numbers of the account, E.164, that point nowhere yet: a call to one rings at the server all the same, and its end is not
   * reported. Any other number, and every number when none is listed, points at the server's webhooks.
   */
  phoneNumbers?: readonly string[] | undefined;
  /** The end of a call to a number that is not listed is reported. @default true */
  reportsEnd?: boolean | undefined;
  /** Added to every form, as the carrier adds parameters without notice. */
  extraParameters?: Readonly<Record<string, string>> | undefined;
  /** Messages on each stream that no carrier should send. */
  streamNoise?: StreamNoise | undefined;
}

/** An outbound call as the API was asked for it. */
export interface OutboundRequest {
  readonly from: string;
  readonly to: string;
  readonly statusCallback: EventCallback | undefined;
  readonly fallback: Callback | undefined;
  readonly settings: OutboundSettings;
}

const VOICE_PATH = '/webhooks/carrier-a/voice';
const STATUS_PATH = '/webhooks/carrier-a/status';
const DEFAULT_FROM = '+15005550020';
const DEFAULT_TO = '+15005550010';
/** Legs that are over and still answered for. */
const KEPT_LEGS = 10_000;

export class Exchange implements Switchboard, Dialer {
  readonly clock: Clock;
  readonly accountSid: string;
  readonly authToken: string | undefined;
  readonly webhooks: WebhookSender;
  readonly numbers: NumberSettings[];
  readonly legs: Leg[] = [];
  readonly streamNoise: StreamNoise | undefined;
  readonly runner: MarkupRunner;
  apiUrl = 'http://127.0.0.1';
  readonly #openVoice: OpenVoice;
  readonly #callees: Readonly<Record<string, Callee>>;
  readonly #transferTargets = new WeakMap<Leg, Callee>();
  readonly #scripts = new WeakMap<Callee, Promise<PreparedStep[]>>();
  readonly #reportsEnd: boolean;
  readonly #closing = createSharedAbort();

  /** @throws ConfigError for options that cannot work. */
  constructor(options: ExchangeOptions) {
    this.clock = options.clock ?? systemClock;
    this.accountSid = options.accountSid;
    this.authToken = options.authToken;
    this.numbers = (options.phoneNumbers ?? []).map(createNumber);
    this.streamNoise = options.streamNoise;
    this.#openVoice = options.openVoice ?? openEmbeddedVoice;
    this.#callees = options.callees ?? {};
    this.#reportsEnd = options.reportsEnd ?? true;
    for (const callee of Object.values(this.#callees)) checkCallee(callee);
    this.webhooks = new WebhookSender({
      target: readTarget(options),
      clock: this.clock,
      extraParameters: Object.entries(options.extraParameters ?? {}),
    });
    this.webhooks.disturb(options.disturbances ?? {});
    this.runner = new MarkupRunner(this, this);
  }

  get disturbances(): Disturbances {
    return this.webhooks.disturbances;
  }

  wallNow(): number {
    return this.clock.wallNow() + (this.disturbances.clockSkewSeconds ?? 0) * 1000;
  }

  /** An inbound call. Speech is synthesized before the bell rings. @throws ConfigError for a call that cannot be. */
  async call(call: InboundCall): Promise<CallReport> {
    checkInboundCall(call);
    const { from = DEFAULT_FROM, to = DEFAULT_TO } = call;
    checkInbound(call, to);
    if (call.recordTo !== undefined) await requireWritable(call.recordTo);
    const signal = AbortSignal.any([
      this.#closing.signal,
      ...(call.signal === undefined ? [] : [call.signal]),
    ]);
    const steps = await prepareScript(call.script, { openVoice: this.#openVoice, signal });
    const leg = this.#addLeg({ direction: 'inbound', from, to }, 'ringing');
    leg.steps = steps;
    if (call.line !== undefined) leg.line.impair(call.line);
    if (call.transferTo !== undefined) this.#transferTargets.set(leg, call.transferTo);
    const { voice, status, fallback } = this.#webhooksOf(to);
    leg.statusCallback = status;
    leg.fallback = fallback;
    const running = runInboundCall(leg, { call, voice, runner: this.runner }, this);
    this.webhooks.watch(running);
    return running;
  }

  /** An outbound call, which waits in the queue first. */
  dial(request: OutboundRequest): Leg {
    const { from, to, settings } = request;
    const leg = this.#addLeg({ direction: 'outbound-api', from, to }, 'queued');
    leg.statusCallback = request.statusCallback;
    leg.fallback = request.fallback;
    const callee = this.calleeOf(to) ?? SILENT_CALLEE;
    const prepared = this.prepare(leg, callee);
    this.webhooks.watch(runOutboundCall(leg, { settings, callee, prepared, runner: this.runner }, this));
    this.webhooks.watch(leg.over);
    return leg;
  }

  findLeg(callSid: string): Leg | undefined {
    return this.legs.find(({ carrierCallId }) => carrierCallId === callSid);
  }

  createChild(parent: Leg, call: { from: string; to: string }): Leg {
    const parentCallSid = parent.carrierCallId;
    return this.#addLeg({ direction: 'outbound-dial', parentCallSid, ...call }, 'queued');
  }

  calleeOf(number: string, parent?: Leg): Callee | undefined {
    const chosen = parent === undefined ? undefined : this.#transferTargets.get(parent);
    return chosen ?? this.#callees[number] ?? this.#callees['*'];
  }

  isOwnNumber(number: string): boolean {
    if (this.numbers.length === 0) return isE164(number);
    return this.numbers.some(({ phoneNumber }) => phoneNumber === number);
  }

  /** Readies what the callee says. A voice that fails leaves the callee silent, with a note. */
  async prepare(leg: Leg, callee: Callee): Promise<void> {
    if (callee.type !== 'human' && callee.type !== 'machine' && callee.type !== 'fax') return;
    const known =
      this.#scripts.get(callee) ??
      prepareScript(calleeScript(callee), { openVoice: this.#openVoice, signal: this.#closing.signal });
    this.#scripts.set(callee, known);
    try {
      leg.steps = await known;
    } catch (error) {
      const reason = OffhookError.isInstance(error) ? error.message : 'the voice failed.';
      leg.notes.push(`The callee could not speak: ${reason}`);
    }
  }

  /** Resolves when no leg is up and every webhook has been delivered. */
  settled(): Promise<void> {
    return this.webhooks.settled();
  }

  /** Cuts every leg without a word. Idempotent. */
  close(): void {
    this.#closing.abort();
    this.webhooks.close();
    for (const leg of this.legs) leg.end({ by: 'caller', how: 'aborted', abrupt: true });
  }

  #webhooksOf(to: string): {
    voice: Callback;
    status: EventCallback | undefined;
    fallback: Callback | undefined;
  } {
    const { url, webhookHost } = this.webhooks.target;
    const base = `https://${webhookHost}${url.pathname.replace(/\/$/, '')}`;
    const number = this.numbers.find(({ phoneNumber }) => phoneNumber === to);
    const events = ['completed'];
    if (number === undefined) {
      return {
        voice: { url: base + VOICE_PATH, method: 'POST' },
        status: this.#reportsEnd ? { url: base + STATUS_PATH, method: 'POST', events } : undefined,
        fallback: undefined,
      };
    }
    const { voiceUrl, voiceMethod, voiceFallbackUrl, statusCallback, statusCallbackMethod } = number;
    return {
      voice: { url: voiceUrl === '' ? base + VOICE_PATH : voiceUrl, method: voiceMethod },
      status:
        statusCallback === '' ? undefined : { url: statusCallback, method: statusCallbackMethod, events },
      fallback: voiceFallbackUrl === '' ? undefined : { url: voiceFallbackUrl, method: 'POST' },
    };
  }

  #addLeg(
    call: Pick<Leg['facts'], 'direction' | 'from' | 'to'> & { parentCallSid?: string },
    status: 'queued' | 'ringing',
  ): Leg {
    const { accountSid } = this;
    const leg = new Leg(this, { callSid: createId('CA'), accountSid, parentCallSid: null, ...call }, status);
    this.legs.push(leg);
    if (this.legs.length > KEPT_LEGS && this.legs[0]?.isOver === true) this.legs.shift();
    return leg;
  }
}

function checkInbound({ maxDurationMs, transferTo, line }: InboundCall, to: string): void {
  if (!isE164(to))
    throw new ConfigError('CONFIG_INVALID', 'The called number must be a phone number like +15005550010.');
  if (maxDurationMs !== undefined && !(maxDurationMs >= 1000 && maxDurationMs <= 3_600_000)) {
    throw new ConfigError('CONFIG_INVALID', 'The longest duration must be 1,000 to 3,600,000 ms.');
  }
  if (transferTo !== undefined) checkCallee(transferTo);
  if (line !== undefined) checkLine(line);
}

function readTarget(options: ExchangeOptions): WebhookTarget {
  const url = URL.canParse(options.url) ? new URL(options.url) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol)) {
    throw new ConfigError(
      'CONFIG_INVALID',
      'The server address must be an http or https URL, like http://127.0.0.1:8000.',
    );
  }
  const webhookHost = options.webhookHost ?? url.host;
  if (!/^[\w.-]+(:\d+)?$|^\[[0-9a-f:]+\](:\d+)?$/i.test(webhookHost)) {
    throw new ConfigError(
      'CONFIG_INVALID',
      'The webhook host must be a host with an optional port, without scheme or path.',
    );
  }
  return { url, webhookHost, authToken: options.authToken };
}
