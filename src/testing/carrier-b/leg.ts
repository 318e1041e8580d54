// One call leg at carrier B: who is on it, how far it has come, what it told the phone server, and its end.
import { randomUUID } from 'node:crypto';
import type { Timer } from '../../base/clock.js';
import { maskPhone } from '../../base/redact.js';
import { PhoneLine } from '../phone-line.js';
import type { PlaybackClock } from '../playback.js';
import type { CallAnswerReport, CallReport } from '../report.js';
import { CarrierVoice } from './carrier-voice.js';
import { CommandMemory } from './command-memory.js';
import { costPayload, ENDS, hangupPayload, initiatedPayload, recordingPayload } from './events.js';
import type { Exchange } from './exchange.js';
import { createCallControlId, toWireTime } from './ids.js';
import type { CarrierBLeg, LegEnd, LegSettings, Person } from './leg-contract.js';
import { LegRecord } from './leg-record.js';
import { LegStreams, type LossReport, type StreamOwner } from './leg-streams.js';
import type { StreamRequest } from './stream-request.js';
import type { CarrierBStream } from './stream.js';
import type { PreparedCallee } from './prepared-callee.js';
import type { Delivery } from './webhook-sender.js';

/** A person who was answered and hears no stream begins to speak all the same. */
const PATIENCE_MS = 10_000;
/** Between the two ways in which a key is told. */
const DIGIT_GAP_MS = 60;

export class Leg implements CarrierBLeg, StreamOwner {
  readonly carrierCallId = createCallControlId();
  readonly callLegId = randomUUID();
  readonly callSessionId: string;
  readonly direction: 'inbound' | 'outbound';
  readonly from: string;
  readonly to: string;
  readonly sentDigits: string[] = [];
  readonly commands: CommandMemory;
  readonly streams: LegStreams;
  readonly voice: CarrierVoice;
  readonly line: PhoneLine;
  readonly record: LegRecord;
  readonly startedAtMs: number;
  /** Resolves when the leg is over and the phone server has been told so, or cannot be. */
  readonly settled: Promise<void>;
  clientState: string | null;
  /** Where its events go, in place of the application's URL. */
  webhookUrl: string | undefined;
  isRecorded = false;
  person: Person = { steps: [], startsWith: 'stream' };
  /** A stream that a dial asked for: its socket opens while it rings, or with the answer. */
  wantedStream: StreamRequest | undefined;
  /** Whom a transfer reaches, in place of who answers at the number. */
  transferTo: PreparedCallee | undefined;
  /** A leg that a transfer has dialed and nobody has answered yet. */
  transferLeg: Leg | undefined;
  /** A command has come for the leg. */
  isSteered = false;
  /** With which `cause` the server turned it away. */
  rejectedAs: 'busy' | 'rejected' | undefined;
  /** From the bell to its acknowledgment. */
  webhookMs: number | null = null;
  readonly #exchange: Exchange;
  readonly #timeLimitMs: number | undefined;
  readonly #timers = new Set<Timer>();
  readonly #bellMs: number;
  #resolveSettled: () => void = () => {};
  #answeredMs: number | undefined;
  #end: LegEnd | undefined;
  #endedMs = 0;
  #hangupToldMs: number | undefined;
  #bridgedWith: Leg | undefined;

  constructor(exchange: Exchange, settings: LegSettings) {
    const { clock } = exchange;
    this.#exchange = exchange;
    this.webhookUrl = settings.webhookUrl;
    this.#timeLimitMs = settings.timeLimitMs;
    this.direction = settings.direction;
    this.from = settings.from;
    this.to = settings.to;
    this.callSessionId = settings.callSessionId ?? randomUUID();
    this.clientState = settings.clientState ?? null;
    this.startedAtMs = clock.wallNow();
    this.#bellMs = clock.now();
    this.settled = new Promise((resolve) => {
      this.#resolveSettled = resolve;
    });
    this.line = new PhoneLine({ clock, onHangUp: ({ abrupt }) => this.#personHangsUp(abrupt) });
    this.record = new LegRecord(this.line, {
      carrier: 'carrier-b',
      carrierCallId: this.carrierCallId,
      caller: maskPhone(this.from),
      callee: maskPhone(this.to),
      startedAt: this.startedAtMs,
    });
    this.commands = new CommandMemory(clock, (sentence) => this.violate(sentence));
    this.streams = new LegStreams(exchange, this);
    this.voice = new CarrierVoice({
      clock,
      emit: (event, payload) => void this.emit(event, payload),
      onFirstSound: (playback) => {
        this.line.start(this.person.steps);
        this.line.hear(playback);
      },
    });
  }

  get isAnswered(): boolean {
    return this.#answeredMs !== undefined;
  }

  get isOver(): boolean {
    return this.#end !== undefined;
  }

  get spoken(): readonly string[] {
    return this.voice.spoken;
  }

  get bridgedWith(): Leg | undefined {
    return this.#bridgedWith;
  }

  get hangupCause(): string | null {
    return this.#end?.cause ?? null;
  }

  get violations(): readonly string[] {
    return this.record.sentences;
  }

  get reports(): readonly CallReport[] {
    return this.record.reports(this.webhookMs);
  }

  /** Milliseconds since the phone server was told of the end; undefined while it was not. */
  get knownOverForMs(): number | undefined {
    return this.#hangupToldMs === undefined ? undefined : this.#exchange.clock.now() - this.#hangupToldMs;
  }

  get facts() {
    return {
      userId: this.#exchange.userId,
      callControlId: this.carrierCallId,
      callSessionId: this.callSessionId,
      from: this.from,
      to: this.to,
      clientState: this.clientState,
    };
  }

  violate(sentence: string): void {
    this.record.violations.add(sentence);
  }

  /** Runs a task after a time, unless the leg is over by then. */
  after(delayMs: number, task: () => void): void {
    if (this.isOver) return;
    const timer = this.#exchange.clock.after(delayMs, () => {
      this.#timers.delete(timer);
      task();
    });
    this.#timers.add(timer);
  }

