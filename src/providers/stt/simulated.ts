// Speech recognition for calls without a recognizer: the words come beside the audio, from the caller who is simulated, too.
import { FREE } from '../../contract/price.js';
import type {
  SpeechToText,
  SpeechToTextContext,
  SpeechToTextEvents,
  SpeechToTextSession,
  SpokenText,
} from '../speech-to-text.js';
import { isLoud } from '../../audio/pcm-bytes.js';

export interface SimulatedSpeechToTextOptions {
  /** Text of speech that came without words. @default '[speech]' */
  readonly placeholder?: string;
}

/** Text of a turn whose words nobody told. */
export const SPEECH_PLACEHOLDER = '[speech]';

const LOUD_FRAMES = 3;

/** A silence of 1.5 s parts two utterances even when nobody asked for the first. */
const PAUSE_FRAMES = 75;

/** Takes its text from `pushSpokenText`. Sound that no text belongs to becomes a placeholder, so that it gets an answer, too. */
export class SimulatedSpeechToText implements SpeechToText {
  readonly kind = 'stt';
  readonly name = 'simulated';
  readonly price = FREE;
  readonly #placeholder: string;

  constructor(options: SimulatedSpeechToTextOptions = {}) {
    this.#placeholder = options.placeholder ?? SPEECH_PLACEHOLDER;
  }

  /** A simulated caller says what they speak. */
  languageObstacle(): undefined {
    return undefined;
  }

  open(context: SpeechToTextContext): SpeechToTextSession {
    return new SimulatedSession(context.events, this.#placeholder);
  }
}

class SimulatedSession implements SpeechToTextSession {
  readonly #events: SpeechToTextEvents;
  readonly #placeholder: string;
  #loudFrames = 0;
  #quietFrames = 0;
  #framesSinceText = 0;
  #texted = false;
  #open: SpokenText | undefined;
  /** The last utterance that was given out, and how much of it. */
  #given: { id: string; text: string } = { id: '', text: '' };
  /** A placeholder stands for the last utterance: text that comes now, without new sound, is late. */
  #replaced = false;
  #closed = false;

  constructor(events: SpeechToTextEvents, placeholder: string) {
    this.#events = events;
    this.#placeholder = placeholder;
  }

  pushAudio(frame: Int16Array): void {
    this.#framesSinceText += 1;
    if (!isLoud(frame)) {
      this.#quietFrames += 1;
      return;
    }
    // What was said before a long silence is done with. Text that came in the silence announces this sound.
    if (this.#quietFrames >= PAUSE_FRAMES && this.#framesSinceText >= this.#quietFrames) {
      this.#loudFrames = 0;
      this.#texted = false;
    }
    this.#quietFrames = 0;
    this.#loudFrames += 1;
    if (this.#heard) this.#replaced = false;
  }

  pushSpokenText(segment: SpokenText): void {
    if (this.#closed) return;
    if (this.#replaced) {
      if (segment.final) this.#given = { id: segment.id, text: segment.text };
      return;
    }
    const text = this.#news(segment);
    if (text === '') return;
    this.#texted = true;
    this.#framesSinceText = 0;
    if (segment.final) this.#give(segment, text);
    else {
      this.#open = segment;
      this.#events.partial(text);
    }
  }

  finishUtterance(): void {
    if (this.#closed) return;
    const open = this.#open;
    const wordless = this.#heard && !this.#texted;
    this.#loudFrames = 0;
    this.#texted = false;
    if (open !== undefined) this.#give(open, this.#news(open));
    else if (wordless) {
      this.#replaced = true;
      this.#events.final(this.#placeholder);
    }
  }

  close(): void {
    this.#closed = true;
  }

  get #heard(): boolean {
    return this.#loudFrames >= LOUD_FRAMES;
  }

  #give(segment: SpokenText, text: string): void {
    this.#open = undefined;
    this.#given = { id: segment.id, text: segment.text };
    const { language: tag } = segment;
    this.#events.final(text, tag === undefined ? undefined : { tag });
  }

  /** What of a text was not given out before: an utterance may go on after a pause in which a turn has taken its first part. */
  #news({ id, text }: SpokenText): string {
    const given = id === this.#given.id ? this.#given.text.trim() : '';
    const said = text.trim();
    return said.startsWith(given) ? said.slice(given.length).trim() : '';
  }
}
