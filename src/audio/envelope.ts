// How loud both sides of a call were over time, in a size that does not grow with the call. Keeps no audio.

/** Buckets of a channel are at most this many; when they are full, two become one. */
const MAX_BUCKETS = 2000;
const FIRST_BUCKET_MS = 20;
const MAX_TICKS = 500;
/** A caller's frame that comes earlier or later than this belongs where it came, not behind the one before. */
const SLACK_MS = 200;

/** Sides of a call. */
export type EnvelopeSide = 'caller' | 'agent';

/** The envelope as records show it, but for the time that it begins. */
export interface EnvelopePicture {
  readonly bucketMs: number;
  /** Base64 of signed bytes: least and greatest sample of bucket 0, of bucket 1, … in 1/128 of full scale. */
  readonly caller: string;
  readonly agent: string;
  /** Milliseconds since the beginning. */
  readonly marksMs: number[];
  readonly clearsMs: number[];
}

/** Takes 20 ms frames by the time at which they sound, in milliseconds since the beginning of the call's audio. */
export class EnvelopeMeter {
  readonly #sides: Readonly<Record<EnvelopeSide, Int8Array>> = {
    caller: new Int8Array(2 * MAX_BUCKETS),
    agent: new Int8Array(2 * MAX_BUCKETS),
  };
  readonly #used: Record<EnvelopeSide, number> = { caller: 0, agent: 0 };
  readonly #marksMs: number[] = [];
  readonly #clearsMs: number[] = [];
  #bucketMs = FIRST_BUCKET_MS;
  #callerAtMs = 0;

  get isEmpty(): boolean {
    return this.#used.caller === 0 && this.#used.agent === 0;
  }

  /** A frame of the caller that came at `atMs`. What comes in bunches is spread out again. */
  hear(frame: Int16Array, atMs: number): void {
    this.#add('caller', frame, this.#startOf(atMs));
  }

  /** The same of bytes that stand for `levels`. */
  hearBytes(bytes: Uint8Array, levels: Int8Array, atMs: number): void {
    this.#addBytes('caller', bytes, levels, this.#startOf(atMs));
  }

  /** A frame of the agent that the caller hears at `atMs`. */
  speak(frame: Int16Array, atMs: number): void {
    this.#add('agent', frame, atMs);
  }

  /** The same of bytes that stand for `levels`. */
  speakBytes(bytes: Uint8Array, levels: Int8Array, atMs: number): void {
    this.#addBytes('agent', bytes, levels, atMs);
  }

  /** A mark came back. */
  markHeard(atMs: number): void {
    if (this.#marksMs.length < MAX_TICKS) this.#marksMs.push(Math.round(atMs));
  }

  /** The agent was cut off: what would have sounded after `atMs` did not. */
  cut(atMs: number): void {
    if (this.#clearsMs.length < MAX_TICKS) this.#clearsMs.push(Math.round(atMs));
    const from = Math.max(0, Math.ceil(atMs / this.#bucketMs));
    if (from >= this.#used.agent) return;
    this.#sides.agent.fill(0, 2 * from, 2 * this.#used.agent);
    this.#used.agent = from;
  }

  picture(): EnvelopePicture {
    const encode = (side: EnvelopeSide) =>
      Buffer.from(this.#sides[side].buffer, 0, 2 * this.#used[side]).toString('base64');
    return {
      bucketMs: this.#bucketMs,
      caller: encode('caller'),
      agent: encode('agent'),
      marksMs: [...this.#marksMs],
      clearsMs: [...this.#clearsMs],
    };
  }

  /** When a frame of the caller belongs that came at `atMs`. */
  #startOf(atMs: number): number {
    const startMs = Math.abs(atMs - this.#callerAtMs) > SLACK_MS ? atMs : this.#callerAtMs;
    this.#callerAtMs = startMs + FIRST_BUCKET_MS;
    return startMs;
  }

  #add(side: EnvelopeSide, frame: Int16Array, atMs: number): void {
    let least = 0;
    let greatest = 0;
    // Several times as fast as with the iterator of the array.
    for (let index = 0; index < frame.length; index += 1) {
      const sample = frame[index] ?? 0;
      if (sample < least) least = sample;
      else if (sample > greatest) greatest = sample;
    }
    this.#note(side, least >> 8, greatest >> 8, atMs);
  }

  #addBytes(side: EnvelopeSide, bytes: Uint8Array, levels: Int8Array, atMs: number): void {
    let least = 0;
    let greatest = 0;
    for (let index = 0; index < bytes.length; index += 1) {
      const level = levels[bytes[index] ?? 0] ?? 0;
      if (level < least) least = level;
      else if (level > greatest) greatest = level;
    }
    this.#note(side, least, greatest, atMs);
  }

  #note(side: EnvelopeSide, least: number, greatest: number, atMs: number): void {
    if (!(atMs >= 0)) return;
    while (atMs / this.#bucketMs >= MAX_BUCKETS) this.#halve();
    const bucket = Math.floor(atMs / this.#bucketMs);
    const values = this.#sides[side];
    const at = 2 * bucket;
    if (least < (values[at] ?? 0)) values[at] = least;
    if (greatest > (values[at + 1] ?? 0)) values[at + 1] = greatest;
    if (bucket >= this.#used[side]) this.#used[side] = bucket + 1;
  }

  #halve(): void {
    this.#bucketMs *= 2;
    for (const side of ['caller', 'agent'] as const) {
      const values = this.#sides[side];
      for (let bucket = 0; bucket < MAX_BUCKETS / 2; bucket += 1) {
        const from = 4 * bucket;
        values[2 * bucket] = Math.min(values[from] ?? 0, values[from + 2] ?? 0);
        values[2 * bucket + 1] = Math.max(values[from + 1] ?? 0, values[from + 3] ?? 0);
      }
      values.fill(0, MAX_BUCKETS);
      this.#used[side] = Math.ceil(this.#used[side] / 2);
    }
  }
}
