// ElevenLabs' multi-context text-to-speech socket on loopback: answers as the vendor would, with a tone voice.
import type { Timer } from '../../base/clock.js';
import { checkEmulatorOptions } from './emulator-options.js';
import { readFields } from './message-fields.js';
import { speakWithPauses, type TimedCharacter } from './paused-speech.js';
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

export interface EmulateElevenLabsOptions extends EmulatorOptions {
  /** Length of the audio, in milliseconds per character. @default 60 */
  readonly msPerCharacter?: number;
  /** Halts this long behind commas and their like, in milliseconds, as people do. @default 0 */
  readonly pauseMs?: number;
  /** Time from a text to its first audio, and between two chunks. @default 0 */
  readonly firstAudioMs?: number;
  readonly chunkEveryMs?: number;
  /** Bytes of a chunk. An odd number cuts samples in half. @default 6400 */
  readonly chunkBytes?: number;
  /** Now and then sends messages without audio, or with null for it. @default false */
  readonly emptyMessages?: boolean;
  /** Never says that a context is finished. @default false */
  readonly withoutFinal?: boolean;
  /** Leaves out the alignment. @default false */
  readonly withoutAlignment?: boolean;
}

/** What one connection was sent. */
export interface ElevenLabsConnection {
  readonly url: URL;
  /** Texts by context, in the order in which they were opened, blanks at the ends cut off. */
  readonly texts: ReadonlyMap<string, string>;
  readonly messages: readonly Readonly<Record<string, unknown>>[];
  /** Contexts that are open now, and the most that ever were. */
  readonly openContexts: number;
  readonly mostContexts: number;
}

export interface ElevenLabsEmulator extends Emulator {
  readonly connections: readonly ElevenLabsConnection[];
}

const MAX_CONTEXTS = 5;
const KNOWN_PARAMETERS = new Set(
  'model_id language_code enable_logging enable_ssml_parsing output_format inactivity_timeout sync_alignment auto_mode apply_text_normalization seed authorization'.split(
    ' ',
  ),
);
const KNOWN_FIELDS = new Set(
  'text context_id flush close_context close_socket voice_settings generation_config xi_api_key authorization try_trigger_generation'.split(
    ' ',
  ),
);
const DEFAULT_INACTIVITY_S = 20;
const SAMPLE_RATE_HZ = 16_000;
const BYTES_PER_MS = 32;

const OPTION_NAMES: Readonly<Record<Exclude<keyof EmulateElevenLabsOptions, keyof EmulatorOptions>, true>> = {
  msPerCharacter: true,
  firstAudioMs: true,
  chunkEveryMs: true,
  chunkBytes: true,
  emptyMessages: true,
  withoutFinal: true,
  withoutAlignment: true,
  pauseMs: true,
};

export async function emulateElevenLabs(options: EmulateElevenLabsOptions = {}): Promise<ElevenLabsEmulator> {
  checkEmulatorOptions(options, OPTION_NAMES, 'emulateElevenLabs()');
  return serveSockets(options, {
    refuse,
    connect: (peer, server) => new SpeechConnection(peer, server, options),
  });
}

function refuse(request: EmulatorRequest, apiKey: string): Refusal | undefined {
  const { url, headers } = request;
  const bad = (status: number, code: string): Refusal => ({
    status,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ detail: { status: code, message: code } }),
  });
  if (!/^\/v1\/text-to-speech\/[\w-]+\/multi-stream-input$/.test(url.pathname))
    return unknownAddress(request);
  if (headers['xi-api-key'] !== apiKey) return bad(401, 'invalid_api_key');
  if (url.pathname.includes('no-such-voice')) return bad(404, 'voice_not_found');
  for (const name of url.searchParams.keys())
    if (!KNOWN_PARAMETERS.has(name)) return bad(400, 'unknown_parameter');
  if (url.searchParams.get('output_format') !== 'pcm_16000') return bad(400, 'output_format_not_emulated');
  const inactivity = Number(url.searchParams.get('inactivity_timeout') ?? DEFAULT_INACTIVITY_S);
  if (!(inactivity > 0 && inactivity <= 180)) return bad(400, 'invalid_inactivity_timeout');
  return undefined;
}

interface SpeechContext {
  /** Text that was not spoken yet, and all of it. */
  pending: string;
  closing: boolean;
  /** Messages that wait for their time. */
  queue: object[];
  timer: Timer | undefined;
}

class SpeechConnection implements PeerHandler, ElevenLabsConnection {
  readonly url: URL;
  readonly texts = new Map<string, string>();
  readonly messages: Record<string, unknown>[] = [];
  mostContexts = 0;
  readonly #peer: VendorPeer;
  readonly #server: VendorServer;
  readonly #options: EmulateElevenLabsOptions;
  readonly #contexts = new Map<string, SpeechContext>();
  #idle: Timer | undefined;

  constructor(peer: VendorPeer, server: VendorServer, options: EmulateElevenLabsOptions) {
    this.url = peer.request.url;
    this.#peer = peer;
    this.#server = server;
    this.#options = options;
    this.#stayOpen();
  }

  get openContexts(): number {
    return this.#contexts.size;
  }

  binary(): void {
    this.#refuse('invalid_message', 'binary messages are not understood');
  }

