// Calls on lines that bring the agent's voice back, with voices that rise and fall as speech does.
import { CallRig, FakeVoice, lateEars, MS_PER_CHAR, type RigOptions } from './call-rig.js';

const AGENT_PEAK = 8000;
/** The recognizer writes a word so long after it was said. */
const INTERIM_MS = 250;
const FRAME = 320;

/** A text as sound: its vowels are loud, and nothing is heard between its words. */
export function spoken(text: string, peak: number, msPerChar: number): Int16Array<ArrayBuffer> {
  const perChar = msPerChar * 16;
  return Int16Array.from({ length: text.length * perChar }, (_, at) => {
    const char = (text[Math.floor(at / perChar)] ?? ' ').toLowerCase();
    if (!/[a-z]/.test(char)) return 0;
    return peak * (/[aeiou]/.test(char) ? 1 : 0.1 + ((char.charCodeAt(0) * 7) % 13) / 40);
  });
}

class SpokenVoice extends FakeVoice {
  override open() {
    const { spoken: told } = this;
    return {
      async *synthesize(text: string): AsyncGenerator<Int16Array<ArrayBuffer>> {
        told.push(text);
        yield spoken(text, AGENT_PEAK, MS_PER_CHAR);
      },
      close() {},
    };
  }
}

export interface LineOptions extends RigOptions {
  /** How much lower than it was the agent's voice comes back, and after which time. */
  lossDb?: number;
  delayMs?: number;
}

export class LineRig extends CallRig {
  readonly #gain: number;
  readonly #delayFrames: number;
  /** How many bytes were heard at each frame. */
  readonly #heardAt = [0];

  constructor({ lossDb = Number.POSITIVE_INFINITY, delayMs = 0, ...options }: LineOptions = {}) {
    super({ voice: new SpokenVoice(), ears: lateEars(), ...options });
    this.#gain = 10 ** (-lossDb / 20);
    this.#delayFrames = Math.round(delayMs / 20);
  }

  /** Time passes, with this of the caller. */
  async passes(ms: number, own: Int16Array = new Int16Array(0), from = 0): Promise<void> {
    for (let at = from; at < from + ms * 16; at += FRAME) {
      await this.clock.advanceAsync(20);
      const echo = this.#echo();
      this.engine.pushAudio(
        Int16Array.from({ length: FRAME }, (_, index) => (own[at + index] ?? 0) + (echo[index] ?? 0)),
      );
      await this.clock.advanceAsync(0);
    }
  }

  /** The caller speaks `lossDb` lower than the agent, and their words are recognized one by one. */
  async speaks(text: string, { lossDb = 0, msPerChar = 60 } = {}): Promise<void> {
    await this.#recognized(text, spoken(text, AGENT_PEAK * 10 ** (-lossDb / 20), msPerChar), msPerChar);
  }

  /** The recognizer takes what comes back for `text`. */
  async echoes(text: string, msPerChar = MS_PER_CHAR): Promise<void> {
    await this.#recognized(text, new Int16Array(0), msPerChar);
  }

  async #recognized(text: string, own: Int16Array, msPerChar: number): Promise<void> {
    let at = 0;
    let said = '';
    for (const word of text.split(' ')) {
      said = `${said} ${word}`.trim();
      const until = said.length * msPerChar + INTERIM_MS;
      const ms = Math.ceil((until - at) / 20) * 20;
      await this.passes(ms, own, at * 16);
      at += ms;
      this.ears.events.partial(said);
    }
    await this.passes(500);
    this.ears.events.final(text);
  }

  #echo(): Int16Array {
    const heard = this.player.heard();
    this.#heardAt.push(heard.length);
    const index = this.#heardAt.length - 1 - this.#delayFrames;
    const bytes = heard.subarray(this.#heardAt[index - 1] ?? 0, this.#heardAt[index] ?? 0);
    return new Int16Array(Uint8Array.from(bytes).buffer).map((sample) => sample * this.#gain);
  }
}
