// The speaking half of a call: engine and audio path behind one fault boundary. What throws in here ends this call and no other.
// It outlives the streams of the call: they are attached and detached.
import type { Resumption } from '../../conversation/floor.js';
import type { ConversationState } from '../../conversation/state.js';
import { onClock } from '../../conversation/wait.js';
import type { AudioFormat } from '../../audio/format.js';
import type { PlaybackSink } from '../../audio/pacer.js';
import type { Clock, Timer } from '../../base/clock.js';
import { type Logger, withFields } from '../../base/log.js';
import type { Meters } from '../../base/meters.js';
import type { CallIdentity } from '../../contract/call-event.js';
import type { AudioEnvelope, EndReason, MediaCounters } from '../../contract/call-record.js';
import type {
  Engine,
  EngineContext,
  EngineControls,
  EngineFact,
  EngineFailure,
  EngineRecipe,
} from '../../engines/engine.js';
import type { SpokenRequest } from '../../engines/spoken-request.js';
import type { SpokenText } from '../../providers/speech-to-text.js';
import type { TranscoderBackend } from '../../transcoder/backend.js';
import { type AudioLine, AudioPath, type AudioPathOptions } from '../streams/audio-path.js';
import type { SoundReceiver } from '../streams/call-stream.js';
import type { StreamSocket } from '../call-desk.js';
import { callClock } from '../call-clock.js';
import type { PreparedCall } from './prepared-call.js';

/** How much longer than its own length a goodbye may take to be heard. */
const GOODBYE_GRACE_MS = 3000;
const GOODBYE_LOOK_MS = 20;
const GOODBYE_MARK = 'offhook-goodbye';

/** Our words to wire words, for what goes out. */
export interface MediaEncoder {
  encodeAudio(payload: Uint8Array): string;
  encodeMark(name: string): string;
  encodeClear(): string;
}

/** One stream as the voice needs it. */
export interface VoiceLine {
  /** What the carrier sends. */
  readonly format: AudioFormat;
  /** What the carrier takes. */
  readonly outboundFormat: AudioFormat;
  readonly stream: {
    readonly media: MediaEncoder;
    readonly socket: StreamSocket;
    /** Where its sound goes. */
    bind(sound: SoundReceiver): void;
  };
}

/** Why nobody listens to the agent: there is no stream, the caller is being handed over, or a machine plays its greeting. */
export type HoldReason = 'stream' | 'transfer' | 'machine';

export interface VoiceOptions {
  readonly callId: string;
  readonly identity: CallIdentity;
  /** Frames and clears that go out are counted here. */
  readonly counters: MediaCounters;
  readonly backend: TranscoderBackend;
  readonly recipe: EngineRecipe;
  readonly controls: EngineControls;
  /** What the engine is made of, where it is ready. */
  readonly prepared: PreparedCall | undefined;
  readonly clock: Clock;
  /** When the time of the conversation was 0, on the clock. @default now */
  readonly beganAt?: number | undefined;
  readonly resumed?: EngineContext['resumed'];
  readonly beforeOutside?: EngineContext['beforeOutside'];
  readonly requested?: EngineContext['requested'];
  /** As in `AudioPathOptions`. */
  readonly tape?: AudioPathOptions['tape'];
  /** As in `AudioPathOptions`. */
  readonly tap?: AudioPathOptions['tap'];
  /** As in `CallEnvironment`. */
  readonly noticeStall?: (() => void) | undefined;
  readonly logger: Logger;
  readonly meters: Meters;
  onFact(fact: EngineFact): void;
  /** The engine wants the call to end, and what it said has been heard. */
  onEnd(reason: EndReason, failure: EngineFailure | undefined): void;
  /** Engine or audio code threw. */
  onFailure(error: unknown): void;
}

export class CallVoice {
  readonly #options: VoiceOptions;
  readonly #beganAt: number;
  readonly #audio: AudioPath;
  #engine: Engine | undefined;
  #goodbye: { reason: EndReason; failure: EngineFailure | undefined } | undefined;
  #goodbyeTimer: Timer | undefined;
  readonly #holds = new Set<HoldReason>();
  /** The hold that is on may have begun in the middle of what the caller no longer waits for. */
  #isStale = false;
  #news: string | undefined;
  #closed = false;

