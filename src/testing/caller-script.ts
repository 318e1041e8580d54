// What a simulated caller does, and its preparation: all speech is synthesised before the call, so that its timing never depends on the machine.
import type { TextToSpeechSession } from '../providers/text-to-speech.js';
import { resampleRecording } from './resample.js';
import { checkScript } from './script-checks.js';
import { findSpeech, type Span } from './speech-spans.js';

/** One thing that the caller does. Steps run one after the other. */
export type CallerStep =
  /** Speaks with a synthetic voice. The text also goes beside the audio, for the simulated speech-to-text. */
  | { type: 'say'; text: string; voice?: string }
  /** Plays a recording, 16-bit PCM. With `text` its words go beside the audio; without it nothing does. */
  | { type: 'play'; samples: Int16Array; sampleRateHz: number; text?: string }
  /** Silence. */
  | { type: 'pause'; durationMs: number }
  /** Waits until the agent has spoken and been quiet for `quietMs` (1000). One that has not begun after `timeoutMs` (15000) is not waited for. */
  | { type: 'wait-for-agent'; quietMs?: number; timeoutMs?: number }
  /** Waits until the agent has been heard speaking for `afterMs`: the next step talks over it. The same `timeoutMs`. */
  | { type: 'interrupt'; afterMs: number; timeoutMs?: number }
  /** Presses keys, `0-9 A-D # *`, one every 200 ms. */
  | { type: 'press'; digits: string }
  /** Ends the call; `abrupt` without a word, as a broken connection does. Implied at the end, after the agent has finished. */
  | { type: 'hang-up'; abrupt?: boolean };

/** A text that is known by a sample of an utterance. */
export interface SpokenPiece {
  atSample: number;
  text: string;
  final: boolean;
}

/** Audio that is ready to be sent: 8 kHz PCM, its texts, and where it has sound. */
export interface PreparedSpeech {
  type: 'speech';
  samples: Int16Array;
  spoken: SpokenPiece[];
  sound: Span[];
}

export type PreparedStep = PreparedSpeech | Exclude<CallerStep, { type: 'say' | 'play' }>;

/** Opens the voice of that name, or the default one. The owner closes the session. */
export type OpenVoice = (voice: string | undefined) => TextToSpeechSession | Promise<TextToSpeechSession>;

export const CALLER_RATE_HZ = 8000;
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

function prepareSpeech(audio: Int16Array, sampleRateHz: number, text: string | undefined): PreparedSpeech {
  const samples = resampleRecording(audio, sampleRateHz, CALLER_RATE_HZ);
  const options = { sampleRateHz: CALLER_RATE_HZ, joinMs: UTTERANCE_PAUSE_MS };
  const sound = findSpeech(samples, options);
  return { type: 'speech', samples, sound, spoken: text === undefined ? [] : spreadText(text, sound) };
}

async function synthesize(
  session: TextToSpeechSession,
  text: string,
  signal: AbortSignal,
): Promise<Int16Array> {
  const chunks: Int16Array[] = [];
  for await (const chunk of session.synthesize(text, signal)) chunks.push(chunk.slice());
  const joined = new Int16Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0));
  let offset = 0;
  for (const chunk of chunks) {
    joined.set(chunk, offset);
    offset += chunk.length;
  }
  return joined;
}

/** A long text in pieces that a voice takes at once: whole sentences where possible, never over 280 characters. */
export function splitForVoice(text: string): string[] {
  const pieces: string[] = [];
  for (const word of text.trim().split(/\s+/).filter(Boolean)) {
    const last = pieces.at(-1);
    const sentenceOver = last !== undefined && /[.!?]$/.test(last);
    if (last === undefined || sentenceOver || last.length + word.length > 279)
      pieces.push(word.slice(0, 280));
    else pieces[pieces.length - 1] = `${last} ${word}`;
  }
  return pieces;
}

/** Turns steps into audio. @throws ConfigError for a step that cannot be done, ProviderError when the voice fails. */
export async function prepareScript(
  steps: readonly CallerStep[],
  context: { openVoice: OpenVoice; signal: AbortSignal },
): Promise<PreparedStep[]> {
  checkScript(steps);
  const voices = new Map<string | undefined, TextToSpeechSession>();
  const prepared: PreparedStep[] = [];
  // A voice's thread keeps no process alive; somebody who waits for a caller to be ready must.
  const keptAlive = setInterval(() => {}, 60_000);
  try {
    for (const step of steps) {
      if (step.type === 'say') {
        const session = voices.get(step.voice) ?? (await context.openVoice(step.voice));
        voices.set(step.voice, session);
        for (const sentence of splitForVoice(step.text)) {
          const audio = await synthesize(session, sentence, context.signal);
          prepared.push(prepareSpeech(audio, 16_000, sentence));
        }
      } else if (step.type === 'play') {
        prepared.push(prepareSpeech(step.samples, step.sampleRateHz, step.text));
      } else {
        prepared.push(step);
      }
    }
  } finally {
    clearInterval(keptAlive);
    for (const session of voices.values()) session.close();
  }
  if (prepared.at(-1)?.type !== 'hang-up') {
    if (prepared.at(-1)?.type !== 'wait-for-agent') prepared.push({ type: 'wait-for-agent' });
    prepared.push({ type: 'hang-up' });
  }
  return prepared;
}
