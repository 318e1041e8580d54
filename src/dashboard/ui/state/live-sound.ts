// Plays the sound of a live call as it comes: a WAV file without an end, of which each piece is scheduled behind the one before. Knows
// neither the page nor who asked.

/** Source: RIFF WAVE; what the server sends has this header, and samples of 16 bits in two channels behind it. */
const HEADER_BYTES = 44;
const RATE_OFFSET = 24;
const CHANNELS = 2;
const FRAME_BYTES = 2 * CHANNELS;
const SAMPLE_RATE_HZ = 16_000;

/** Sound begins so much later than it arrives: the next piece may be late by that. */
const RESERVE_SECONDS = 0.25;
/** More than that waits only where the network stood still: what comes is left out until it is less. */
const MOST_SECONDS = 0.75;

/** Whole frames of what arrives in pieces of any length. */
export class FrameReader {
  #rest = new Uint8Array(0);
  #sampleRateHz: number | undefined;

  /** Undefined until the header was read. */
  get sampleRateHz(): number | undefined {
    return this.#sampleRateHz;
  }

  /** Both channels, from -1 to 1; empty where there is no whole frame. */
  read(bytes: Uint8Array): { left: Float32Array<ArrayBuffer>; right: Float32Array<ArrayBuffer> } {
    let all = new Uint8Array(this.#rest.length + bytes.length);
    all.set(this.#rest);
    all.set(bytes, this.#rest.length);
    if (this.#sampleRateHz === undefined && all.length >= HEADER_BYTES) {
      this.#sampleRateHz = new DataView(all.buffer).getUint32(RATE_OFFSET, true);
      all = all.slice(HEADER_BYTES);
    }
    const count = this.#sampleRateHz === undefined ? 0 : Math.floor(all.length / FRAME_BYTES);
    this.#rest = all.slice(count * FRAME_BYTES);
    const view = new DataView(all.buffer);
    const [left, right] = [new Float32Array(count), new Float32Array(count)];
    for (let index = 0; index < count; index += 1) {
      left[index] = view.getInt16(index * FRAME_BYTES, true) / 32_768;
      right[index] = view.getInt16(index * FRAME_BYTES + 2, true) / 32_768;
    }
    return { left, right };
  }
}

/** To be made while somebody presses something, or browsers let it make no sound. */
export class LiveSpeaker {
  readonly #audio = new AudioContext({ sampleRate: SAMPLE_RATE_HZ });
  readonly #out = this.#audio.createGain();
  readonly #frames = new FrameReader();
  /** Where the next piece begins, on the clock of the audio. */
  #nextAt = 0;

  constructor() {
    this.#out.connect(this.#audio.destination);
    this.#audio.resume().catch(() => {});
  }

  /** How much later than it arrived sound is heard, in milliseconds. */
  get delayMs(): number {
    return Math.max(0, this.#nextAt - this.#audio.currentTime) * 1000;
  }

  /** Both sides in both ears. */
  set isMixed(isMixed: boolean) {
    this.#out.channelCount = isMixed ? 1 : CHANNELS;
    this.#out.channelCountMode = isMixed ? 'explicit' : 'max';
  }

  play(bytes: Uint8Array): void {
    const { left, right } = this.#frames.read(bytes);
    const { sampleRateHz } = this.#frames;
    if (sampleRateHz === undefined || left.length === 0) return;
    // Its time stands still until the browser lets it sound.
    if (this.#audio.state !== 'running') return;
    const now = this.#audio.currentTime;
    if (this.#nextAt - now > MOST_SECONDS) return;
    if (this.#nextAt < now) this.#nextAt = now + RESERVE_SECONDS;
    const buffer = this.#audio.createBuffer(CHANNELS, left.length, sampleRateHz);
    buffer.copyToChannel(left, 0);
    buffer.copyToChannel(right, 1);
    const source = this.#audio.createBufferSource();
    source.buffer = buffer;
    source.connect(this.#out);
    source.start(this.#nextAt);
    this.#nextAt += buffer.duration;
  }

  /** At once. Idempotent. */
  close(): void {
    if (this.#audio.state !== 'closed') this.#audio.close().catch(() => {});
  }
}