  /** @throws what the audio path or the recipe throws; nothing is left open then. */
  constructor(line: VoiceLine, options: VoiceOptions) {
    this.#options = options;
    const { callId, identity, recipe, controls, backend, meters } = options;
    const { caller, callee, direction } = identity;
    const { beganAt = options.clock.now() } = options;
    this.#beganAt = beganAt;
    // Timers of the engine and the pacer run inside the fault boundary, and not after the end of the call.
    const run = (task: () => void) => {
      if (!this.#closed) this.#try(task);
    };
    const clock = callClock(options.clock, run, beganAt);
    this.#audio = new AudioPath(this.#audioLine(line), {
      backend,
      clock,
      beganAt,
      meters,
      tape: options.tape,
      tap: options.tap,
      noticeStall: options.noticeStall,
      onFailure: (error) => options.onFailure(error),
    });
    const parties = { callId, caller, callee, direction };
    const preparation = options.prepared?.take(parties, (error) => options.onFailure(error));
    try {
      const context: EngineContext = {
        ...parties,
        clock,
        // Providers know no call, and their lines belong to one.
        logger: withFields(options.logger, { callId }),
        meters,
        playout: this.#audio.playout,
        line: { inbound: line.format, outbound: line.outboundFormat },
        controls,
        beforeOutside: options.beforeOutside,
        requested: options.requested,
        resumed: options.resumed,
        fact: (fact) => options.onFact(fact),
        endCall: (reason, failure) =>
          this.#try(() => this.#endAfterPlayback(reason, failure && onOurClock(failure, beganAt))),
      };
      this.#engine = recipe.create(context, preparation);
    } catch (error) {
      preparation?.close();
      this.close();
      throw error;
    }
    this.#audio.ear = this.#engine;
    line.stream.bind(this.#audio);
  }

  /** Trouble that the engine wants the call to end with, once its last words have been heard. */
  get failing(): { reason: EndReason; failure: EngineFailure } | undefined {
    const { reason, failure } = this.#goodbye ?? {};
    return reason === undefined || failure === undefined ? undefined : { reason, failure };
  }

