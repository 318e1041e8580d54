// The neighbors of a call, made of nothing: a carrier whose wire words are JSON, sockets and engines that keep what they get.
import { begun } from '../../src/conversation/state.js';
import type { SpokenRequest } from '../../src/engines/spoken-request.js';
import type { Resumption } from '../../src/conversation/floor.js';
import { PCM_16K } from '../../src/audio/format.js';
import type { StreamSocket } from '../../src/calls/call-desk.js';
import type {
  CallLookup,
  Carrier,
  CarrierCommands,
  CarrierRest,
  DialRequest,
  MediaDialect,
  MediaMessage,
  StreamInvitation,
  TransferRequest,
} from '../../src/carriers/carrier.js';
import type { CallOutcome } from '../../src/contract/call-record.js';
import type { Engine, EngineContext, Preparation, PreparationContext } from '../../src/engines/engine.js';
import type { SpokenText } from '../../src/providers/speech-to-text.js';
import type { TranscoderBackend } from '../../src/transcoder/backend.js';

const refuse = (): never => {
  throw new Error('not part of this test');
};

/** Streams of these calls are 16 kHz PCM, which needs no arithmetic. */
export const noTranscoder: TranscoderBackend = {
  name: 'javascript',
  mulawDecode: refuse,
  mulawEncode: refuse,
  alawDecode: refuse,
  alawEncode: refuse,
  createResampler: refuse,
  createVoiceDetector: refuse,
  hmacSha1: refuse,
  verifyHmacSha1: refuse,
};

/** Requests by name, as they may be told to fail or to wait. */
export type RequestName = keyof CarrierRest | keyof CarrierCommands;

/** Keeps requests, and answers them as told. */
export class FakeRest implements CarrierRest {
  configured = true;
  over = false;
  outcome: CallOutcome | null = null;
  costUsd: number | null = null;
  /** What a request waits for before it is answered. */
  answer: Promise<void> = Promise.resolve();
  failure: Error | undefined;
  /** Failures of some requests alone. */
  readonly failures: Partial<Record<RequestName, Error>> = {};
  /** What some requests wait for. */
  readonly answers: Partial<Record<RequestName, Promise<void>>> = {};
  limit?: NonNullable<CarrierRest['limit']>;
  readonly requests: string[] = [];
  readonly dials: DialRequest[] = [];
  readonly invitations: StreamInvitation[] = [];

  async dial(request: DialRequest): Promise<{ carrierCallId: string }> {
    this.dials.push(request);
    await this.request('dial', request.to);
    return { carrierCallId: `carrier-out-${this.dials.length}` };
  }
  async hangUp(carrierCallId: string): Promise<void> {
    await this.request('hangUp', carrierCallId);
  }
  async transfer(carrierCallId: string, { to, callerId }: TransferRequest): Promise<void> {
    await this.request('transfer', `${carrierCallId} ${to} ${callerId}`);
  }
  async openStream(carrierCallId: string, stream: StreamInvitation): Promise<void> {
    this.invitations.push(stream);
    await this.request('openStream', carrierCallId);
  }
  async sendDigits(carrierCallId: string, digits: string, stream: StreamInvitation): Promise<void> {
    this.invitations.push(stream);
    await this.request('sendDigits', `${carrierCallId} ${digits}`);
  }
  async speak(
    carrierCallId: string,
    text: string,
    { language }: { language: string | undefined },
  ): Promise<void> {
    await this.request('speak', `${carrierCallId} ${language} ${text}`);
  }
  async startRecording(carrierCallId: string): Promise<void> {
    await this.request('startRecording', carrierCallId);
  }
  async lookUp(carrierCallId: string): Promise<CallLookup> {
    await this.request('lookUp', carrierCallId);
    const { over: isOver, outcome, costUsd } = this;
    return { isOver, outcome, costUsd };
  }
  async setVoiceUrl(phoneNumber: string, urls: { voice: string; status: string }): Promise<void> {
    await this.request('setVoiceUrl', `${phoneNumber} ${urls.voice} ${urls.status}`);
  }

  /** Lines of requests with this name. */
  of(name: RequestName): string[] {
    return this.requests.filter((line) => line.startsWith(`${name} `));
  }

  async request(name: RequestName, detail: string): Promise<void> {
    this.requests.push(`${name} ${detail}`);
    await this.answer;
    await this.answers[name];
    const failure = this.failures[name] ?? this.failure;
    if (failure !== undefined) throw failure;
  }
}

