// What a simulated caller does, and its preparation: all speech is synthesized before the call, so that its timing never depends on the machine.
import { holdProcess } from '../base/process-hold.js';
import type { TextToSpeechSession } from '../providers/text-to-speech.js';
import {
  CALLER_RATE_HZ,
  type KeysWhileSpeaking,
  type PreparedSpeech,
  prepareSpeech,
  pressWhile,
  withoutPauses,
} from './caller-speech.js';
import { WhiteNoise } from './noise.js';
import { checkScript } from './script-checks.js';

/** One thing that the caller does. Steps run one after the other; a README beside this file says what can be made of them. */
export type CallerStep =
  /** Speaks with a synthetic voice. The text also goes beside the audio, for the simulated speech-to-text, and so does its `language`, a BCP 47 tag. */
  | { type: 'say'; text: string; voice?: string; language?: string; press?: KeysWhileSpeaking }
  /** Speaks without a pause for `durationMs`, up to an hour: the text again and again, or something of no interest. */
  | { type: 'monologue'; durationMs: number; text?: string; voice?: string }
  /** Plays a recording, 16-bit PCM. With `text` its words go beside the audio; without it nothing does. */
  | { type: 'play'; samples: Int16Array; sampleRateHz: number; text?: string; press?: KeysWhileSpeaking }
  /** A burst of white noise, -60 to 0 dBFS (-20). */
  | { type: 'noise'; durationMs: number; levelDbfs?: number }
  /** Silence. */
  | { type: 'pause'; durationMs: number }
  /** Waits until the agent has spoken and been quiet for `quietMs` (1000). One that has not begun after `timeoutMs` (15000) is not waited for. */
  | { type: 'wait-for-agent'; quietMs?: number; timeoutMs?: number }
  /** Waits until the agent has been heard speaking for `afterMs`: the next step talks over it, to the frame. The same `timeoutMs`. */
  | { type: 'interrupt'; afterMs: number; timeoutMs?: number }
  /** Waits until the signal fires: the next step comes when a test wants it. The same `timeoutMs`. */
  | { type: 'wait-until'; signal: AbortSignal; timeoutMs?: number }
  /** Presses keys, `0-9 A-D # *`, one every 200 ms. */
  | { type: 'press'; digits: string }
  /** Ends the call; `abrupt` without a word, as a broken connection does. Implied at the end, after the agent has finished. */
  | { type: 'hang-up'; abrupt?: boolean };

export type PreparedStep =
  | PreparedSpeech
  | Exclude<CallerStep, { type: 'say' | 'monologue' | 'play' | 'noise' }>;

/** Opens the voice of that name, or the default one. The owner closes the session. */
export type OpenVoice = (voice: string | undefined) => TextToSpeechSession | Promise<TextToSpeechSession>;

const NOISE_DBFS = -20;
const NOISE_SEED = 1;
const MONOLOGUE =
  'It all began in the spring when we moved into the old house by the river. ' +
  'My brother said that nobody had lived there for years, but the garden told another story. ' +
  'There were apples and pears and a bench under the trees, and somebody had painted the gate.';

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
  const speak = async (text: string, voice: string | undefined): Promise<PreparedSpeech[]> => {
    const session = voices.get(voice) ?? (await context.openVoice(voice));
    voices.set(voice, session);
    const sentences: PreparedSpeech[] = [];
    for (const sentence of splitForVoice(text)) {
      sentences.push(prepareSpeech(await synthesize(session, sentence, context.signal), 16_000, sentence));
    }
    return sentences;
  };
  const prepare = async (step: CallerStep): Promise<PreparedStep[]> => {
    if (step.type === 'monologue') {
      const sentences = await speak(step.text ?? MONOLOGUE, step.voice);
      return withoutPauses(sentences, step.durationMs);
    }
    if (step.type === 'noise') {
      const noise = new WhiteNoise(step.levelDbfs ?? NOISE_DBFS, NOISE_SEED);
      const samples = noise.samples((step.durationMs * CALLER_RATE_HZ) / 1000);
      return [prepareSpeech(samples, CALLER_RATE_HZ, undefined)];
    }
    if (step.type !== 'say' && step.type !== 'play') return [step];
    const pieces =
      step.type === 'say'
        ? await speak(step.text, step.voice)
        : [prepareSpeech(step.samples, step.sampleRateHz, step.text)];
    const { language } = step.type === 'say' ? step : { language: undefined };
    if (language !== undefined)
      for (const { spoken } of pieces) for (const each of spoken) each.language = language;
    pressWhile(pieces, step.press);
    return pieces;
  };
  const prepared: PreparedStep[] = [];
  // A voice's thread keeps no process alive; somebody who waits for a caller to be ready must.
  const release = holdProcess();
  try {
    for (const step of steps) prepared.push(...(await prepare(step)));
  } finally {
    release();
    for (const session of voices.values()) session.close();
  }
  if (prepared.at(-1)?.type !== 'hang-up') {
    if (prepared.at(-1)?.type !== 'wait-for-agent') prepared.push({ type: 'wait-for-agent' });
    prepared.push({ type: 'hang-up' });
  }
  return prepared;
}
