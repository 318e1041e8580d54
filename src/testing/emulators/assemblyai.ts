// AssemblyAI's streaming socket (v3) on loopback: answers as the vendor would, with turns from a script.
import { checkEmulatorOptions } from './emulator-options.js';
import type { Timer } from '../../base/clock.js';
import { createHearing } from './hearing.js';
import { readFields } from './message-fields.js';
import type { Hearing, HearingOptions, HeardSpeech } from './scripted-hearing.js';
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

export interface EmulateAssemblyAIOptions extends EmulatorOptions {
  /**
   * What is heard: one text for each stretch of sound, worked off by all connections together; what a connection has not finished when
   * it ends is heard again. @default the words of a tone voice, and no words in any other sound
   */
  readonly utterances?: readonly string[];
  /** Silence that ends a turn. @default 300 */
  readonly pauseMs?: number;
  /** Tells the end of each turn a second time, written out. @default false */
  readonly formatsLater?: boolean;
  /** Does not answer `ForceEndpoint`. @default false */
  readonly withoutForcedEnds?: boolean;
}

/** What one connection was sent. */
export interface AssemblyAIConnection {
  readonly url: URL;
  readonly audioMs: number;
  /** Types of the control messages, in order. */
  readonly controls: readonly string[];
}

export interface AssemblyAIEmulator extends Emulator {
  readonly connections: readonly AssemblyAIConnection[];
}

const KNOWN_PARAMETERS = new Set(
  'speech_model sample_rate encoding format_turns min_turn_silence max_turn_silence end_of_turn_confidence_threshold vad_threshold interruption_delay keyterms_prompt prompt agent_context inactivity_timeout token'.split(
    ' ',
  ),
);
const SAMPLE_RATE_HZ = 16_000;
const DEFAULT_PAUSE_MS = 300;
/** The longest session. When it is over is told in seconds of the epoch. */
const SESSION_MS = 3 * 60 * 60_000;
/** Audio may be ahead of the clock by so much. */
const AHEAD_MS = 500;

const OPTION_NAMES: Readonly<Record<Exclude<keyof EmulateAssemblyAIOptions, keyof EmulatorOptions>, true>> = {
  utterances: true,
  pauseMs: true,
  formatsLater: true,
  withoutForcedEnds: true,
};

export async function emulateAssemblyAI(options: EmulateAssemblyAIOptions = {}): Promise<AssemblyAIEmulator> {
  checkEmulatorOptions(options, OPTION_NAMES, 'emulateAssemblyAI()');
  const queue = options.utterances === undefined ? undefined : [...options.utterances];
  return serveSockets(options, {
    refuse,
    connect: (peer, server) => new ListenConnection(peer, server, { ...options, queue }),
  });
}

/** Only the address is checked before the socket opens. */
function refuse(request: EmulatorRequest): Refusal | undefined {
  return request.url.pathname === '/v3/ws' ? undefined : unknownAddress(request);
}

class ListenConnection implements PeerHandler, AssemblyAIConnection {
  readonly url: URL;
  readonly controls: string[] = [];
  readonly #peer: VendorPeer;
  readonly #server: VendorServer;
  readonly #options: EmulateAssemblyAIOptions & { queue: string[] | undefined };
  readonly #hearing: Hearing;
  readonly #beganAt: number;
  #idle: Timer | undefined;
  #order = 0;

  constructor(
    peer: VendorPeer,
    server: VendorServer,
    options: EmulateAssemblyAIOptions & { queue: string[] | undefined },
  ) {
    this.url = peer.request.url;
    this.#peer = peer;
    this.#server = server;
    this.#options = options;
    this.#beganAt = server.clock.now();
    const { queue } = options;
    const hearing: HearingOptions = {
      sampleRateHz: SAMPLE_RATE_HZ,
      pauseMs: options.pauseMs ?? DEFAULT_PAUSE_MS,
      events: {
        started: (atMs) => peer.send({ type: 'SpeechStarted', timestamp: atMs }),
        grew: (speech) => this.#turn(speech, { end_of_turn: false }),
        ended: (speech) => this.#end(speech),
        silent: () => {},
      },
    };
    this.#hearing = createHearing(hearing, queue && (() => queue.shift() ?? ''));
    const problem = findProblem(peer.request, server.apiKey);
    if (problem !== undefined) {
      this.#fail(problem, 'the session was refused');
      return;
    }
    const expiresAt = Math.floor((server.clock.wallNow() + SESSION_MS) / 1000);
    peer.send({ type: 'Begin', id: 'session', expires_at: expiresAt });
    this.#stayOpen();
  }

