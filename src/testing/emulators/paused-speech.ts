// Tone speech that is not even: it halts behind punctuation, and says of each character when it sounds.
import { speakInTones } from '../tone-voice.js';

export interface PausedSpeechOptions {
  readonly sampleRateHz: number;
  readonly msPerCharacter: number;
  /** Silence behind a comma, semicolon, colon or dash, in milliseconds. It belongs to the character before it. */
  readonly pauseMs: number;
}

export interface TimedCharacter {
  readonly character: string;
  readonly startMs: number;
  readonly durationMs: number;
}

export interface PausedSpeech {
  readonly pcm: Int16Array;
  readonly characters: readonly TimedCharacter[];
}

const HALTS = /[,;:–—]/;

/** Speaks a text with its pauses; without any it is the tone voice itself. */
export function speakWithPauses(text: string, options: PausedSpeechOptions): PausedSpeech {
  const { sampleRateHz, msPerCharacter, pauseMs } = options;
  const toSamples = (ms: number) => Math.round((ms * sampleRateHz) / 1000);
  const characters: TimedCharacter[] = [];
  const pieces: { pcm: Int16Array; at: number }[] = [];
  let piece = '';
  let pieceMs = 0;
  let nowMs = 0;
  const endPiece = () => {
    pieces.push({ pcm: speakInTones(piece, { sampleRateHz, msPerCharacter }), at: toSamples(pieceMs) });
    piece = '';
    pieceMs = nowMs;
  };
  for (const character of text.split('')) {
    const haltMs = HALTS.test(character) ? pauseMs : 0;
    const durationMs = msPerCharacter + haltMs;
    characters.push({ character, startMs: nowMs, durationMs });
    piece += character;
    nowMs += durationMs;
    if (haltMs > 0) endPiece();
  }
  endPiece();
  const pcm = new Int16Array(toSamples(nowMs));
  for (const { pcm: sound, at } of pieces) pcm.set(sound.subarray(0, pcm.length - at), at);
  return { pcm, characters };
}
