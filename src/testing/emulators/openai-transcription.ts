// A server of OpenAI's transcription dialect on loopback: refuses what it would refuse, and takes the words from a script.
import type { ServerResponse } from 'node:http';
import { isSound } from '../speech-spans.js';
import { readWav } from '../wav.js';
import { checkEmulatorOptions } from './emulator-options.js';
import { type FormPart, readForm } from './multipart-form.js';
import { streamChunks } from './reply-stream.js';
import { BLOCK_MS } from './scripted-hearing.js';
import { ToneHearing } from './tone-hearing.js';
import {
  type Emulator,
  type EmulatorOptions,
  type Refusal,
  unknownAddress,
  VendorServer,
} from './vendor-server.js';

export interface EmulateOpenAITranscriptionOptions extends EmulatorOptions {
  /**
   * What is heard: one text for each recording that has sound in it; a recording whose answer nobody waited for is heard again.
   * @default the words of a tone voice, and no words in any other sound
   */
  readonly utterances?: readonly string[];
  /** Time until a text begins, and between two words of a streamed one. @default 0 */
  readonly firstWordMs?: number;
  readonly wordMs?: number;
  /** How words are streamed; `none` answers whole, whatever was asked for. @default 'openai' */
  readonly streams?: 'openai' | 'chat' | 'bare' | 'none';
  /** What the model thinks of every piece, for who asks for `verbose_json`: 0 to 1. @default 0.01 */
  readonly noSpeechProb?: number;
  /** Words after which a streamed text breaks off with an error. */
  readonly errorAfter?: number;
}

export interface OpenAITranscriptionExchange {
  readonly fields: Readonly<Record<string, string>>;
  readonly audioMs: number;
  /** Sound in it, in milliseconds. */
  readonly soundMs: number;
  /** The client closed the connection before the end. */
  aborted: boolean;
}

export interface OpenAITranscriptionEmulator extends Emulator {
  /** Requests that were accepted. */
  readonly exchanges: readonly OpenAITranscriptionExchange[];
}

const FIELDS = 'model language prompt response_format temperature stream'.split(' ');
const SAMPLE_RATE_HZ = 16_000;

const OPTION_NAMES: Readonly<
  Record<Exclude<keyof EmulateOpenAITranscriptionOptions, keyof EmulatorOptions>, true>
> = {
  utterances: true,
  firstWordMs: true,
  wordMs: true,
  streams: true,
  noSpeechProb: true,
  errorAfter: true,
};

export async function emulateOpenAITranscription(
  options: EmulateOpenAITranscriptionOptions = {},
): Promise<OpenAITranscriptionEmulator> {
  checkEmulatorOptions(options, OPTION_NAMES, 'emulateOpenAITranscription()');
  const exchanges: OpenAITranscriptionExchange[] = [];
  const queue = options.utterances === undefined ? undefined : [...options.utterances];
  const server = new VendorServer(options, (owner) => ({
    refuse(request) {
      const { url, headers } = request;
      if (!url.pathname.endsWith('/v1/audio/transcriptions')) return unknownAddress(request);
      if (headers.authorization === `Bearer ${owner.apiKey}`) return undefined;
      return toError(401, 'invalid_api_key');
    },
    http(request, _text, response, body) {
      const form = checkForm(readForm(request.headers['content-type'], body));
      if (request.method !== 'POST' || form.problem !== undefined) {
        owner.complain(form.problem ?? 'a transcription is asked for by POST');
        const { status, headers, body: answer } = toError(400, 'invalid_request_error');
        response.writeHead(status, headers).end(answer);
        return;
      }
      const { fields, samples } = form;
      const soundMs = measureSound(samples);
      if (soundMs === 0) owner.complain('a recording without a sound');
      const exchange = { fields, audioMs: samples.length / 16, soundMs, aborted: false };
      exchanges.push(exchange);
      const text = soundMs === 0 ? '' : queue === undefined ? hearTones(samples) : (queue.shift() ?? '');
      response.on('close', () => {
        exchange.aborted = !response.writableFinished;
        if (exchange.aborted && text !== '') queue?.unshift(text);
      });
      answer(response, { ...options, fields, text }, owner);
    },
  }));
  await server.listen(options.port);
  return Object.assign(server, { exchanges });
}

interface Heard extends EmulateOpenAITranscriptionOptions {
  readonly fields: Readonly<Record<string, string>>;
  readonly text: string;
}

