// One recording in, its text out: a form with a WAV file, answered whole or word by word. Source: OpenAI, audio/transcriptions reference.
import { PCM_16K } from '../../../audio/format.js';
import { wavHeader } from '../../../audio/wav-header.js';
import type { Clock } from '../../../base/clock.js';
import { SseReader } from '../../../base/sse.js';
import { toShownCode, transientFailure, WireError } from '../../wire/failure.js';
import type { VendorNames } from '../../wire/access.js';
import type { HttpAnswer, HttpChannel } from '../../wire/http-channel.js';
import { type Json, parseObject, toArray, toNumber, toObject, toText } from '../../wire/json.js';
import { encodeMultipart } from '../../wire/multipart.js';
import { readRefusal } from '../../wire/openai/refusal.js';
import { toBytes } from '../../../audio/pcm-bytes.js';

export interface TranscriptionTarget {
  /** For the sentences of errors. */
  readonly names: VendorNames;
  readonly channel: HttpChannel;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** Fields of the form but the file. */
  readonly fields: Readonly<Record<string, string>>;
  /** Longest wait for the whole text, in milliseconds. */
  readonly timeoutMs: number;
}

export interface TranscriptionOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** The server has taken the recording, and will charge for it. */
  readonly accepted: () => void;
  /** All of the text so far, where the server tells it while it listens. */
  readonly grew: (text: string) => void;
}

/** A text is never longer than this, in bytes. */
const MAX_TEXT_BYTES = 1024 * 1024;

/** Above this a piece is what the model makes of silence. */
const NO_SPEECH = 0.6;

/** The text of 16 kHz PCM; empty when there is none in it. @throws WireError */
export async function transcribe(
  pcm: Int16Array,
  target: TranscriptionTarget,
  { clock, signal, accepted, grew }: TranscriptionOptions,
): Promise<string> {
  const sound = toBytes(pcm);
  const { sampleRateHz } = PCM_16K;
  const { body, contentType } = encodeMultipart(target.fields, {
    field: 'file',
    name: 'speech.wav',
    type: 'audio/wav',
    parts: [wavHeader({ sampleRateHz, channels: 1 }, sound.length), sound],
  });
  const { channel, url, headers, timeoutMs } = target;
  const startedAt = clock.now();
  const answer = await channel.request({
    method: 'POST',
    url,
    headers: { ...headers, 'content-type': contentType },
    body,
    signal,
    clock,
    answerTimeoutMs: timeoutMs,
  });
  const leftMs = Math.max(1, startedAt + timeoutMs - clock.now());
  const timer = clock.after(leftMs, () =>
    answer.discard(new WireError(transientFailure('did not answer in time'))),
  );
  try {
    if (answer.status < 200 || answer.status >= 300) throw await readRefusal(answer);
    accepted();
    const isStream = (answer.header('content-type') ?? '').startsWith('text/event-stream');
    return (await (isStream ? readStream(answer, grew) : readWhole(answer))).trim();
  } finally {
    timer.cancel();
  }
}

async function readWhole(answer: HttpAnswer): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of answer.chunks) {
    bytes += chunk.length;
    if (bytes > MAX_TEXT_BYTES) throw unreadable();
    chunks.push(chunk);
  }
  const object = parseObject(Buffer.concat(chunks).toString('utf8'));
  if (typeof object?.text !== 'string') throw unreadable();
  return withoutDoubts(object) ?? object.text;
}

/** The pieces of which the model itself believes that somebody spoke; undefined where it does not say what it believes. */
function withoutDoubts({ segments }: Json): string | undefined {
  const pieces = toArray(segments).map((segment) => {
    const { text, no_speech_prob: doubt } = toObject(segment) ?? {};
    return { text: toText(text), doubt: toNumber(doubt) };
  });
  if (!pieces.some(({ doubt }) => doubt !== undefined)) return undefined;
  const spoken = pieces.filter(({ doubt = 0 }) => doubt <= NO_SPEECH);
  return spoken.map(({ text }) => text).join('');
}

async function readStream(answer: HttpAnswer, grew: (text: string) => void): Promise<string> {
  const reader = new SseReader();
  let text = '';
  const take = (data: string): boolean => {
    if (data === '[DONE]') return true;
    const event = parseObject(data);
    if (event === undefined) return false;
    if (event.error !== undefined) throw brokenOff(event.error);
    const isDone = event.type === 'transcript.text.done';
    text = isDone ? toText(event.text) : text + toDelta(event);
    if (!isDone && text.trim() !== '') grew(text.trim());
    return isDone;
  };
  for await (const chunk of answer.chunks) {
    const isOver = reader.push(chunk).some(({ data }) => take(data));
    if (isOver) {
      answer.discard();
      return text;
    }
    if (reader.overflowed || text.length > MAX_TEXT_BYTES) throw unreadable();
  }
  reader.end().some(({ data }) => take(data));
  return text;
}

/** As the vendor's own events, as events of chat-like servers, or as plain text. */
function toDelta(event: Json): string {
  if (event.type === 'transcript.text.delta') return toText(event.delta);
  const [choice] = toArray(event.choices);
  const delta = toObject(toObject(choice)?.delta);
  if (delta !== undefined) return toText(delta.content);
  return event.type === undefined ? toText(event.text) : '';
}

function brokenOff(error: unknown): WireError {
  const code = toText(toObject(error)?.code) || toText(toObject(error)?.type);
  const shown = toShownCode(code).map((each) => ` (${each})`);
  return new WireError(transientFailure(`broke off its answer${shown.join('')}`));
}

function unreadable(): WireError {
  return new WireError(transientFailure('did not answer with a transcript'));
}
