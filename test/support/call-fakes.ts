// The neighbours of a call, made of nothing: a carrier whose wire words are JSON, sockets and engines that keep what they get.
import { PCM_16K } from '../../src/audio/format.js';
import { silentMeters } from '../../src/base/meters.js';
import type {
  CallReport,
  StreamAdmission,
  StreamReceiver,
  StreamSocket,
  WaitingCall,
} from '../../src/calls/call-desk.js';
import type { BudgetLimits } from '../../src/calls/budget.js';
import { CallDirectory } from '../../src/calls/call-directory.js';
import { type PriceOverrides, Pricing } from '../../src/calls/pricing.js';
import type {
  CallAnswer,
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
import type { CallEvent, CallEventOf, CallEventType } from '../../src/contract/call-event.js';
import type { CallOutcome, CallRecord, CallStatus } from '../../src/contract/call-record.js';
import type {
  Chargers,
  Engine,
  EngineContext,
  EngineRecipe,
  Preparation,
  PreparationContext,
  Resumption,
  SpokenText,
} from '../../src/engines/engine.js';
import { EventBus } from '../../src/events/bus.js';
import { reduceCall } from '../../src/events/reduce.js';
import type { TranscoderBackend } from '../../src/transcoder/backend.js';
import { FakeClock } from './fake-clock.js';
import { RecordedLogger } from './recorded-logger.js';

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
}): Carrier {
  return {
    id: 'carrier-a',
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
    webhooks: { routes: [], parse: refuse, answer: refuse, acknowledge: refuse },
    openMedia: () => jsonDialect,
    rest: options.rest,
  };
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
  markPlayed(name: string): void {
    this.#note('mark', name);
  }
  hold(): void {
    this.#note('hold');
  }
  resume(how: Resumption): void {
    this.#note('resume', how);
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

/** How a carrier is steered: by the replies to its webhooks, or by commands. */
export type Steering = 'replies' | 'commands';

export interface BenchOptions {
  steering?: Steering;
  key?: Uint8Array;
  supports?: Partial<Carrier['supports']>;
  recording?: boolean;
  publicHost?: string | undefined;
  backend?: TranscoderBackend;
  pricing?: PriceOverrides;
  budget?: BudgetLimits;
  /** What the providers of the engine charge. */
  chargers?: Chargers | undefined;
  /** The recipe readies calls, and webhooks are signed. */
  prepares?: boolean;
  maxCalls?: number;
}

/** Host that the bench's webhooks come to. */
export const WEBHOOK_HOST = 'webhook.example';

const PARTIES = { caller: '+15550111', callee: '+15550100' } as const;

/** A directory with fakes all around it. */
export class CallBench {
  readonly clock = new FakeClock();
  readonly logger = new RecordedLogger();
  readonly bus = new EventBus(this.logger);
  readonly pricing: Pricing;
  readonly rest = new FakeRest();
  readonly events: CallEvent[] = [];
  readonly engines: FakeEngine[] = [];
  readonly preparations: FakePreparation[] = [];
  /** Called with each preparation as it is made. */
  onPreparation: (preparation: FakePreparation) => void = () => {};
  /** Called with each engine as it is made. */
  onEngine: (engine: FakeEngine) => void = () => {};
  takesText = false;
  readonly carrier: Carrier;
  readonly desk: CallDirectory;

  constructor(options: BenchOptions = {}) {
    const { steering = 'replies', key, supports, recording = false, backend = noTranscoder } = options;
    this.pricing = new Pricing({ overrides: options.pricing, logger: this.logger });
    const publicHost = 'publicHost' in options ? options.publicHost : 'voice.example';
    const recipe: EngineRecipe = {
      mode: 'pipeline',
      providers: { engine: null, stt: 'fake/stt', llm: 'fake/llm', tts: 'fake/tts' },
      chargers: options.chargers,
      ...(options.prepares === true ? { prepare: (context) => this.prepare(context) } : {}),
      create: (context, preparation) => {
        const engine = new FakeEngine(context, { takesText: this.takesText });
        this.engines.push(engine);
        this.onEngine(engine);
        if (preparation instanceof FakePreparation) preparation.engine = engine;
        return engine;
      },
    };
    this.bus.subscribe((event) => void this.events.push(event));
    const commands = steering === 'commands' ? createFakeCommands(this.rest) : undefined;
    const verifies = options.prepares === true || key !== undefined;
    this.carrier = createFakeCarrier({ rest: this.rest, key, commands, supports, verifies });
    this.desk = new CallDirectory({
      carrier: this.carrier,
      backend,
      recipe,
      bus: this.bus,
      clock: this.clock,
      logger: this.logger,
      pricing: this.pricing,
      budget: options.budget,
      meters: silentMeters,
      nodeId: 'node-1',
      maxCallMs: 60 * 60_000,
      publicHost: () => publicHost,
      ownNumber: '+15550199',
      language: 'de-DE',
      recording,
      maxCalls: options.maxCalls,
    });
  }

  /** What the recipe of the bench does, and what another one can do. */
  prepare(context: PreparationContext): FakePreparation {
    const preparation = new FakePreparation(context);
    this.preparations.push(preparation);
    this.onPreparation(preparation);
    return preparation;
  }

  /** A stream that was accepted and has said nothing. */
  admit(admission: Partial<StreamAdmission> = {}): { socket: FakeSocket; receiver: StreamReceiver } {
    const socket = new FakeSocket();
    const nothing = { carrierCallId: null, caller: null, callee: null, direction: null };
    const receiver = this.desk.admit({ callId: 'call-1', ...nothing, ...admission }, socket);
    return { socket, receiver };
  }

  /** A call that is up. */
  call(callId = 'call-1') {
    const { socket, receiver } = this.admit({ callId });
    receiver.receiveText(startText({ carrierCallId: `carrier-${callId}` }));
    return { socket, receiver, engine: this.engine };
  }

  /** The stream of a call that is known by now. */
  connect(callId = 'call-1', fields: Partial<StartFields> = {}) {
    const { socket, receiver } = this.admit({ callId });
    receiver.receiveText(startText({ carrierCallId: `carrier-${callId}`, ...fields }));
    return { socket, receiver };
  }

  /** An inbound call rings. */
  ring(callId = 'call-1', fields: Partial<WaitingCall> = {}): CallAnswer {
    const carrierCallId = `carrier-${callId}`;
    const call = { callId, carrierCallId, ...PARTIES, direction: 'inbound', host: WEBHOOK_HOST } as const;
    return this.desk.ring({ ...call, ...fields });
  }

  /** A report on the call that rings as `call-1`, unless it says otherwise. */
  report(report: ReportFields): CallAnswer | undefined {
    const named = { callId: null, carrierCallId: 'carrier-call-1', ...report } as CallReport;
    return this.desk.report(named, WEBHOOK_HOST);
  }

  status(
    status: CallStatus,
    fields: { outcome?: CallOutcome | null; sequence?: number | null } & Named = {},
  ) {
    const { outcome = null, sequence = null, ...named } = fields;
    return this.report({ type: 'status', status, outcome, sequence, ...named });
  }

  /** The engine that was made last. */
  get engine(): FakeEngine {
    const engine = this.engines.at(-1);
    if (engine === undefined) throw new Error('no engine');
    return engine;
  }

  /** Timers run, and promises settle. */
  async pass(ms = 0): Promise<void> {
    await this.clock.advanceAsync(ms);
  }

  ofType<T extends CallEventType>(type: T, callId = 'call-1'): CallEventOf<T>[] {
    const isWanted = (event: CallEvent): event is CallEventOf<T> =>
      event.type === type && event.callId === callId;
    return this.events.filter(isWanted);
  }

  types(callId = 'call-1'): string[] {
    return this.events.filter((event) => event.callId === callId).map((event) => event.type);
  }

  /** The record of a call as its facts make it. */
  record(callId = 'call-1'): CallRecord {
    const events = this.events.filter((event) => event.callId === callId);
    const record = events.reduce<CallRecord | undefined>(reduceCall, undefined);
    if (record === undefined) throw new Error('no record');
    return record;
  }
}

type StartFields = Extract<MediaMessage, { type: 'start' }>;
type Named = { callId?: string | null; carrierCallId?: string };
type Unnamed<T> = T extends unknown ? Omit<T, 'callId' | 'carrierCallId'> & Named : never;
export type ReportFields = Unnamed<CallReport>;

export function startText(fields: Partial<StartFields> = {}): string {
  return JSON.stringify({
    type: 'start',
    carrierCallId: 'carrier-call-1',
    streamId: 'stream-1',
    format: PCM_16K,
    outboundFormat: PCM_16K,
    codec: 'pcm',
    parameters: { ...PARTIES },
    ...fields,
  });
}

export function text(message: object): string {
  return JSON.stringify(message);
}
