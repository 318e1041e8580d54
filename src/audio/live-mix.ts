// What is heard on a line, as one stereo stream a moment later: the caller left, the agent right as the caller hears it.
//
// What a line carries comes early or late: the agent's audio before it sounds, the caller's now and then in bunches. So everything is held
// back for a moment, in which it finds its place, is cut, or turns out to be a secret.
import type { TranscoderBackend } from '../transcoder/backend.js';
import { createInboundConverter, type InboundConverter } from './converter.js';
import { type AudioFormat, PCM_16K } from './format.js';
import type { LineTape } from './line-tape.js';
import { toBytes } from './pcm-bytes.js';

const SAMPLES_PER_MS = PCM_16K.sampleRateHz / 1000;
const CHANNELS = 2;
const CALLER = 0;
const AGENT = 1;

/** How far ahead the agent's audio may be: the pacer's lead, and the longest lag. */
const AHEAD_MS = 2000;
/** A smaller difference is left alone: each that is not is a click. */
const SLACK = 10 * SAMPLES_PER_MS;
/** The caller's audio that is never in time for so long will not be again: what is missing was lost. */
const LOSS_AFTER = 1000 * SAMPLES_PER_MS;
/** A mark that comes later says more of the network than of the ear. */
const LONGEST_LAG_MS = 1000;

export interface LiveMixOptions {
  readonly backend: TranscoderBackend;
  /** How long everything is held back. */
  readonly delayMs: number;
  /** The caller's audio that is later than this is heard when it comes. @default delayMs */
  readonly patienceMs?: number;
  /** When it begins. */
  readonly nowMs: number;
}

/** Times are milliseconds on the clock of the call. No method but the constructor's may be called after `close`. */
export class LiveMix implements LineTape {
  readonly #options: LiveMixOptions;
  readonly #held: HeldSound;
  readonly #caller: CallerTrack;
  readonly #agent: AgentTrack;
  #inbound: InboundConverter | undefined;
  #outbound: InboundConverter | undefined;
  #isPaused = false;

  constructor(options: LiveMixOptions) {
    const { delayMs, patienceMs = delayMs, nowMs } = options;
    this.#options = options;
    this.#held = new HeldSound(toSamples(nowMs - delayMs), toSamples(delayMs + AHEAD_MS));
    this.#caller = new CallerTrack(this.#held, toSamples(patienceMs));
    this.#agent = new AgentTrack(this.#held);
  }

  /** @throws TranscoderError for a rate that is not offered; nothing is heard then. */
  line(inbound: AudioFormat, outbound: AudioFormat): void {
    this.close();
    const { backend } = this.#options;
    this.#inbound = createInboundConverter(inbound, backend);
    try {
      this.#outbound = createInboundConverter(outbound, backend);
    } catch (error) {
      this.close();
      throw error;
    }
    this.#caller.reset();
    this.#agent.reset();
  }

