// A server of OpenAI's speech dialect on loopback: refuses what it would refuse, and streams sound as long as the text.
import { checkEmulatorOptions } from './emulator-options.js';
import type { ServerResponse } from 'node:http';
import { writeWav } from '../wav.js';
import { makeEmulatedSpeech } from './emulated-speech.js';
import { TroubledWire } from './troubled-wire.js';
import {
  type Emulator,
  type EmulatorOptions,
  type Refusal,
  unknownAddress,
  VendorServer,
} from './vendor-server.js';

export interface EmulateOpenAISpeechOptions extends EmulatorOptions {
  /** `wav` is what some servers send though PCM was asked for. @default 'pcm' */
  readonly container?: 'pcm' | 'wav';
  /** Time to the first audio, and between two pieces. @default 0 */
  readonly firstAudioMs?: number;
  readonly chunkEveryMs?: number;
  /** Bytes of a piece. @default 4801, which cuts samples in two */
  readonly chunkBytes?: number;
}

export interface OpenAISpeechExchange {
  readonly body: Readonly<Record<string, unknown>>;
  /** The client closed the connection before the end. */
  aborted: boolean;
}

export interface OpenAISpeechEmulator extends Emulator {
  /** Requests that were accepted. */
  readonly exchanges: readonly OpenAISpeechExchange[];
}

const FIELDS = ['model', 'input', 'voice', 'response_format', 'speed', 'instructions', 'stream_format'];
const MAX_CHARACTERS = 4096;
const RATE_HZ = 24_000;
const CHARACTER_MS = 60;

const OPTION_NAMES: Readonly<Record<Exclude<keyof EmulateOpenAISpeechOptions, keyof EmulatorOptions>, true>> =
  {
    container: true,
    firstAudioMs: true,
    chunkEveryMs: true,
    chunkBytes: true,
  };

export async function emulateOpenAISpeech(
  options: EmulateOpenAISpeechOptions = {},
): Promise<OpenAISpeechEmulator> {
  checkEmulatorOptions(options, OPTION_NAMES, 'emulateOpenAISpeech()');
  const exchanges: OpenAISpeechExchange[] = [];
  const server = new VendorServer(options, (owner) => ({
    refuse(request) {
      const { url, headers } = request;
      if (!url.pathname.endsWith('/v1/audio/speech')) return unknownAddress(request);
      if (headers.authorization === `Bearer ${owner.apiKey}`) return undefined;
      return toError(401, 'invalid_api_key');
    },
    http(request, text, response) {
      const { body, problem } = checkBody(text);
      if (request.method !== 'POST' || problem !== undefined) {
        owner.complain(problem ?? 'speech is asked for by POST');
        const { status, headers, body: answer } = toError(400, 'invalid_request_error');
        response.writeHead(status, headers).end(answer);
        return;
      }
      const exchange: OpenAISpeechExchange = { body, aborted: false };
      exchanges.push(exchange);
      response.on('close', () => {
        exchange.aborted = !response.writableFinished;
      });
      stream(response, { ...options, text: String(body.input) }, owner);
    },
  }));
  await server.listen(options.port);
  return Object.assign(server, { exchanges });
}

function stream(
  response: ServerResponse,
  options: EmulateOpenAISpeechOptions & { text: string },
  owner: VendorServer,
): void {
  const { container = 'pcm', firstAudioMs = 0, chunkEveryMs = 0, chunkBytes = 4801, text } = options;
  const durationMs = [...text].length * CHARACTER_MS;
  const samples = makeEmulatedSpeech({ durationMs, sampleRateHz: RATE_HZ });
  const bytes =
    container === 'wav'
      ? Buffer.from(writeWav({ channels: [samples], sampleRateHz: RATE_HZ }))
      : Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength);
  response.writeHead(200, { 'content-type': container === 'wav' ? 'audio/wav' : 'audio/pcm' });
  response.flushHeaders();
  const isOver = () => response.destroyed || owner.isFrozen(response);
  const wire = new TroubledWire({
    clock: owner.clock,
    troubles: () => owner.troubles,
    write: (chunk) => !isOver() && response.write(chunk),
  });
  let at = 0;
  const step = () => {
    if (isOver()) return;
    wire.send(bytes.subarray(at, at + chunkBytes));
    at += chunkBytes;
    if (at >= bytes.length) wire.after(() => !isOver() && response.end());
    else later(chunkEveryMs);
  };
  const later = (delayMs: number) => {
    if (delayMs > 0) owner.clock.after(delayMs, step);
    else setImmediate(step);
  };
  later(firstAudioMs);
}

function checkBody(text: string): { body: Readonly<Record<string, unknown>>; problem?: string } {
  const fields = parseBody(text);
  if (fields === undefined) return { body: {}, problem: 'the body is not an object' };
  const unknown = Object.keys(fields).find((field) => !FIELDS.includes(field));
  if (unknown !== undefined) return { body: fields, problem: `unknown field ${unknown}` };
  const missing = ['model', 'input', 'voice'].find((field) => !fields[field]);
  if (missing !== undefined) return { body: fields, problem: `missing field ${missing}` };
  if (String(fields.input).length > MAX_CHARACTERS) return { body: fields, problem: 'input is too long' };
  if (fields.response_format !== 'pcm') return { body: fields, problem: 'this emulator gives PCM only' };
  return { body: fields };
}

function parseBody(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const body: unknown = JSON.parse(text);
    return typeof body === 'object' && body !== null ? { ...body } : undefined;
  } catch {
    return undefined;
  }
}

function toError(status: number, code: string): Refusal & { body: string } {
  const body = JSON.stringify({ error: { message: 'Refused by the emulator', type: code, code } });
  return { status, headers: { 'content-type': 'application/json' }, body };
}