  get audioMs(): number {
    return this.#hearing.atMs;
  }

  text(text: string): void {
    const message = readFields(text);
    const type = String(message?.type);
    this.controls.push(type);
    this.#stayOpen();
    if (type === 'ForceEndpoint') this.#forceEnd();
    else if (type === 'Terminate') this.#terminate();
    else if (type !== 'KeepAlive' && type !== 'UpdateConfiguration')
      this.#refuse(3006, `cannot be read: ${text.slice(0, 40)}`);
  }

  binary(bytes: Buffer): void {
    this.#stayOpen();
    const durationMs = bytes.length / 32;
    if (bytes.length % 2 !== 0 || durationMs < 50 || durationMs > 1000) {
      this.#refuse(3007, `audio of ${durationMs} ms`);
      return;
    }
    const aheadMs = this.audioMs + durationMs - (this.#server.clock.now() - this.#beganAt);
    if (aheadMs > AHEAD_MS) {
      this.#refuse(4029, 'audio comes faster than it is spoken');
      return;
    }
    this.#hearing.push(new Int16Array(new Uint8Array(bytes).buffer));
  }

  closed(): void {
    this.#idle?.cancel();
    const { unfinished } = this.#hearing;
    if (unfinished !== '') this.#options.queue?.unshift(unfinished);
  }

  #end(speech: HeardSpeech): void {
    this.#turn(speech, { end_of_turn: true, turn_is_formatted: false });
    if (this.#options.formatsLater === true)
      this.#turn(speech, { end_of_turn: true, turn_is_formatted: true });
    this.#order += 1;
  }

  #forceEnd(): void {
    if (this.#options.withoutForcedEnds === true) return;
    const speech = this.#hearing.take();
    if (speech !== undefined) this.#end(speech);
  }

  #terminate(): void {
    const seconds = this.audioMs / 1000;
    this.#peer.send({
      type: 'Termination',
      audio_duration_seconds: seconds,
      session_duration_seconds: seconds,
    });
    this.#peer.close(1000, '');
  }

  #turn({ words, fromMs, wordsToMs }: HeardSpeech, flags: Readonly<Record<string, boolean>>): void {
    const transcript = words.join(' ');
    const at = (index: number) => Math.round(fromMs + ((wordsToMs - fromMs) * index) / words.length);
    this.#peer.send({
      type: 'Turn',
      turn_order: this.#order,
      turn_is_formatted: false,
      end_of_turn_confidence: flags.end_of_turn === true ? 0.9 : 0.1,
      transcript: flags.turn_is_formatted === true ? `${transcript} (formatted)` : transcript,
      words: words.map((text, index) => ({
        text,
        start: at(index),
        end: at(index + 1),
        confidence: 0.99,
        word_is_final: true,
      })),
      ...flags,
    });
  }

  #stayOpen(): void {
    const seconds = this.url.searchParams.get('inactivity_timeout');
    if (seconds === null) return;
    this.#idle?.cancel();
    this.#idle = this.#server.clock.after(Number(seconds) * 1000, () => this.#fail(4031, 'idle'));
  }

  /** The client did what it must not. */
  #refuse(code: number, sentence: string): void {
    this.#server.complain(sentence);
    this.#fail(code, sentence);
  }

  #fail(code: number, sentence: string): void {
    this.#peer.send({ type: 'Error', error_code: code, error: sentence });
    this.#peer.close(code, sentence);
  }
}

/** The code with which the vendor closes a session that it does not begin. */
function findProblem({ url, headers }: EmulatorRequest, apiKey: string): number | undefined {
  if (headers.authorization !== apiKey) return 4001;
  const value = (name: string) => url.searchParams.get(name);
  if ([...url.searchParams.keys()].some((name) => !KNOWN_PARAMETERS.has(name))) return 3006;
  if (!/^universal-/.test(value('speech_model') ?? '')) return 3006;
  if (`${value('encoding')} ${value('sample_rate')}` !== `pcm_s16le ${SAMPLE_RATE_HZ}`) return 3006;
  return undefined;
}
