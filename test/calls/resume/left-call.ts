// A call whose process is killed, and the process after it: what was kept is all that it knows.
import { decodeState } from '../../../src/calls/resume/call-state.js';
import type { Loss } from '../../../src/calls/ending/lost-call.js';
import type { StateStore } from '../../../src/calls/resume/call-states.js';
import type { CallRecord } from '../../../src/contract/call-record.js';
import { reduceCall } from '../../../src/events/reduce.js';
import { type BenchOptions, startText } from '../../support/call-bench.js';
import { OUTBOUND, Scene, type SceneKind } from '../scene.js';

/** What is kept of live calls, in memory. */
export class KeptStates implements StateStore {
  readonly texts = new Map<string, string>();
  /** Of all writes. */
  writes = 0;

  async write(callId: string, text: string): Promise<void> {
    this.writes += 1;
    this.texts.set(callId, text);
  }
  async remove(callId: string): Promise<void> {
    this.texts.delete(callId);
  }
}

const KEY = new Uint8Array([1, 2, 3]);

export interface KeptOptions extends BenchOptions {
  /** The carrier has no secret. */
  readonly withoutKey?: boolean;
}

/** A scene of one process. */
export class KeptScene extends Scene {
  readonly states = new KeptStates();
  /** What it was begun with. */
  readonly left: CallRecord | undefined;
  readonly options: KeptOptions;
  /** The record as the process left it, where that is not the one at the end. */
  frozen: CallRecord | undefined;
  /** Why the call was not taken up; undefined where it was. */
  loss: Loss | undefined;

  constructor(kind: SceneKind, options: KeptOptions = {}, left?: CallRecord) {
    super(kind, {
      ...(options.withoutKey === true ? {} : { key: KEY }),
      resumes: true,
      nodeId: `node-${(left?.term ?? 0) + 1}`,
      ...options,
    });
    this.options = options;
    this.left = left;
    this.bench.desk.keep(this.states);
  }

  /** It is kept before it is dialed. */
  override async dial(request: Partial<typeof OUTBOUND> = {}): Promise<void> {
    const { bench } = this;
    this.dialed = bench.desk.dial({ ...OUTBOUND, ...request }).catch((error: unknown) => error);
    await bench.pass();
    this.callId = bench.rest.dials.at(-1)?.callId ?? '';
    this.carrierCallId = `carrier-out-${bench.rest.dials.length}`;
    await bench.pass();
  }

  /** The next stream of the call, by its number. */
  next(number: number, fields: Parameters<Scene['stream']>[0] = {}): void {
    const { socket, receiver } = this.bench.admit({ callId: this.callId, number });
    this.socket = socket;
    this.receiver = receiver;
    receiver.receiveText(
      startText({ carrierCallId: this.carrierCallId, streamId: `stream-${number}`, ...fields }),
    );
  }

  /** The record with what came before this process. */
  override get record(): CallRecord {
    const facts = this.bench.events.filter(({ callId }) => callId === this.callId);
    const record = facts.reduce<CallRecord | undefined>(reduceCall, this.left);
    if (record === undefined) throw new Error('no record');
    return record;
  }

  /** The process is killed, and another one is there after `gapMs`. `damage`: what becomes of what was kept. */
  async killed({
    gapMs = 500,
    lastAliveMs = 0,
    damage = (text) => text,
    options = this.options,
    before = this.states.texts,
    wasLetGo = false,
    behindMs = 0,
    of = (record) => record,
  }: {
    gapMs?: number;
    lastAliveMs?: number;
    damage?: (text: string) => string | undefined;
    options?: KeptOptions;
    /** What was kept then. */
    before?: ReadonlyMap<string, string>;
    /** The process was not killed: it has handed the call over. */
    wasLetGo?: boolean;
    /** So far the clock of the next process is behind. */
    behindMs?: number;
    /** What becomes of the record. */
    of?: (record: CallRecord) => CallRecord;
  } = {}): Promise<KeptScene> {
    await this.bench.pass();
    const record = of(this.frozen ?? this.record);
    const { clock } = this.bench;
    const next = new KeptScene(this.kind, options, record);
    next.callId = this.callId;
    next.carrierCallId = this.carrierCallId;
    next.bench.clock.advance(clock.now() + gapMs);
    next.bench.clock.setWall(-behindMs);
    const text = before.get(this.callId);
    const kept = text === undefined ? undefined : damage(text);
    const state = kept === undefined ? undefined : decodeState(kept);
    if (kept !== undefined) next.states.texts.set(this.callId, kept);
    const lastAliveAt = (wasLetGo ? next.bench.clock : clock).wallNow() - lastAliveMs;
    const { recipe } = next.bench;
    const toHow = () => ({ recipe, message: 'I am back.' });
    next.loss = next.bench.desk.resume({ record, state, lastAliveAt, wasLetGo }, toHow);
    return next;
  }

  /** The carrier can reach it. */
  async goOn(): Promise<void> {
    this.bench.desk.goOn();
    await this.bench.pass();
  }
}