/** Commands that are kept among the requests of `rest`. */
export function createFakeCommands(rest: FakeRest): CarrierCommands {
  return {
    answer: (id) => rest.request('answer', id),
    reject: (id, reason) => rest.request('reject', `${id} ${reason}`),
    startStream: (id, { url, parameters, codec }) => {
      rest.invitations.push({ url, parameters });
      return rest.request('startStream', `${id} ${codec}`);
    },
    stopStream: (id) => rest.request('stopStream', id),
  };
}

/** `audio` messages name a number of samples; `bomb` makes the decoder throw. */
const jsonDialect: MediaDialect = {
  decode(text) {
    if (text === 'bomb') throw new Error('the decoder broke');
    const message: MediaMessage & { samples?: number } = JSON.parse(text);
    if (message.type !== 'audio') return message;
    return { type: 'audio', payload: new Uint8Array((message.samples ?? 0) * 2) };
  },
  encodeAudio: (payload) => `audio ${payload.length}`,
  encodeMark: (name) => `mark ${name}`,
  encodeClear: () => 'clear',
};

export function createFakeCarrier(options: {
  rest: CarrierRest;
  key?: Uint8Array | undefined;
  commands?: CarrierCommands | undefined;
  supports?: Partial<Carrier['supports']> | undefined;
  /** @default true with a key */
  verifies?: boolean | undefined;
  /** It asks what comes after a stream. */
  resumes?: boolean | undefined;
}): Carrier {
  const carrier: Carrier = {
    id: 'carrier-a',
    during: () => carrier,
    supports: {
      recording: true,
      voiceUrl: true,
      digitsReplaceStream: options.commands === undefined,
      callCost: false,
      callCostCoversStream: false,
      ...options.supports,
    },
    commands: options.commands,
    verifies: options.verifies ?? options.key !== undefined,
    usualLine: { inbound: PCM_16K, outbound: PCM_16K },
    streamTokenKey: options.key,
    secretSetting: 'FAKE_SECRET',
    prepare: async () => {},
    verify() {},
    verifyUpgrade() {},
    webhooks: {
      routes: options.resumes === true ? ['resume'] : [],
      parse: refuse,
      answer: refuse,
      acknowledge: refuse,
    },
    openMedia: () => jsonDialect,
    rest: options.rest,
  };
  return carrier;
}

export class FakeSocket implements StreamSocket {
  readonly sent: string[] = [];
  readonly closes: [number, string][] = [];
  bufferedBytes = 0;

  send(text: string): void {
    this.sent.push(text);
  }
  close(code: number, reason: string): void {
    this.closes.push([code, reason]);
  }
}

/** Keeps what it is given. `trouble` names a method that throws. */
export class FakeEngine implements Engine {
  readonly mode = 'pipeline';
  readonly state = begun({ hasGreeting: false });
  readonly heard: string[] = [];
  trouble: string | undefined;
  pushSpokenText?: (segment: SpokenText) => void;

  constructor(
    readonly context: EngineContext,
    options: { takesText: boolean },
  ) {
    if (options.takesText) this.pushSpokenText = ({ text }) => this.#note('text', text);
  }
  start(): void {
    this.#note('start');
  }
  pushAudio(frame: Int16Array): void {
    this.#note('audio', String(frame.length));
  }
  pushDtmf(digit: string): void {
    this.#note('dtmf', digit);
  }
  request({ text }: SpokenRequest): boolean {
    this.#note('request', text);
    return true;
  }
  inform(text: string): void {
    this.#note('inform', text);
  }
  markPlayed(name: string): void {
    this.#note('mark', name);
  }
  hold(): void {
    this.#note('hold');
  }
  resume(how: Resumption): void {
    this.#note('resume', typeof how === 'object' ? how.news : how);
  }
  close(): void {
    this.#note('close');
  }
  #note(method: string, detail?: string): void {
    if (this.trouble === method) throw new Error('vendor says: key sk-123 is wrong');
    this.heard.push(detail === undefined ? method : `${method} ${detail}`);
  }
}

/** What a recipe has made ready for a call. Says what became of it. */
export class FakePreparation implements Preparation {
  answers = 0;
  closes = 0;
  /** The engine that it was given to. */
  engine: FakeEngine | undefined;

  constructor(readonly context: PreparationContext) {}

  answered(): void {
    this.answers += 1;
  }

  /** Nobody has used it, and it cost 30 characters. */
  close(): void {
    if (this.engine !== undefined) return;
    this.closes += 1;
    const quantities = { characters: 30 };
    this.context.spent?.({
      type: 'usage.measured',
      stage: 'tts',
      turnIndex: null,
      quantities,
      isGuess: false,
    });
  }

  get isSettled(): boolean {
    return this.closes === (this.engine === undefined ? 1 : 0);
  }
}
