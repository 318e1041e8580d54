// Deepgram's listen socket (v1) on loopback: answers as the vendor would, with transcripts from a script.
import type { Timer } from '../../base/clock.js';
import { transcoder } from '../../transcoder/select.js';
import { checkEmulatorOptions } from './emulator-options.js';
import { createHearing } from './hearing.js';
import { readFields } from './message-fields.js';
import { type Hearing, type HearingOptions, type HeardSpeech, WORD_MS } from './scripted-hearing.js';
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

/** What is heard in one stretch of sound, and in which language. */
export interface DeepgramUtterance {
  readonly text: string;
  /** BCP 47 tag, told with each word where a connection asks for `language=multi`. @default 'en' */
  readonly language?: string | undefined;
}

export interface EmulateDeepgramOptions extends EmulatorOptions {
  /**
   * What is heard: one text for each stretch of sound, whatever it is. A list is worked off by all connections together, and what a connection
   * has not finished when it ends is heard again; a function gives every connection a list of its own.
   * @default the words of a tone voice, and no words in any other sound
   */
  readonly utterances?:
    | readonly (string | DeepgramUtterance)[]
    | ((request: EmulatorRequest) => readonly (string | DeepgramUtterance)[]);
  /** Silence after which the text of an utterance is final, also when less is asked for. @default 300 */
  readonly pauseMs?: number;
}

/** What one connection was sent. */
export interface DeepgramConnection {
  readonly url: URL;
  readonly audioMs: number;
  readonly audioMessages: number;
  /** Types of the control messages, in order. */
  readonly controls: readonly string[];
}

export interface DeepgramEmulator extends Emulator {
  readonly connections: readonly DeepgramConnection[];
}

const KNOWN_PARAMETERS = new Set(
  'model language language_hint encoding sample_rate channels multichannel interim_results endpointing utterance_end_ms vad_events smart_format punctuate numerals no_delay keyterm keywords tag mip_opt_out redact diarize filler_words profanity_filter version extra callback'.split(
    ' ',
  ),
);

/** Time without audio or a sign of life until the vendor gives up. */
const IDLE_MS = 10_000;
const DEFAULT_PAUSE_MS = 300;
/** Silence is told of, too: an empty final every so often. */
const EMPTY_FINAL_MS = 5000;
/** Less audio than this since the last result, and `Finalize` is not answered. */
const LEAST_TO_FINALIZE_MS = 200;

const OPTION_NAMES: Readonly<Record<Exclude<keyof EmulateDeepgramOptions, keyof EmulatorOptions>, true>> = {
  utterances: true,
  pauseMs: true,
};

export async function emulateDeepgram(options: EmulateDeepgramOptions = {}): Promise<DeepgramEmulator> {
  checkEmulatorOptions(options, OPTION_NAMES, 'emulateDeepgram()');
  const { utterances } = options;
  const shared = typeof utterances === 'object' ? [...utterances] : undefined;
  return serveSockets(options, {
    refuse,
    connect(peer, server) {
      const queue = typeof utterances === 'function' ? [...utterances(peer.request)] : shared;
      return new ListenConnection(peer, server, { ...options, queue });
    },
  });
}

/** What the vendor answers to a bad handshake. */
function refuse(request: EmulatorRequest, apiKey: string): Refusal | undefined {
  const { url, headers } = request;
  const bad = (code: string): Refusal => ({ status: 400, headers: { 'dg-error': code } });
  if (url.pathname !== '/v1/listen') return unknownAddress(request);
  if (headers.authorization !== `Token ${apiKey}` && headers.authorization !== `Bearer ${apiKey}`)
    return { status: 401, headers: { 'dg-error': 'INVALID_AUTH' } };
  const value = (name: string) => url.searchParams.get(name);
  for (const name of url.searchParams.keys())
    if (!KNOWN_PARAMETERS.has(name)) return bad('INVALID_QUERY_PARAMETER');
  if (value('model') === null || value('model') === 'no-such-model') return bad('INVALID_MODEL');
  const encoding = `${value('encoding')} ${value('sample_rate')}`;
  if (encoding !== 'linear16 16000' && encoding !== 'mulaw 8000') return bad('INVALID_ENCODING');
  const isHinted = value('language_hint') !== null;
  if (isHinted && !(/^nova-3(-general)?$/.test(value('model') ?? '') && value('language') === 'multi'))
    return bad('INVALID_QUERY_PARAMETER');
  const utteranceEnd = value('utterance_end_ms');
  if (utteranceEnd !== null && (Number(utteranceEnd) < 1000 || value('interim_results') !== 'true'))
    return bad('INVALID_QUERY_PARAMETER');
  const endpointing = value('endpointing');
  if (endpointing !== null && endpointing !== 'false' && !/^\d+$/.test(endpointing))
    return bad('INVALID_QUERY_PARAMETER');
  return undefined;
}

