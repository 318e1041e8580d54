// One call of either direction at a carrier of either kind, played step by step as the carrier would.
import { expect } from 'vitest';
import type { StreamReceiver } from '../../src/calls/call-desk.js';
import type { CallDirection, CallOutcome, CallRecord } from '../../src/contract/call-record.js';
import {
  CallBench,
  type BenchOptions,
  type ReportFields,
  type Steering,
  startText,
  text,
} from '../support/call-bench.js';
import type { FakeSocket } from '../support/call-fakes.js';

export interface SceneKind {
  readonly steering: Steering;
  readonly direction: CallDirection;
}

export const KINDS: readonly SceneKind[] = (['replies', 'commands'] as const).flatMap((steering) =>
  (['inbound', 'outbound'] as const).map((direction) => ({ steering, direction })),
);

/** The calls that a test is of: all four, or those that `only` names. */
export function matching({ only = {} }: { only?: Partial<SceneKind> | undefined }): SceneKind[] {
  const { steering, direction } = only;
  return KINDS.filter(
    (kind) =>
      (steering === undefined || kind.steering === steering) &&
      (direction === undefined || kind.direction === direction),
  );
}

export const OUTBOUND = {
  to: '+15550111',
  from: '+15550100',
  recipe: undefined,
  machineDetection: true,
  voicemailMessage: 'Please call back.' as string | undefined,
  ringTimeoutSeconds: 25,
};

export class Scene {
  readonly bench: CallBench;
  readonly kind: SceneKind;
  callId = 'call-1';
  carrierCallId = 'carrier-call-1';
  socket!: FakeSocket;
  receiver!: StreamReceiver;
  /** Result of `dial`; undefined until it has one. */
  dialed: unknown;
  #sequence = 0;

  constructor(kind: SceneKind, options: BenchOptions = {}) {
    this.kind = kind;
    this.bench = new CallBench({ steering: kind.steering, ...options });
  }

  /** The call rings, or is being dialed and rings there. */
  async ring(request: Partial<typeof OUTBOUND> = {}): Promise<void> {
    if (this.kind.direction === 'inbound') this.bench.ring();
    else await this.dial(request);
    await this.bench.pass();
  }

  /** The call is dialed, and nothing has been heard of it. */
  async dial(request: Partial<typeof OUTBOUND> = {}): Promise<void> {
    const { bench } = this;
    this.dialed = bench.desk.dial({ ...OUTBOUND, ...request }).then(
      (placed) => (this.dialed = placed),
      (error: unknown) => (this.dialed = error),
    );
    this.callId = bench.rest.dials.at(-1)?.callId ?? '';
    this.carrierCallId = `carrier-out-${bench.rest.dials.length}`;
    await bench.pass();
  }

  /** The call is answered: the carrier says so, and asks what to do where it does. */
  async answer(): Promise<void> {
    const { steering, direction } = this.kind;
    if (direction === 'outbound' || steering === 'commands') this.status('active');
    if (direction === 'outbound' && steering === 'replies') {
      expect(this.asks()).toMatchObject({ type: 'stream' });
    }
    await this.bench.pass();
  }

  /** The carrier asks what to do with the call. */
  asks() {
    const { carrierCallId } = this;
    return this.bench.ring(this.callId, { carrierCallId, direction: this.kind.direction });
  }

  /** A stream of the call comes and says what it is. */
  stream(fields: Parameters<typeof startText>[0] = {}): void {
    const { socket, receiver } = this.bench.admit({ callId: this.callId });
    this.socket = socket;
    this.receiver = receiver;
    receiver.receiveText(startText({ carrierCallId: this.carrierCallId, ...fields }));
  }

  /** Agent and caller are talking. */
  async up(request: Partial<typeof OUTBOUND> = {}): Promise<void> {
    await this.ring(request);
    await this.answer();
    this.stream();
    this.bench.rest.requests.length = 0;
  }

  /** Half a second of agent audio. */
  agentSpeaks(): void {
    this.bench.engine.context.playout.push(new Int16Array(8000));
  }

  stop(): void {
    this.receiver.receiveText(text({ type: 'stop' }));
  }

  /** The socket closes without a word. */
  cut(): void {
    this.receiver.socketClosed(1006);
  }

  report(report: ReportFields) {
    const { callId, carrierCallId } = this;
    return this.bench.report({ callId, carrierCallId, ...report });
  }

  status(status: 'ringing' | 'active') {
    this.#sequence += 1;
    return this.report({ type: 'status', status, outcome: null, sequence: this.#sequence });
  }

  over(outcome: CallOutcome | null) {
    this.#sequence += 1;
    return this.report({ type: 'status', status: 'completed', outcome, sequence: this.#sequence });
  }

  get record(): CallRecord {
    return this.bench.record(this.callId);
  }

  get isLive(): boolean {
    return this.bench.desk.isLive(this.callId);
  }

  /** What is left when everything has had its time: one end, no timer, no session, an engine that is closed. */
  async expectEnd(): Promise<CallRecord> {
    const { bench } = this;
    await bench.pass(15 * 60_000);
    expect(bench.types(this.callId).filter((type) => type === 'call.ended')).toHaveLength(1);
    expect(bench.desk.liveCount).toBe(0);
    expect(bench.clock.pending).toBe(0);
    expect(bench.engines.every(({ heard }) => heard.at(-1) === 'close')).toBe(true);
    expect(this.record.status).toBe('completed');
    expect(bench.logger.text).not.toMatch(/\+1555/);
    return this.record;
  }
}
