// What a simulated caller says, ready to be sent: sound, the words that go beside it, and the keys that are pressed in it.
import { resampleRecording } from './resample.js';
import { findSpeech, type Span } from './speech-spans.js';

/** Keys that are pressed `afterMs` (0) after the beginning of the speech, one every 200 ms, and while it lasts. */
export interface KeysWhileSpeaking {
  digits: string;
  afterMs?: number;
}

/** A text that is known by a sample of an utterance. */
export interface SpokenPiece {
  atSample: number;
  text: string;
  final: boolean;
  /** BCP 47 tag. */
  language?: string;
}

/** Audio that is ready to be sent: 8 kHz PCM, its texts, where it has sound, and the keys that are pressed in it. */
export interface PreparedSpeech {
  type: 'speech';
  samples: Int16Array;
  spoken: SpokenPiece[];
  sound: Span[];
  keys: { atSample: number; digit: string }[];
}

export const CALLER_RATE_HZ = 8000;
/** Between two keys. */
export const KEY_INTERVAL_MS = 200;
/** A pause in a recording that is longer than this parts two utterances. */
const UTTERANCE_PAUSE_MS = 700;

/** The words of an utterance, spread over its sound in proportion to their length, and the final text at its end. */
function spreadText(text: string, sound: readonly Span[]): SpokenPiece[] {
  const words = text.trim().split(/\s+/).filter(Boolean);
  const startMs = sound[0]?.startMs ?? 0;
  const endMs = sound.at(-1)?.endMs ?? startMs;
  const whole = words.join(' ');
  return words.map((_, index) => {
    const known = words.slice(0, index + 1).join(' ');
    const atMs = startMs + ((endMs - startMs) * known.length) / whole.length;
    return {
      atSample: Math.round((atMs * CALLER_RATE_HZ) / 1000),
      text: known,
      final: index === words.length - 1,
    };
  });
}

/** A recording, or a sentence, as it is sent. */
export function prepareSpeech(
  audio: Int16Array,
  sampleRateHz: number,
  text: string | undefined,
): PreparedSpeech {
  const samples = resampleRecording(audio, sampleRateHz, CALLER_RATE_HZ);
  const options = { sampleRateHz: CALLER_RATE_HZ, joinMs: UTTERANCE_PAUSE_MS };
  const sound = findSpeech(samples, options);
  return {
    type: 'speech',
    samples,
    sound,
    spoken: text === undefined ? [] : spreadText(text, sound),
    keys: [],
  };
}

/** Spreads keys over the pieces of a speech. What comes after its end is not pressed. */
export function pressWhile(pieces: readonly PreparedSpeech[], keys: KeysWhileSpeaking | undefined): void {
  for (const [index, digit] of [...(keys?.digits ?? '')].entries()) {
    let atSample = (((keys?.afterMs ?? 0) + index * KEY_INTERVAL_MS) * CALLER_RATE_HZ) / 1000;
    for (const piece of pieces) {
      if (atSample < piece.samples.length) {
        piece.keys.push({ atSample, digit });
        break;
      }
      atSample -= piece.samples.length;
    }
  }
}

/** As much silence is left behind a sentence as there is between words. */
const BREATH_MS = 60;

/** The sentences again and again, with no pause between them that could be taken for an end. */
export function withoutPauses(sentences: readonly PreparedSpeech[], durationMs: number): PreparedSpeech[] {
  const trimmed = sentences.flatMap(({ samples, sound, spoken }): PreparedSpeech[] => {
    const [startMs, endMs] = [sound[0]?.startMs, sound.at(-1)?.endMs];
    if (startMs === undefined || endMs === undefined) return [];
    const [from, to] = [startMs, endMs + BREATH_MS].map((ms) => (ms * CALLER_RATE_HZ) / 1000);
    return [
      {
        type: 'speech',
        samples: samples.subarray(from, to),
        sound: [{ startMs: 0, endMs: endMs - startMs }],
        spoken: spoken.map((piece) => ({ ...piece, atSample: piece.atSample - (from ?? 0) })),
        keys: [],
      },
    ];
  });
  const pieces: PreparedSpeech[] = [];
  let leftSamples = (durationMs * CALLER_RATE_HZ) / 1000;
  while (trimmed.length > 0 && leftSamples > 0) {
    const next = trimmed[pieces.length % trimmed.length];
    if (next === undefined) break;
    pieces.push(next);
    leftSamples -= next.samples.length;
  }
  return pieces;
}