class ListenConnection implements PeerHandler, DeepgramConnection {
  readonly url: URL;
  readonly controls: string[] = [];
  audioMessages = 0;
  readonly #peer: VendorPeer;
  readonly #server: VendorServer;
  readonly #queue: (string | DeepgramUtterance)[] | undefined;
  /** What was heard last is in it. */
  #language = 'en';
  readonly #hearing: Hearing;
  #idle: Timer | undefined;
  /** Results cover the audio without gaps: the last one ended here. */
  #coveredMs = 0;
  #lastWordEndMs: number | undefined;
  #utteranceEndDue = false;

  constructor(
    peer: VendorPeer,
    server: VendorServer,
    options: Pick<EmulateDeepgramOptions, 'pauseMs'> & { queue: (string | DeepgramUtterance)[] | undefined },
  ) {
    this.url = peer.request.url;
    this.#peer = peer;
    this.#server = server;
    this.#queue = options.queue;
    const endpointing = Number(this.url.searchParams.get('endpointing') ?? 10);
    const hearing: HearingOptions = {
      sampleRateHz: Number(this.url.searchParams.get('sample_rate')),
      pauseMs: Math.max(endpointing || 0, options.pauseMs ?? DEFAULT_PAUSE_MS),
      events: {
        started: (atMs) => this.#started(atMs),
        grew: (speech) => {
          if (this.#asks('interim_results')) this.#results(speech, {});
        },
        ended: (speech) => {
          this.#results(speech, { is_final: true, speech_final: endpointing > 0 });
          this.#utteranceEndDue = true;
        },
        silent: (silenceMs) => this.#silent(silenceMs),
      },
    };
    const { queue } = options;
    this.#hearing = createHearing(hearing, queue && (() => this.#next(queue)));
    this.#stayOpen();
  }

  get audioMs(): number {
    return this.#hearing.atMs;
  }

  text(text: string): void {
    const type = readType(text);
    this.controls.push(type ?? 'unreadable');
    this.#stayOpen();
    if (type === 'Finalize') this.#finalize();
    else if (type === 'CloseStream') this.#closeStream();
    else if (type !== 'KeepAlive') {
      this.#server.complain(`unknown control message ${text.slice(0, 60)}`);
      this.#peer.close(1008, 'DATA-0000: the message could not be read');
    }
  }

  binary(bytes: Buffer): void {
    this.#stayOpen();
    if (bytes.length === 0) {
      this.#server.complain('an empty binary message closes the stream');
      this.#closeStream();
      return;
    }
    this.audioMessages += 1;
    if (bytes[0] === 0x7b && readType(bytes.toString('utf8')) !== undefined)
      this.#server.complain('a control message in a binary frame is taken as audio');
    const mulaw = this.url.searchParams.get('encoding') === 'mulaw';
    if (!mulaw && bytes.length % 2 !== 0) {
      this.#server.complain('half a sample');
      this.#peer.close(1008, 'DATA-0000: the audio could not be decoded');
      return;
    }
    this.#hearing.push(mulaw ? transcoder.mulawDecode(bytes) : new Int16Array(new Uint8Array(bytes).buffer));
  }

  closed(): void {
    this.#idle?.cancel();
    const { unfinished } = this.#hearing;
    if (unfinished !== '') this.#queue?.unshift({ text: unfinished, language: this.#language });
  }

  #next(queue: (string | DeepgramUtterance)[]): string {
    const next = queue.shift() ?? '';
    const { text, language = 'en' } = typeof next === 'string' ? { text: next } : next;
    this.#language = language;
    return text;
  }