  emit(type: string, payload: Readonly<Record<string, unknown>>): Promise<Delivery> {
    const { sender, application } = this.#exchange;
    return sender.send({
      type,
      payload: {
        call_control_id: this.carrierCallId,
        call_leg_id: this.callLegId,
        call_session_id: this.callSessionId,
        connection_id: application.id,
        client_state: this.clientState,
        from: this.from,
        to: this.to,
        ...payload,
      },
      url: this.webhookUrl ?? application.webhook_event_url,
      queue: this.callSessionId,
    });
  }

  /** Tells that the leg is there. */
  initiate(): Promise<Delivery> {
    return this.emit('call.initiated', initiatedPayload(this));
  }

  /** Somebody has answered. Only the first time counts. */
  answer(): void {
    if (this.isAnswered || this.isOver) return;
    this.#answeredMs = this.#exchange.clock.now();
    const stream = this.wantedStream;
    void this.emit('call.answered', {
      state: 'answered',
      start_time: toWireTime(this.startedAtMs),
      tags: [],
      ...(stream === undefined ? {} : { stream_url: stream.url.href, stream_track: stream.track }),
    });
    if (this.#timeLimitMs !== undefined) {
      this.after(this.#timeLimitMs, () => this.end({ ...ENDS.timeLimit, by: 'agent', how: 'time-limit' }));
    }
    if (this.person.startsWith === 'answer') this.line.start(this.person.steps);
    else this.after(PATIENCE_MS, () => this.line.start(this.person.steps));
    if (this.streams.isActive) this.streams.answered();
    else if (stream !== undefined) this.streams.start(stream);
  }

  /** Two legs are connected with each other. */
  bridge(other: Leg): void {
    this.transferLeg = undefined;
    this.#bridgedWith = other;
    other.#bridgedWith = this;
  }

  hangUp(): void {
    this.#personHangsUp(false);
  }

  press(digit: string): void {
    this.pressed(digit);
  }

  dropStream(report: LossReport = 'failed'): void {
    this.streams.drop(report);
  }

  /** Ends the leg, and what hangs on it. Idempotent. */
  end(end: LegEnd): void {
    if (this.isOver) return;
    const { clock, disturbances, application } = this.#exchange;
    this.#end = end;
    this.#endedMs = clock.now();
    for (const timer of this.#timers) timer.cancel();
    this.#timers.clear();
    this.voice.close();
    this.streams.stop({ by: end.by, how: end.how }, { abrupt: end.abrupt === true });
    this.line.close();
    const times = { startedAtMs: this.startedAtMs, endedAtMs: clock.wallNow() };
    const told = this.emit('call.hangup', hangupPayload(end, { ...times, wasAnswered: this.isAnswered }));
    void told.then(() => {
      this.#hangupToldMs = clock.now();
      this.#resolveSettled();
    });
    if (this.isRecorded || disturbances.unaskedRecordings === true) {
      void this.emit('call.recording.saved', recordingPayload(times, randomUUID()));
    }
    if (application.call_cost_in_webhooks) {
      const answeredMs = this.#answeredMs === undefined ? 0 : this.#endedMs - this.#answeredMs;
      void this.emit('call.cost', costPayload({ direction: this.direction, answeredMs }));
    }
    this.transferLeg?.end({ ...ENDS.cancelled, by: 'caller', how: 'hang-up' });
    this.#bridgedWith?.end({ ...ENDS.callerGone, by: 'caller', how: 'hang-up' });
  }

  // What its streams tell the leg.

  emitStreaming(event: 'started' | 'stopped' | 'failed', payload: Readonly<Record<string, unknown>>): void {
    const prefix = this.#exchange.disturbances.prefixedStreamEvents === true ? 'call.' : '';
    void this.emit(`${prefix}streaming.${event}`, payload);
  }

  streamBegan(stream: CarrierBStream, playback: PlaybackClock, upgradeMs: number): void {
    this.line.start(this.person.steps);
    const answer: CallAnswerReport = {
      outcome: 'answered',
      status: 200,
      webhookMs: null,
      upgradeMs: Math.round(upgradeMs),
      answeredAfterMs: Math.round(this.#exchange.clock.now() - this.#bellMs),
      reason: null,
    };
    const { clock } = this.#exchange;
    const offsetMs = this.line.hear(playback);
    this.record.add({ stream, playback, offsetMs, startedAt: clock.wallNow(), answer });
    this.line.connect(stream);
  }

  streamEnded(stream: CarrierBStream): void {
    if (this.record.lastStream === stream) this.line.connect(undefined);
  }

  pressed(digit: string): void {
    const { digits, clock } = this.#exchange;
    const pressedAtMs = clock.wallNow();
    const onSocket = () => this.streams.current?.sendDigit(digit, pressedAtMs);
    const asWebhook = () => void this.emit('call.dtmf.received', { digit });
    if (digits === 'webhook-only' || digits === 'webhook-first') asWebhook();
    else onSocket();
    if (digits === 'socket-first') this.after(DIGIT_GAP_MS, asWebhook);
    else if (digits === 'webhook-first') this.after(DIGIT_GAP_MS, onSocket);
  }

  #personHangsUp(abrupt: boolean): void {
    const answered = this.direction === 'inbound' ? ENDS.callerGone : ENDS.calleeGone;
    const unanswered = this.direction === 'inbound' ? ENDS.cancelled : ENDS.rejected;
    this.end({ ...(this.isAnswered ? answered : unanswered), by: 'caller', how: 'hang-up', abrupt });
  }
}
