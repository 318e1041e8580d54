// Cartesia's text-to-speech socket on loopback: answers as the vendor would, with a tone voice.
import { checkEmulatorOptions } from './emulator-options.js';
import { isDeepStrictEqual } from 'node:util';
import type { Timer } from '../../base/clock.js';
import { MS_PER_CHARACTER, speakInTones } from '../tone-voice.js';
import { type Fields, readFields, toFields } from './message-fields.js';
import { serveSockets } from './socket-vendor.js';
import type { EmulatorRequest, VendorPeer } from './vendor-peer.js';
import {
  type Emulator,
  type EmulatorOptions,
  type PeerHandler,
  type Refusal,
  unknownAddress,
  type VendorServer,
} from './vendor-server.js';

export interface EmulateCartesiaOptions extends EmulatorOptions {
  /** Time from a text to its first audio, and between two chunks. @default 0 */
  readonly firstAudioMs?: number;
  readonly chunkEveryMs?: number;
  /** Bytes of a chunk. An odd number cuts samples in half. @default 6400 */
  readonly chunkBytes?: number;
  /** Chunks that still come after a context was cancelled. @default 0 */
  readonly lateChunks?: number;
  /** Contexts that may generate at a time; the vendor's smallest plan has two. @default 2 */
  readonly maxGenerating?: number;
  /** Never says that a context is done. @default false */
  readonly withoutDone?: boolean;
  /** Leaves out the timestamps. @default false */
  readonly withoutTimestamps?: boolean;
}

/** What one connection was sent. */
export interface CartesiaConnection {
  readonly url: URL;
  /** Texts by context, in the order in which they were opened. */
  readonly texts: ReadonlyMap<string, string>;
  readonly messages: readonly Readonly<Record<string, unknown>>[];
}

export interface CartesiaEmulator extends Emulator {
  readonly connections: readonly CartesiaConnection[];
}

const KNOWN_FIELDS = new Set(
  'model_id context_id transcript continue voice language max_buffer_delay_ms add_timestamps add_phoneme_timestamps output_format generation_config flush duration pronunciation_dict_id use_normalized_timestamps'.split(
    ' ',
  ),
);
const SAMPLE_RATE_HZ = 16_000;
/** A socket on which nothing is sent is closed. */
const IDLE_MS = 5 * 60_000;
/** A context is gone so long after its last audio. */
const CONTEXT_MS = 1000;

const OPTION_NAMES: Readonly<Record<Exclude<keyof EmulateCartesiaOptions, keyof EmulatorOptions>, true>> = {
  firstAudioMs: true,
  chunkEveryMs: true,
  chunkBytes: true,
  lateChunks: true,
  maxGenerating: true,
  withoutDone: true,
  withoutTimestamps: true,
};

export async function emulateCartesia(options: EmulateCartesiaOptions = {}): Promise<CartesiaEmulator> {
  checkEmulatorOptions(options, OPTION_NAMES, 'emulateCartesia()');
  return serveSockets(options, {
    refuse,
    connect: (peer, server) => new SpeechConnection(peer, server, options),
  });
}

function refuse(request: EmulatorRequest, apiKey: string): Refusal | undefined {
  const { url, headers } = request;
  if (url.pathname !== '/tts/websocket') return unknownAddress(request);
  if (headers.authorization !== `Bearer ${apiKey}`) return { status: 401 };
  if (!/^\d{4}-\d\d-\d\d$/.test(String(headers['cartesia-version']))) return { status: 400 };
  return undefined;
}

interface SpeechContext {
  /** All fields that may not change from part to part. */
  readonly settings: Fields;
  /** More may follow. */
  open: boolean;
  saidMs: number;
  flushes: number;
  /** Messages that wait for their time. */
  queue: object[];
  timer: Timer | undefined;
  expiry: Timer | undefined;
}

class SpeechConnection implements PeerHandler, CartesiaConnection {
  readonly url: URL;
  readonly texts = new Map<string, string>();
  readonly messages: Fields[] = [];
  readonly #peer: VendorPeer;
  readonly #server: VendorServer;
  readonly #options: EmulateCartesiaOptions;
  readonly #contexts = new Map<string, SpeechContext>();
  #idle: Timer | undefined;

  constructor(peer: VendorPeer, server: VendorServer, options: EmulateCartesiaOptions) {
    this.url = peer.request.url;
    this.#peer = peer;
    this.#server = server;
    this.#options = options;
    this.#stayOpen();
  }

  binary(): void {
    this.#server.complain('binary messages are not understood');
    this.#peer.close(1003, 'binary messages are not understood');
  }

  text(text: string): void {
    this.#stayOpen();
    const message = readFields(text);
    const id = message?.context_id;
    if (message === undefined || typeof id !== 'string' || id === '') {
      this.#refuse('', { status: 400, code: 'invalid_request' });
      return;
    }
    this.messages.push(message);
    if (message.cancel === true) this.#cancel(id);
    else this.#speak(id, message);
  }

  closed(): void {
    this.#idle?.cancel();
    for (const { timer, expiry } of this.#contexts.values()) {
      timer?.cancel();
      expiry?.cancel();
    }
  }