  #asks(name: string): boolean {
    return this.url.searchParams.get(name) === 'true';
  }

  #stayOpen(): void {
    this.#idle?.cancel();
    this.#idle = this.#server.clock.after(IDLE_MS, () =>
      this.#peer.close(1011, 'NET-0001: no audio was received'),
    );
  }

  #started(atMs: number): void {
    this.#utteranceEndDue = false;
    if (this.#asks('vad_events'))
      this.#peer.send({ type: 'SpeechStarted', channel: [0, 1], timestamp: atMs / 1000 });
  }

  #silent(silenceMs: number): void {
    if (this.#hearing.atMs - this.#coveredMs >= EMPTY_FINAL_MS)
      this.#results({ words: [], fromMs: this.#coveredMs, toMs: this.#hearing.atMs }, { is_final: true });
    const gapMs = Number(this.url.searchParams.get('utterance_end_ms') ?? Number.POSITIVE_INFINITY);
    if (!this.#utteranceEndDue || silenceMs < gapMs) return;
    this.#utteranceEndDue = false;
    this.#peer.send({
      type: 'UtteranceEnd',
      channel: [0, 1],
      last_word_end: this.#lastWordEndMs === undefined ? -1 : this.#lastWordEndMs / 1000,
    });
  }

  #finalize(): void {
    const speech = this.#hearing.take();
    if (speech === undefined && this.#hearing.atMs - this.#coveredMs < LEAST_TO_FINALIZE_MS) return;
    const nothing = { words: [], fromMs: this.#coveredMs, toMs: this.#hearing.atMs };
    this.#results(speech ?? nothing, { is_final: true, from_finalize: true });
  }

  #closeStream(): void {
    const speech = this.#hearing.take();
    if (speech !== undefined) this.#results(speech, { is_final: true, speech_final: true });
    this.#peer.send({ type: 'Metadata', request_id: 'r1', duration: this.audioMs / 1000, channels: 1 });
    this.#peer.close(1000, '');
  }

  #results(speech: Omit<HeardSpeech, 'wordsToMs'>, flags: Readonly<Record<string, boolean>>): void {
    const { words, toMs } = speech;
    const fromMs = Math.min(this.#coveredMs, speech.fromMs);
    const at = (index: number) => Math.min(speech.fromMs + index * WORD_MS, toMs) / 1000;
    if (words.length > 0) this.#lastWordEndMs = toMs;
    const language = this.url.searchParams.get('language') === 'multi' ? this.#language : undefined;
    this.#peer.send({
      type: 'Results',
      channel_index: [0, 1],
      start: fromMs / 1000,
      duration: (toMs - fromMs) / 1000,
      is_final: false,
      speech_final: false,
      from_finalize: false,
      ...flags,
      channel: {
        alternatives: [
          {
            transcript: words.join(' '),
            confidence: words.length === 0 ? 0 : 0.99,
            ...(language !== undefined && {
              languages: words.length === 0 ? [] : [language],
              languages_hinted: this.url.searchParams.getAll('language_hint').map((tag) => tag.split('-')[0]),
            }),
            words: words.map((word, index) => ({
              word: word.toLowerCase().replace(/[^\p{L}\p{N}']/gu, ''),
              punctuated_word: word,
              start: at(index),
              end: at(index + 1),
              confidence: 0.99,
              ...(language !== undefined && { language }),
            })),
          },
        ],
      },
      metadata: { request_id: 'r1', model_info: { name: this.url.searchParams.get('model') } },
    });
    if (flags.is_final === true) this.#coveredMs = toMs;
  }
}

function readType(text: string): string | undefined {
  const type = readFields(text)?.type;
  return typeof type === 'string' ? type : undefined;
}
