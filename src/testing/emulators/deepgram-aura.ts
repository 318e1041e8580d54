// Deepgram's speak socket (v1) on loopback: answers as the vendor would, with a tone voice.
import { checkEmulatorOptions } from './emulator-options.js';
import type { Timer } from '../../base/clock.js';
import { speakInTones } from '../tone-voice.js';
import { readFields } from './message-fields.js';
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

export interface EmulateDeepgramAuraOptions extends EmulatorOptions {
  /** Length of the audio, in milliseconds per character. @default 60 */
  readonly msPerCharacter?: number;
  /** Time from a text to its first audio, and between two chunks. @default 0 */
  readonly firstAudioMs?: number;
  readonly chunkEveryMs?: number;
  /** Bytes of a chunk. An odd number cuts samples in half. @default 6400 */
  readonly chunkBytes?: number;
  /** Chunks that still come after a `Clear`. @default 0 */
  readonly lateChunks?: number;
  /** Never says that a flush is finished. @default false */
  readonly withoutFlushed?: boolean;
}

/** What one connection was sent. */
export interface AuraConnection {
  readonly url: URL;
  /** Texts that were flushed, in order. */
  readonly texts: readonly string[];
  /** Types of the messages, in order. */
  readonly types: readonly string[];
}

export interface AuraEmulator extends Emulator {
  readonly connections: readonly AuraConnection[];
}

const KNOWN_PARAMETERS = new Set('model encoding sample_rate mip_opt_out speed tag'.split(' '));
const MAX_CHARACTERS = 2000;
const MAX_FLUSHES = 20;
const FLUSHES_MS = 60_000;
const SAMPLE_RATE_HZ = 16_000;

const OPTION_NAMES: Readonly<Record<Exclude<keyof EmulateDeepgramAuraOptions, keyof EmulatorOptions>, true>> =
  {
    msPerCharacter: true,
    firstAudioMs: true,
    chunkEveryMs: true,
    chunkBytes: true,
    lateChunks: true,
    withoutFlushed: true,
  };

export async function emulateDeepgramAura(options: EmulateDeepgramAuraOptions = {}): Promise<AuraEmulator> {
  checkEmulatorOptions(options, OPTION_NAMES, 'emulateDeepgramAura()');
  return serveSockets(options, {
    refuse,
    connect: (peer, server) => new SpeakConnection(peer, server, options),
  });
}

function refuse(request: EmulatorRequest, apiKey: string): Refusal | undefined {
  const { url, headers } = request;
  const bad = (status: number, code: string): Refusal => ({ status, headers: { 'dg-error': code } });
  if (url.pathname !== '/v1/speak') return unknownAddress(request);
  if (headers.authorization !== `Token ${apiKey}` && headers.authorization !== `Bearer ${apiKey}`)
    return bad(401, 'INVALID_AUTH');
  for (const name of url.searchParams.keys())
    if (!KNOWN_PARAMETERS.has(name)) return bad(400, 'INVALID_QUERY_PARAMETER');
  const model = url.searchParams.get('model') ?? '';
  if (!/^aura-/.test(model) || model.includes('no-such-voice')) return bad(400, 'INVALID_MODEL');
  const format = `${url.searchParams.get('encoding')} ${url.searchParams.get('sample_rate')}`;
  if (format !== `linear16 ${SAMPLE_RATE_HZ}`) return bad(400, 'UNSUPPORTED_AUDIO_FORMAT');
  return undefined;
}

class SpeakConnection implements PeerHandler, AuraConnection {
  readonly url: URL;
  readonly texts: string[] = [];
  readonly types: string[] = [];
  readonly #peer: VendorPeer;
  readonly #server: VendorServer;
  readonly #options: EmulateDeepgramAuraOptions;
  #pending = '';
  #sequence = 0;
  #flushes: number[] = [];
  /** What waits for its time. */
  #queue: (Buffer | object)[] = [];
  #timer: Timer | undefined;

  constructor(peer: VendorPeer, server: VendorServer, options: EmulateDeepgramAuraOptions) {
    this.url = peer.request.url;
    this.#peer = peer;
    this.#server = server;
    this.#options = options;
    peer.send({ type: 'Metadata', request_id: 'r1', model_name: this.url.searchParams.get('model') });
  }

  binary(): void {
    this.#refuse('binary messages are not understood');
  }

  text(text: string): void {
    const message = readFields(text);
    const type = String(message?.type);
    this.types.push(type);
    if (type === 'Speak' && typeof message?.text === 'string') this.#take(message.text);
    else if (type === 'Flush') this.#flush();
    else if (type === 'Clear') this.#clear();
    else if (type === 'Close') this.#peer.close(1000, '');
    else this.#refuse(`cannot be read: ${text.slice(0, 40)}`);
  }

  closed(): void {
    this.#timer?.cancel();
  }

  #take(text: string): void {
    if ([...text].length > MAX_CHARACTERS) this.#refuse(`more than ${MAX_CHARACTERS} characters`);
    else this.#pending += text;
  }

  #flush(): void {
    const now = this.#server.clock.now();
    this.#flushes = [...this.#flushes.filter((at) => now - at < FLUSHES_MS), now];
    if (this.#flushes.length > MAX_FLUSHES) {
      this.#flushes.pop();
      this.#server.complain(`more than ${MAX_FLUSHES} flushes in a minute`);
      this.#peer.send({ type: 'Warning', code: 'EXCESSIVE_FLUSH', description: 'too many flushes' });
      return;
    }
    const { msPerCharacter = 60, chunkBytes = 6400 } = this.#options;
    const text = this.#pending;
    this.#pending = '';
    this.texts.push(text);
    const bytes = Buffer.from(speakInTones(text, { sampleRateHz: SAMPLE_RATE_HZ, msPerCharacter }).buffer);
    for (let at = 0; at < bytes.length; at += chunkBytes)
      this.#queue.push(bytes.subarray(at, at + chunkBytes));
    if (this.#options.withoutFlushed !== true) this.#queue.push(this.#answer('Flushed'));
    this.#pump(this.#options.firstAudioMs ?? 0);
  }

  #clear(): void {
    const late = this.#queue.filter((each) => Buffer.isBuffer(each)).slice(0, this.#options.lateChunks ?? 0);
    this.#pending = '';
    this.#queue = [...late, this.#answer('Cleared')];
    this.#pump(0);
  }

  #answer(type: string): object {
    this.#sequence += 1;
    return { type, sequence_id: this.#sequence - 1 };
  }

  #pump(delayMs: number): void {
    if (this.#timer !== undefined) return;
    const step = () => {
      this.#timer = undefined;
      const next = this.#queue.shift();
      if (next === undefined) return;
      this.#peer.send(next);
      this.#pump(this.#options.chunkEveryMs ?? 0);
    };
    if (delayMs > 0) this.#timer = this.#server.clock.after(delayMs, step);
    else step();
  }

  /** The client did what it must not. */
  #refuse(sentence: string): void {
    this.#server.complain(sentence);
    this.#peer.send({ type: 'Error', code: 'DATA-0000', description: sentence });
    this.#peer.close(1008, 'DATA-0000');
  }
}