function answer(response: ServerResponse, heard: Heard, owner: VendorServer): void {
  const { fields, text, streams = 'openai', firstWordMs = 0, wordMs = 0, noSpeechProb = 0.01 } = heard;
  if (fields.stream === 'true' && streams !== 'none') {
    const failure = toEvent({ error: { code: 'server_error', message: 'The server had an error' } });
    const chunks = encodeWords(text, streams);
    const { errorAfter } = heard;
    streamChunks(
      response,
      {
        chunks,
        failure,
        firstTokenMs: firstWordMs,
        tokenMs: wordMs,
        ...(errorAfter === undefined ? {} : { errorAfter }),
      },
      owner,
    );
    return;
  }
  const isVerbose = fields.response_format === 'verbose_json';
  const segments = text === '' ? [] : [{ id: 0, text, no_speech_prob: noSpeechProb }];
  const body = JSON.stringify(isVerbose ? { task: 'transcribe', text, segments } : { text });
  owner.clock.after(firstWordMs, () => {
    if (response.destroyed || owner.isFrozen(response)) return;
    // Where something else was written before, it is the end of that.
    if (!response.headersSent) response.writeHead(200, { 'content-type': 'application/json' });
    response.end(body);
  });
}

function encodeWords(text: string, style: 'openai' | 'chat' | 'bare'): Buffer[] {
  const words = text.match(/(?<!\s)\s*\S+/g) ?? [];
  const deltas = words.map((delta) => {
    if (style === 'openai') return toEvent({ type: 'transcript.text.delta', delta });
    return toEvent(
      style === 'bare' ? { text: delta } : { choices: [{ index: 0, delta: { content: delta } }] },
    );
  });
  if (style === 'openai') return [...deltas, toEvent({ type: 'transcript.text.done', text })];
  return style === 'chat' ? [...deltas, Buffer.from('data: [DONE]\n\n')] : deltas;
}

function toEvent(data: object): Buffer {
  return Buffer.from(`data: ${JSON.stringify(data)}\n\n`);
}

type CheckedForm =
  | { fields: Record<string, string>; samples: Int16Array; problem?: undefined }
  | { problem: string };

function checkForm(parts: readonly FormPart[] | undefined): CheckedForm {
  if (parts === undefined) return { problem: 'the body is no form' };
  const files = parts.filter(({ fileName }) => fileName !== undefined);
  const texts = parts.filter(({ fileName }) => fileName === undefined);
  const fields = Object.fromEntries(texts.map(({ name, bytes }) => [name, bytes.toString('utf8')]));
  if (texts.length !== Object.keys(fields).length) return { problem: 'a field comes twice' };
  const unknown = Object.keys(fields).find((name) => !FIELDS.includes(name));
  if (unknown !== undefined) return { problem: `unknown field ${unknown}` };
  if (!fields.model) return { problem: 'missing field model' };
  if (fields.language !== undefined && !/^[a-z]{2,3}$/.test(fields.language))
    return { problem: `language ${fields.language} is not an ISO 639 code` };
  if (!/^(json|verbose_json)$/.test(fields.response_format ?? 'json'))
    return { problem: 'this emulator gives JSON only' };
  const [file] = files;
  if (files.length !== 1 || file?.name !== 'file') return { problem: 'there must be one file' };
  if (!/\.wav$/.test(file.fileName ?? '')) return { problem: 'the name of the file says no format' };
  return readSound(file.bytes, fields);
}

function readSound(bytes: Buffer, fields: Record<string, string>): CheckedForm {
  try {
    const { sampleRateHz, channels } = readWav(bytes);
    const [samples] = channels;
    if (sampleRateHz !== SAMPLE_RATE_HZ || channels.length !== 1 || samples === undefined)
      return { problem: `this emulator hears ${SAMPLE_RATE_HZ} Hz mono only` };
    const declared = bytes.readUInt32LE(4) + 8;
    if (declared !== bytes.length) return { problem: `a file of ${bytes.length} bytes says ${declared}` };
    return { fields, samples };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : 'no WAV file' };
  }
}

function measureSound(samples: Int16Array): number {
  const size = (SAMPLE_RATE_HZ * BLOCK_MS) / 1000;
  let ms = 0;
  for (let at = 0; at + size <= samples.length; at += size)
    if (isSound(samples.subarray(at, at + size))) ms += BLOCK_MS;
  return ms;
}

function hearTones(samples: Int16Array): string {
  const ignore = () => {};
  const events = { started: ignore, grew: ignore, ended: ignore, silent: ignore };
  const hearing = new ToneHearing({
    sampleRateHz: SAMPLE_RATE_HZ,
    pauseMs: Number.POSITIVE_INFINITY,
    events,
  });
  hearing.push(samples);
  return hearing.take()?.words.join(' ') ?? '';
}

function toError(status: number, code: string): Refusal & { body: string } {
  const body = JSON.stringify({ error: { message: 'Refused by the emulator', type: code, code } });
  return { status, headers: { 'content-type': 'application/json' }, body };
}
