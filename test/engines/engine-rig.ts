// One call without a phone, around any engine: a pacer and a carrier's player on a clock that the test moves, and what the engine says.
import { createOutboundConverter } from '../../src/audio/converter.js';
import { FRAME_MS, frameBytes, PCM_16K } from '../../src/audio/format.js';
import { Pacer } from '../../src/audio/pacer.js';
import { type Logger, silentLogger } from '../../src/base/log.js';
import { silentMeters } from '../../src/base/meters.js';
import type { TranscriptEntry, Turn } from '../../src/contract/call-record.js';
import type { Engine, EngineContext, EngineFact, TransferOutcome } from '../../src/engines/engine.js';
import { loadTranscoder } from '../../src/transcoder/select.js';
import { CarrierPlayer } from '../support/carrier-player.js';
import { FakeClock } from '../support/fake-clock.js';
import { type TakenFailure, takenFailure } from '../support/taken-failure.js';

const backend = loadTranscoder('javascript');
const LOUD = 5000;
const SILENCE = new Int16Array(320);

export interface EngineRigOptions {
  clock?: FakeClock | undefined;
  callId?: string | undefined;
  logger?: Logger | undefined;
  line?: EngineContext['line'];
  takeover?: EngineContext['takeover'];
  resumed?: EngineContext['resumed'];
  /** Another engine can take its place. */
  hasFallback?: boolean | undefined;
  beforeOutside?: EngineContext['beforeOutside'];
}

export abstract class EngineRig {
  readonly clock: FakeClock;
  readonly facts: EngineFact[] = [];
  readonly ended: { reason: string; failure: TakenFailure | undefined; at: number }[] = [];
  /** What the engine asked of its call. */
  readonly orders: string[] = [];
  /** What became of requests. */
  readonly outcomes: string[] = [];
  /** What becomes of a transfer. */
  transfer: (to: string) => Promise<TransferOutcome> = () => new Promise(() => {});
  sendDigits: (digits: string) => Promise<void> = async () => {};
  /** What tools have asked of the recording. */
  readonly recording: string[] = [];
  readonly player: CarrierPlayer;
  readonly pacer: Pacer;
  readonly context: EngineContext;
  abstract readonly engine: Engine;
  readonly #bytesPerMs: number;

  constructor(options: EngineRigOptions) {
    const { clock = new FakeClock(), callId = 'call-1', logger = silentLogger, ...others } = options;
    const outbound = others.line?.outbound ?? PCM_16K;
    this.clock = clock;
    this.#bytesPerMs = frameBytes(outbound) / FRAME_MS;
    this.player = new CarrierPlayer({
      clock,
      bytesPerMs: this.#bytesPerMs,
      delayMs: 10,
      onMark: (name) => {
        if (this.pacer.markEchoed(name)) this.engine.markPlayed(name);
      },
    });
    this.pacer = new Pacer({
      converter: createOutboundConverter(outbound, backend),
      sink: this.player,
      clock,
    });
    this.context = {
      callId,
      caller: '+15550100',
      callee: '+15550111',
      direction: 'inbound',
      clock,
      logger,
      meters: silentMeters,
      playout: this.pacer,
      ...others,
      controls: {
        transfer: (to) => {
          this.orders.push(`transfer ${to}`);
          return this.transfer(to);
        },
        pauseRecording: () => void this.recording.push('pause'),
        resumeRecording: () => void this.recording.push('resume'),
        sendDigits: async (digits) => {
          this.orders.push(`keys ${digits}`);
          await this.sendDigits(digits);
        },
      },
      requested: (id, outcome) => void this.outcomes.push(`${id} ${outcome}`),
      // A recipe is no data.
      fact: (fact) => void this.facts.push(fact.type === 'caller.handed-over' ? fact : structuredClone(fact)),
      endCall: (reason, failure) => {
        const at = clock.now();
        this.ended.push({ reason, failure: takenFailure(failure, at), at });
      },
    };
  }

  /** Lets time pass, and promises settle. */
  wait(ms: number): Promise<void> {
    return this.clock.advanceAsync(ms);
  }

  /** The caller makes a sound, frame by frame. */
  async voiced(ms: number, sample = LOUD): Promise<void> {
    await this.#frames(new Int16Array(320).fill(sample), ms);
  }

  async quiet(ms: number): Promise<void> {
    await this.#frames(SILENCE, ms);
  }

  async #frames(frame: Int16Array, ms: number): Promise<void> {
    for (let at = 0; at < ms; at += 20) {
      await this.clock.advanceAsync(20);
      this.engine.pushAudio(frame);
      await this.clock.advanceAsync(0);
    }
  }

  get turns(): Turn[] {
    return this.facts.flatMap((fact) => (fact.type === 'turn.completed' ? [fact.turn] : []));
  }

  /** The transcript as a reader of the facts sees it now. */
  get transcript(): TranscriptEntry[] {
    const entries = new Map<string, TranscriptEntry>();
    for (const fact of this.facts) {
      if (fact.type !== 'transcript.segment') continue;
      if (fact.entry.final && fact.entry.text === '') entries.delete(fact.entry.id);
      else entries.set(fact.entry.id, fact.entry);
    }
    return [...entries.values()];
  }

  /** Milliseconds of agent audio that the caller has heard. */
  get heardMs(): number {
    return this.player.heard().length / this.#bytesPerMs;
  }
}