  /** The conversation as it stands, and when its time was 0, on the clock. Undefined for an engine that is broken. */
  get state(): { readonly state: ConversationState; readonly beganAt: number } | undefined {
    let state: ConversationState | undefined;
    this.#toEngine((engine) => {
      ({ state } = engine);
    });
    return state && { state, beganAt: this.#beganAt };
  }

  /** How loud both sides were so far; undefined while there was no audio. */
  envelope(): AudioEnvelope | undefined {
    return this.#audio.envelope();
  }

  start(): void {
    this.#toEngine((engine) => engine.start());
  }

  /** Goes on over another stream, whatever its format. */
  attach(line: VoiceLine): void {
    if (this.#closed) return;
    this.detach();
    this.#try(() => {
      this.#audio.attach(this.#audioLine(line));
      line.stream.bind(this.#audio);
      this.release('stream');
    });
  }

  /** What the caller is to be told when they listen again. */
  get news(): string | undefined {
    return this.#news;
  }

  /** The stream is gone: the agent stops in this tick, and what was not heard counts as not heard. Idempotent. */
  detach(): void {
    if (this.#closed) return;
    this.#audio.detach();
    this.hold('stream');
  }

  /** Silences the agent in this tick and makes it deaf. */
  hold(reason: HoldReason): void {
    if (this.#closed) return;
    if (reason === 'transfer') {
      this.#isStale = true;
      this.#news = undefined;
    }
    const isFirst = this.#holds.size === 0;
    this.#holds.add(reason);
    if (!isFirst) return;
    this.#audio.ear = undefined;
    // The engine must see what was played before anything is dropped behind its back.
    this.#toEngine((engine) => engine.hold());
    this.#try(() => this.#audio.playout.clear());
  }

  /** Takes one reason away; with the last one the agent goes on. `news`: what it tells the caller of that reason then. */
  release(reason: HoldReason, news?: string): void {
    if (this.#closed || !this.#holds.delete(reason)) return;
    this.#news = news ?? this.#news;
    if (this.#holds.size > 0) return;
    const stale: Resumption = this.#news === undefined ? 'listen' : { news: this.#news };
    const how = this.#isStale ? stale : 'continue';
    this.#isStale = false;
    this.#news = undefined;
    this.#audio.ear = this.#engine;
    this.#toEngine((engine) => engine.resume(how));
  }

  /** Has the agent say something. False once it says goodbye. */
  request(request: SpokenRequest): boolean {
    let isTaken = false;
    if (this.#goodbye !== undefined) return isTaken;
    this.#toEngine((engine) => {
      isTaken = engine.request(request);
    });
    return isTaken;
  }

  /** Tells the model. */
  inform(text: string): void {
    this.#toEngine((engine) => engine.inform(text));
  }

  markEchoed(name: string): void {
    if (!this.#audio.playout.markEchoed(name) || name === GOODBYE_MARK) return;
    this.#toEngine((engine) => engine.markPlayed(name));
  }

  pushDtmf(digit: string): void {
    if (this.#holds.size === 0) this.#toEngine((engine) => engine.pushDtmf(digit));
  }

  /** Of no use to an engine that listens to the sound: then the words of a simulated caller are not heard. */
  pushSpokenText(segment: SpokenText): void {
    if (this.#holds.size === 0) this.#toEngine((engine) => engine.pushSpokenText?.(segment));
  }

  /** Closes the engine, which states its last facts, then the audio. Idempotent. Never throws. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#goodbyeTimer?.cancel();
    for (const part of [this.#engine, this.#audio]) {
      try {
        part?.close();
      } catch {
        this.#options.logger.error({ callId: this.#options.callId }, 'call not closed cleanly');
      }
    }
  }

  #endAfterPlayback(reason: EndReason, failure: EngineFailure | undefined): void {
    if (this.#closed || this.#goodbye !== undefined) return;
    this.#goodbye = { reason, failure };
    const { clock, onEnd, onFact } = this.#options;
    onFact({ type: 'phase.changed', phase: 'ending' });
    const { playout } = this.#audio;
    playout.mark(GOODBYE_MARK);
    const deadline = clock.now() + (playout.pushedMs - playout.playedMs) + GOODBYE_GRACE_MS;
    const look = () => {
      if (playout.playedMs >= playout.pushedMs || clock.now() >= deadline) onEnd(reason, failure);
      else this.#goodbyeTimer = clock.after(GOODBYE_LOOK_MS, look);
    };
    this.#goodbyeTimer = clock.after(0, look);
  }

  #toEngine(action: (engine: Engine) => void): void {
    const engine = this.#engine;
    if (engine !== undefined && !this.#closed) this.#try(() => action(engine));
  }

  #try(action: () => void): void {
    try {
      action();
    } catch (error) {
      this.#options.onFailure(error);
    }
  }

  #audioLine(line: VoiceLine): AudioLine {
    const { format, outboundFormat, stream } = line;
    return { format, outboundFormat, sink: new StreamSink(stream, this.#options.counters) };
  }
}

/** What the agent says, as messages of a stream. A class: an object with a getter is a hash table of its own, for each call. */
class StreamSink implements PlaybackSink {
  readonly #media: MediaEncoder;
  readonly #socket: StreamSocket;
  readonly #counters: MediaCounters;

  constructor({ media, socket }: VoiceLine['stream'], counters: MediaCounters) {
    this.#media = media;
    this.#socket = socket;
    this.#counters = counters;
  }

  sendAudio(bytes: Uint8Array): void {
    this.#counters.framesSent += 1;
    this.#socket.send(this.#media.encodeAudio(bytes));
  }

  sendMark(name: string): void {
    this.#socket.send(this.#media.encodeMark(name));
  }

  sendClear(): void {
    this.#counters.clears += 1;
    this.#socket.send(this.#media.encodeClear());
  }

  get bufferedBytes(): number {
    return this.#socket.bufferedBytes;
  }
}

/** An engine tells the time of the call. */
function onOurClock(failure: EngineFailure, beganAt: number): EngineFailure {
  const { wait } = failure;
  return wait === undefined ? failure : { ...failure, wait: onClock(wait, beganAt) };
}