  /** @throws what the decoder throws */
  caller(bytes: Uint8Array, atMs: number): void {
    if (this.#inbound === undefined || this.#isPaused) return;
    this.#caller.hear(this.#inbound.convert(bytes), toSamples(atMs));
  }

  /** @throws what the decoder throws */
  agent(bytes: Uint8Array, atMs: number): void {
    const outbound = this.#outbound;
    if (outbound === undefined || this.#isPaused) return;
    const at = toSamples(atMs);
    if (!this.#agent.continuesAt(at)) {
      outbound.reset();
      this.#agent.begin(at);
    }
    this.#agent.speak(outbound.convert(bytes));
  }

  cut(atMs: number): void {
    this.#agent.cut(toSamples(atMs));
  }

  lag(_atMs: number, lagMs: number): void {
    if (lagMs <= LONGEST_LAG_MS) this.#agent.lags(toSamples(lagMs));
  }

  /** Nothing is heard from `atMs` on, which may be a moment ago: of what was given out already, nothing is taken back. */
  pause(atMs: number): void {
    this.#isPaused = true;
    for (const channel of [CALLER, AGENT]) this.#held.silence(channel, toSamples(atMs));
  }

  resume(atMs: number): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#held.closeUntil(toSamples(atMs));
    this.#inbound?.reset();
    this.#caller.reset();
    this.#agent.reset();
  }

  /** What has come out since the last time, as interleaved little-endian samples of 16 bits: the receiver's to keep. */
  take(nowMs: number): Uint8Array {
    return toBytes(this.#held.take(toSamples(nowMs - this.#options.delayMs)));
  }

  /** Frees the converters. Idempotent. */
  close(): void {
    this.#inbound?.close();
    this.#outbound?.close();
    this.#inbound = undefined;
    this.#outbound = undefined;
  }
}

/** Both channels of the moment that is held back. Times are in samples. */
class HeldSound {
  readonly #ring: Int16Array;
  readonly #length: number;
  /** The first sample that is still here. */
  #from: number;
  /** Nothing is put before it. */
  #closedUntil = Number.NEGATIVE_INFINITY;

  constructor(from: number, length: number) {
    this.#from = from;
    this.#length = length;
    this.#ring = new Int16Array(length * CHANNELS);
  }

  closeUntil(at: number): void {
    this.#closedUntil = at;
  }

  /** What is too late for its place, or too early to be kept, is dropped. */
  put(channel: number, at: number, pcm: Int16Array): void {
    const end = Math.min(pcm.length, this.#from + this.#length - at);
    for (let index = Math.max(0, this.#opensAt - at); index < end; index += 1)
      this.#ring[this.#placeOf(channel, at + index)] = pcm[index] ?? 0;
  }

  /** Moves what is held from `from` up to `to` by so many samples to the front. */
  advance(channel: number, { from, to }: { from: number; to: number }, samples: number): void {
    const end = Math.min(to, this.#from + this.#length);
    for (let at = Math.max(from, this.#from); at < end; at += 1) {
      const place = this.#placeOf(channel, at);
      if (at - samples >= this.#opensAt)
        this.#ring[this.#placeOf(channel, at - samples)] = this.#ring[place] ?? 0;
      this.#ring[place] = 0;
    }
  }

  silence(channel: number, from: number): void {
    for (let at = Math.max(from, this.#from); at < this.#from + this.#length; at += 1)
      this.#ring[this.#placeOf(channel, at)] = 0;
  }

  /** Everything up to `until`, or as much as is held. */
  take(until: number): Int16Array {
    const count = Math.max(0, Math.min(until - this.#from, this.#length));
    const taken = new Int16Array(count * CHANNELS);
    const start = this.#placeOf(CALLER, this.#from);
    const first = Math.min(taken.length, this.#ring.length - start);
    taken.set(this.#ring.subarray(start, start + first));
    taken.set(this.#ring.subarray(0, taken.length - first), first);
    this.#ring.fill(0, start, start + first);
    this.#ring.fill(0, 0, taken.length - first);
    this.#from += count;
    return taken;
  }

  get #opensAt(): number {
    return Math.max(this.#from, this.#closedUntil);
  }

  #placeOf(channel: number, at: number): number {
    const index = at % this.#length;
    return (index < 0 ? index + this.#length : index) * CHANNELS + channel;
  }
}

/** Audio of the caller: one piece, of which some comes late, and none before it was said. */
class CallerTrack {
  readonly #held: HeldSound;
  /** What is later than this is too late for its place. */
  readonly #patience: number;
  /** Where the piece begins; undefined before the first audio. */
  #from: number | undefined;
  #next = 0;
  /** How late audio was at the least since `#since`. */
  #leastLate = Number.POSITIVE_INFINITY;
  #since = 0;

  constructor(held: HeldSound, patience: number) {
    this.#held = held;
    this.#patience = patience;
  }

  /** What comes next is another piece. */
  reset(): void {
    this.#from = undefined;
  }

  hear(pcm: Int16Array, cameAt: number): void {
    const latest = cameAt - pcm.length;
    if (this.#from === undefined || latest - this.#next > this.#patience) this.#begin(latest, cameAt);
    const late = latest - this.#next;
    if (late < -SLACK) this.#advance(-late);
    this.#leastLate = Math.min(this.#leastLate, Math.max(0, late));
    if (cameAt - this.#since >= LOSS_AFTER) {
      const lost = this.#leastLate;
      this.#leastLate = Number.POSITIVE_INFINITY;
      this.#since = cameAt;
      if (lost > SLACK) this.#begin(this.#next + lost, cameAt);
    }
    this.#held.put(CALLER, this.#next, pcm);
    this.#next += pcm.length;
  }

  #begin(at: number, cameAt: number): void {
    this.#from = at;
    this.#next = at;
    this.#leastLate = Number.POSITIVE_INFINITY;
    this.#since = cameAt;
  }

  /** What comes now was said before the place where it would stand: so was everything before it. */
  #advance(samples: number): void {
    const { from, to } = { from: this.#from ?? this.#next, to: this.#next };
    this.#held.advance(CALLER, { from, to }, samples);
    this.#from = from - samples;
    this.#next -= samples;
  }
}

/** Audio of the agent: where the playback clock has it, and as much later as marks were. */
class AgentTrack {
  readonly #held: HeldSound;
  /** Where the next audio is to sound, if it goes on; undefined where it cannot. */
  #next: number | undefined;
  /** How much later than that the audio that goes on is heard. */
  #shift = 0;
  /** What is before it is taken. */
  #end = Number.NEGATIVE_INFINITY;
  /** As marks have told it, the least since sound began. */
  #lag = 0;
  #isLagOld = true;

  constructor(held: HeldSound) {
    this.#held = held;
  }

  /** What comes next does not go on. */
  reset(): void {
    this.#next = undefined;
  }

  continuesAt(at: number): boolean {
    return this.#next !== undefined && Math.abs(at - this.#next) <= SLACK;
  }

  /** Sounds lie one behind the other. */
  begin(at: number): void {
    this.#next = at;
    this.#shift = Math.max(this.#lag, this.#end - at);
    this.#isLagOld = true;
  }

  speak(pcm: Int16Array): void {
    if (this.#next === undefined) return;
    this.#held.put(AGENT, this.#next + this.#shift, pcm);
    this.#next += pcm.length;
    this.#end = this.#next + this.#shift;
  }

  cut(at: number): void {
    const heard = at + this.#shift;
    this.#held.silence(AGENT, heard);
    this.#end = Math.min(this.#end, heard);
    this.#next = undefined;
  }

  /** What delays a mark on its way delays no sound: the least counts. */
  lags(samples: number): void {
    this.#lag = this.#isLagOld ? samples : Math.min(this.#lag, samples);
    this.#isLagOld = false;
  }
}

function toSamples(ms: number): number {
  return Math.round(ms * SAMPLES_PER_MS);
}
