// When ElevenLabs says which character: reads the alignment of a message, and finds its place in the text that was handed over.
// Source: ElevenLabs, text-to-speech WebSocket reference; the vendor's examples and servers spell two of the names in both ways.
import { toArray, toNumber, toObject, toText } from '../../wire/json.js';
import type { SpokenPiece } from '../../text-to-speech.js';

/** One UTF-16 unit that is said, with its time in the audio of its message. */
interface TimedUnit {
  readonly unit: string;
  readonly startMs: number;
  readonly endMs: number;
}

export interface Alignment {
  /** All characters, blanks included. */
  readonly characters: string;
  /** Those that are no blanks; empty when the times are missing, or cannot be true. */
  readonly units: readonly TimedUnit[];
}

/** Reads an alignment. Never throws; malformed input is ignored. */
export function readAlignment(value: unknown): Alignment {
  const { chars, charStartTimesMs, charsStartTimesMs, charDurationsMs, charsDurationsMs } =
    toObject(value) ?? {};
  const texts = toArray(chars).map(toText);
  const starts = toArray(charStartTimesMs ?? charsStartTimesMs).map(toNumber);
  const durations = toArray(charDurationsMs ?? charsDurationsMs).map(toNumber);
  const characters = texts.join('');
  if (starts.length !== texts.length || durations.length !== texts.length) return { characters, units: [] };
  const units: TimedUnit[] = [];
  let lastMs = 0;
  for (const [position, text] of texts.entries()) {
    const [startMs, durationMs] = [starts[position] ?? -1, durations[position] ?? -1];
    if (startMs < lastMs || durationMs < 0) return { characters, units: [] };
    lastMs = startMs;
    for (const unit of unitsOf(text)) units.push({ unit: unit.folded, startMs, endMs: startMs + durationMs });
  }
  return { characters, units };
}

/** A text whose characters are said in their order, by one alignment after the other. */
export class AlignedText {
  readonly #units: readonly { folded: string; index: number }[];
  /** All of them in a row, and how many have their time. */
  readonly #row: string;
  #placed = 0;
  readonly #text: string;
  /** What was said, as long as it is the text. */
  #said: string | undefined = '';

  constructor(text: string) {
    this.#text = `${text} `;
    this.#units = unitsOf(text);
    this.#row = this.#units.map(({ folded }) => folded).join('');
  }

  /**
   * The pieces of the text that the alignment is about; `fromMs` is where the audio of its message begins. It goes on where the last
   * one ended, or, when one is missing between, at the only place further on where its characters stand. What fits nowhere, like
   * numbers in words, gives nothing.
   */
  place({ units }: Alignment, fromMs: number): SpokenPiece[] {
    const row = units.map(({ unit }) => unit).join('');
    if (row === '') return [];
    const at = this.#row.startsWith(row, this.#placed) ? this.#placed : this.#onlyPlaceOf(row);
    if (at === undefined) return [];
    this.#placed = at + row.length;
    return units.flatMap(({ startMs, endMs }, position) => {
      const index = this.#units[at + position]?.index;
      if (index === undefined) return [];
      return [{ start: index, end: index + 1, startMs: startMs + fromMs, endMs: endMs + fromMs }];
    });
  }

  /** How far in the text one comes whose characters follow those before; undefined once they are not of it. */
  follow({ characters }: Alignment): number | undefined {
    const said = this.#said === undefined ? undefined : `${this.#said}${characters}`.trimStart();
    this.#said = said !== undefined && this.#text.startsWith(said) ? said : undefined;
    return this.#said?.length;
  }

  #onlyPlaceOf(row: string): number | undefined {
    const first = this.#row.indexOf(row, this.#placed);
    return first !== -1 && first === this.#row.lastIndexOf(row) ? first : undefined;
  }
}

/** What is said of a text, unit by unit: without blanks, whose number may differ, and without its case. */
function unitsOf(text: string): { folded: string; index: number }[] {
  return text.split('').flatMap((unit, index) => {
    const folded = unit.toLowerCase().charAt(0);
    return /\s/.test(unit) ? [] : [{ folded, index }];
  });
}
