// The neighbours of a call, made of nothing: a carrier whose wire words are JSON, sockets and engines that keep what they get.
import { PCM_16K } from '../../src/audio/format.js';
import type { StreamAdmission, StreamReceiver, StreamSocket } from '../../src/calls/call-desk.js';
import { CallDirectory } from '../../src/calls/call-directory.js';
import type { Carrier, CarrierRest, MediaDialect, MediaMessage } from '../../src/carriers/carrier.js';
import type { CallEvent, CallEventOf, CallEventType } from '../../src/contract/call-event.js';
import type { Engine, EngineContext, EngineRecipe, SpokenText } from '../../src/engines/engine.js';
import { EventBus } from '../../src/events/bus.js';
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

/** Keeps requests, and answers them as told. */
export class FakeRest implements CarrierRest {
  configured = true;
  over = false;
  /** What a request waits for before it is answered. */
  answer: Promise<void> = Promise.resolve();
  failure: Error | undefined;
  readonly requests: string[] = [];

  async hangUp(carrierCallId: string): Promise<void> {
    await this.#request(`hangUp ${carrierCallId}`);
  }
  async transfer(carrierCallId: string, to: string, callerId: string | undefined): Promise<void> {
    await this.#request(`transfer ${carrierCallId} ${to} ${callerId}`);
  }
  async isOver(carrierCallId: string): Promise<boolean> {
    await this.#request(`isOver ${carrierCallId}`);
    return this.over;
  }
  async setVoiceUrl(phoneNumber: string, urls: { voice: string; status: string }): Promise<void> {
    await this.#request(`setVoiceUrl ${phoneNumber} ${urls.voice} ${urls.status}`);
  }
  async #request(line: string): Promise<void> {
    this.requests.push(line);
    await this.answer;
    if (this.failure !== undefined) throw this.failure;
  }
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

export function createFakeCarrier(options: { rest: CarrierRest; key?: Uint8Array | undefined }): Carrier {
  return {
    id: 'carrier-a',
    supports: { recording: true, voiceUrl: true },
    verifies: options.key !== undefined,
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
  close(): void {
    this.#note('close');
  }
  #note(method: string, detail?: string): void {
    if (this.trouble === method) throw new Error('vendor says: key sk-123 is wrong');
    this.heard.push(detail === undefined ? method : `${method} ${detail}`);
  }
}

/** A directory with fakes all around it. */
export class CallBench {
  readonly clock = new FakeClock();
  readonly logger = new RecordedLogger();
  readonly bus = new EventBus(this.logger);
  readonly rest = new FakeRest();
  readonly events: CallEvent[] = [];
  readonly engines: FakeEngine[] = [];
  /** Called with each engine as it is made. */
  onEngine: (engine: FakeEngine) => void = () => {};
  takesText = false;
  readonly desk: CallDirectory;

  constructor(options: { key?: Uint8Array } = {}) {
    const recipe: EngineRecipe = {
      mode: 'pipeline',
      providers: { engine: null, stt: 'fake/stt', llm: 'fake/llm', tts: 'fake/tts' },
      create: (context) => {
        const engine = new FakeEngine(context, { takesText: this.takesText });
        this.engines.push(engine);
        this.onEngine(engine);
        return engine;
      },
    };
    this.bus.subscribe((event) => void this.events.push(event));
    this.desk = new CallDirectory({
      carrier: createFakeCarrier({ rest: this.rest, key: options.key }),
      backend: noTranscoder,
      recipe,
      bus: this.bus,
      clock: this.clock,
      logger: this.logger,
      nodeId: 'node-1',
      maxCallMs: 60 * 60_000,
    });
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
    const engine = this.engines.at(-1);
    if (engine === undefined) throw new Error('no engine');
    return { socket, receiver, engine };
  }

  ofType<T extends CallEventType>(type: T, callId = 'call-1'): CallEventOf<T>[] {
    const isWanted = (event: CallEvent): event is CallEventOf<T> =>
      event.type === type && event.callId === callId;
    return this.events.filter(isWanted);
  }

  types(callId = 'call-1'): string[] {
    return this.events.filter((event) => event.callId === callId).map((event) => event.type);
  }
}

export function startText(fields: Partial<Extract<MediaMessage, { type: 'start' }>> = {}): string {
  return JSON.stringify({
    type: 'start',
    carrierCallId: 'carrier-call-1',
    streamId: 'stream-1',
    format: PCM_16K,
    codec: 'pcm',
    parameters: { caller: '+15550111', callee: '+15550100' },
    ...fields,
  });
}

export function text(message: object): string {
  return JSON.stringify(message);
}