  #speak(id: string, message: Fields): void {
    const { transcript, continue: goesOn = false, flush = false, ...settings } = message;
    const problem = findProblem(message);
    if (problem !== undefined) {
      this.#refuse(id, problem);
      return;
    }
    const context = this.#contexts.get(id) ?? this.#open(id, settings);
    if (context === undefined) return;
    if (!context.open || !isDeepStrictEqual(context.settings, settings)) {
      this.#refuse(id, { status: 400, code: context.open ? 'context_changed' : 'context_closed' });
      return;
    }
    context.open = goesOn === true;
    this.texts.set(id, `${this.texts.get(id) ?? ''}${transcript}`);
    this.#generate(context, String(transcript));
    if (flush === true) this.#flushed(context);
    this.#pump(id, context, this.#options.firstAudioMs ?? 0);
  }

  #open(id: string, settings: Fields): SpeechContext | undefined {
    if (this.texts.has(id)) {
      this.#refuse(id, { status: 400, code: 'context_expired' });
      return undefined;
    }
    const generating = [...this.#contexts.values()].filter(({ queue }) => queue.length > 0).length;
    if (generating >= (this.#options.maxGenerating ?? 2)) {
      this.#refuse(id, { status: 429, code: 'concurrency_limited' });
      return undefined;
    }
    const context: SpeechContext = {
      settings,
      open: true,
      saidMs: 0,
      flushes: 0,
      queue: [],
      timer: undefined,
      expiry: undefined,
    };
    this.#contexts.set(id, context);
    return context;
  }

  #cancel(id: string): void {
    const context = this.#contexts.get(id);
    if (context === undefined) return;
    context.open = false;
    context.queue = context.queue.filter((each) => 'data' in each).slice(0, this.#options.lateChunks ?? 0);
    this.#pump(id, context, 0);
  }

  #generate(context: SpeechContext, text: string): void {
    if (text.trim() === '') return;
    const { chunkBytes = 6400 } = this.#options;
    const bytes = Buffer.from(speakInTones(text, { sampleRateHz: SAMPLE_RATE_HZ }).buffer);
    if (context.settings.add_timestamps === true && this.#options.withoutTimestamps !== true)
      context.queue.push({ type: 'timestamps', word_timestamps: timeWords(text, context.saidMs) });
    context.saidMs += text.length * MS_PER_CHARACTER;
    for (let at = 0; at < bytes.length; at += chunkBytes) {
      const data = bytes.subarray(at, at + chunkBytes).toString('base64');
      context.queue.push({ type: 'chunk', data, done: false, status_code: 206, step_time: 1 });
    }
  }

  /** Said behind the audio of what came before. */
  #flushed(context: SpeechContext): void {
    context.flushes += 1;
    const { flushes: flush_id } = context;
    context.queue.push({ type: 'flush_done', flush_done: true, flush_id, done: false, status_code: 206 });
  }

  #pump(id: string, context: SpeechContext, delayMs: number): void {
    if (context.timer !== undefined) return;
    context.expiry?.cancel();
    const step = () => {
      context.timer = undefined;
      const message = context.queue.shift();
      if (message !== undefined) {
        this.#peer.send({ ...message, context_id: id });
        this.#pump(id, context, this.#options.chunkEveryMs ?? 0);
      } else if (context.open) {
        context.expiry = this.#server.clock.after(CONTEXT_MS, () => this.#end(id));
      } else this.#end(id);
    };
    if (delayMs > 0) context.timer = this.#server.clock.after(delayMs, step);
    else step();
  }

  #end(id: string): void {
    this.#contexts.delete(id);
    if (this.#options.withoutDone !== true)
      this.#peer.send({ type: 'done', done: true, status_code: 200, context_id: id });
  }

  #stayOpen(): void {
    this.#idle?.cancel();
    this.#idle = this.#server.clock.after(IDLE_MS, () => this.#peer.close(1000, 'idle'));
  }

  /** The client did what it must not. */
  #refuse(id: string, { status, code }: Problem): void {
    this.#server.complain(`${code}: context ${id}`);
    this.#peer.send({
      type: 'error',
      done: true,
      status_code: status,
      error_code: code,
      title: 'The request was refused',
      message: 'A sentence of the vendor',
      ...(id === '' ? {} : { context_id: id }),
    });
  }
}

interface Problem {
  readonly status: number;
  readonly code: string;
}

function findProblem(message: Fields): Problem | undefined {
  const bad = (code: string): Problem => ({ status: 400, code });
  if (Object.keys(message).some((field) => !KNOWN_FIELDS.has(field))) return bad('unknown_field');
  const { model_id, transcript, voice, output_format, continue: goesOn, flush } = message;
  if (typeof model_id !== 'string' || model_id === 'no-such-model') return bad('model_not_found');
  if (typeof transcript !== 'string') return bad('invalid_transcript');
  if (transcript.trim() === '' && goesOn !== false && flush !== true) return bad('invalid_transcript');
  const { mode, id } = toFields(voice);
  if (mode !== 'id' || typeof id !== 'string') return bad('invalid_voice');
  if (id === 'no-such-voice') return { status: 404, code: 'voice_not_found' };
  const { container, encoding, sample_rate } = toFields(output_format);
  return `${container} ${encoding} ${sample_rate}` === `raw pcm_s16le ${SAMPLE_RATE_HZ}`
    ? undefined
    : bad('invalid_output_format');
}

function timeWords(text: string, fromMs: number): object {
  const found = [...text.matchAll(/\S+/g)];
  const at = (characters: number) => (fromMs + characters * MS_PER_CHARACTER) / 1000;
  return {
    words: found.map(([word]) => word),
    start: found.map(({ index }) => at(index)),
    end: found.map(({ index, 0: word }) => at(index + word.length)),
  };
}