  text(text: string): void {
    this.#stayOpen();
    const message = readFields(text);
    const unknown = Object.keys(message ?? {}).find((field) => !KNOWN_FIELDS.has(field));
    if (message === undefined || unknown !== undefined) {
      this.#refuse('invalid_message', `cannot be read: ${unknown ?? text.slice(0, 40)}`);
      return;
    }
    this.messages.push(message);
    if (message.close_socket === true) {
      this.#peer.close(1000, '');
      return;
    }
    const id = typeof message.context_id === 'string' ? message.context_id : 'default';
    const context = this.#contexts.get(id) ?? this.#open(id, message);
    if (context === undefined) return;
    if (context.closing) {
      this.#server.complain(`context ${id} is closed`);
      return;
    }
    if (typeof message.text === 'string' && message.text.trim() !== '') this.#take(id, context, message.text);
    if (message.flush === true || message.close_context === true) this.#generate(id, context);
    if (message.close_context === true) {
      context.closing = true;
      this.#pump(id, context);
    }
  }

  closed(): void {
    this.#idle?.cancel();
    for (const { timer } of this.#contexts.values()) timer?.cancel();
  }

  #open(id: string, message: Readonly<Record<string, unknown>>): SpeechContext | undefined {
    if (typeof message.text !== 'string') {
      this.#server.complain(`there is no context ${id}`);
      return undefined;
    }
    if (this.#contexts.size >= MAX_CONTEXTS) {
      this.#refuse('max_active_contexts_exceeded', `more than ${MAX_CONTEXTS} contexts`);
      return undefined;
    }
    const context: SpeechContext = { pending: '', closing: false, queue: [], timer: undefined };
    this.#contexts.set(id, context);
    this.mostContexts = Math.max(this.mostContexts, this.#contexts.size);
    return context;
  }

  #take(id: string, context: SpeechContext, text: string): void {
    if (!text.endsWith(' ')) this.#server.complain(`a text must end in a blank: "${text.slice(-20)}"`);
    context.pending += text;
    this.texts.set(id, `${this.texts.get(id) ?? ''} ${text.trim()}`.trim());
  }

  #generate(id: string, context: SpeechContext): void {
    const text = context.pending.trim();
    context.pending = '';
    if (text === '') return;
    const { msPerCharacter = 60, pauseMs = 0, chunkBytes = 6400 } = this.#options;
    const { pcm, characters } = speakWithPauses(text, {
      sampleRateHz: SAMPLE_RATE_HZ,
      msPerCharacter,
      pauseMs,
    });
    const bytes = Buffer.from(pcm.buffer);
    for (let at = 0; at < bytes.length; at += chunkBytes) {
      const piece = bytes.subarray(at, at + chunkBytes);
      const [fromMs, toMs] = [at / BYTES_PER_MS, (at + piece.length) / BYTES_PER_MS];
      const said = characters.filter(({ startMs }) => startMs >= fromMs && startMs < toMs);
      if (this.#options.emptyMessages === true) context.queue.push({ audio: null }, { alignment: null });
      context.queue.push({
        audio: piece.toString('base64'),
        isFinal: null,
        ...this.#alignment(said, { fromMs, isFirst: at === 0 }),
      });
    }
    this.#pump(id, context, this.#options.firstAudioMs ?? 0);
  }

  /**
   * Times restart at 0 with each chunk, as the vendor's do; a chunk in which no character begins has none. What the vendor calls
   * normalized begins with a blank of no length.
   */
  #alignment(said: readonly TimedCharacter[], chunk: { fromMs: number; isFirst: boolean }): object {
    const asked = this.url.searchParams.get('sync_alignment') === 'true';
    if (!asked || this.#options.withoutAlignment === true) return {};
    if (said.length === 0) return { alignment: null, normalizedAlignment: null };
    const alignment = {
      chars: said.map(({ character }) => character),
      charStartTimesMs: said.map(({ startMs }) => Math.round(startMs - chunk.fromMs)),
      charDurationsMs: said.map(({ durationMs }) => Math.round(durationMs)),
    };
    const normalizedAlignment = {
      chars: [' ', ...alignment.chars],
      charStartTimesMs: [0, ...alignment.charStartTimesMs],
      charDurationsMs: [0, ...alignment.charDurationsMs],
    };
    return { alignment, normalizedAlignment: chunk.isFirst ? normalizedAlignment : alignment };
  }

  #pump(id: string, context: SpeechContext, delayMs = 0): void {
    if (context.timer !== undefined) return;
    const step = () => {
      context.timer = undefined;
      const message = context.queue.shift();
      if (message !== undefined) {
        this.#peer.send({ ...message, contextId: id });
        this.#pump(id, context, this.#options.chunkEveryMs ?? 0);
      } else if (context.closing) {
        this.#contexts.delete(id);
        if (this.#options.withoutFinal !== true) this.#peer.send({ isFinal: true, contextId: id });
      }
    };
    if (delayMs > 0) context.timer = this.#server.clock.after(delayMs, step);
    else step();
  }

  #stayOpen(): void {
    const seconds = Number(this.url.searchParams.get('inactivity_timeout') ?? DEFAULT_INACTIVITY_S);
    this.#idle?.cancel();
    this.#idle = this.#server.clock.after(seconds * 1000, () =>
      this.#end('input_timeout_exceeded', 'no text was received in time'),
    );
  }

  /** The client did what it must not. */
  #refuse(code: string, sentence: string): void {
    this.#server.complain(sentence);
    this.#end(code, sentence);
  }

  #end(code: string, sentence: string): void {
    this.#peer.send({ message: sentence, error: code, code: 1008 });
    this.#peer.close(1008, code);
  }
}
