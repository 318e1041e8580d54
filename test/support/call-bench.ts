// A call directory with fakes all around it.
import { PCM_16K } from '../../src/audio/format.js';
import type { Timer } from '../../src/base/clock.js';
import { silentMeters } from '../../src/base/meters.js';
import type { CallReport, StreamAdmission, StreamReceiver, WaitingCall } from '../../src/calls/call-desk.js';
import type { CallRecordings } from '../../src/calls/recording/call-recordings.js';
import type { ChooseCall } from '../../src/calls/choice/call-choice.js';
import type { BudgetLimits } from '../../src/calls/money/budget.js';
import type { SharedPlaces } from '../../src/calls/shared-places.js';
import { CallDirectory } from '../../src/calls/call-directory.js';
import type { OtherProcesses } from '../../src/calls/call-environment.js';
import { type PriceOverrides, Pricing } from '../../src/calls/money/pricing.js';
import type { CallAnswer, Carrier, MediaMessage } from '../../src/carriers/carrier.js';
import type { CallEvent, CallEventOf, CallEventType } from '../../src/contract/call-event.js';
import type { CallOutcome, CallRecord, CallStatus } from '../../src/contract/call-record.js';
import type { SetPhrases } from '../../src/engines/languages/set-phrases.js';
import type { Payees, EngineRecipe, PreparationContext } from '../../src/engines/engine.js';
import { EventBus } from '../../src/events/bus.js';
import { reduceCall } from '../../src/events/reduce.js';
import type { TranscoderBackend } from '../../src/transcoder/backend.js';
import {
  createFakeCarrier,
  createFakeCommands,
  FakeEngine,
  FakePreparation,
  FakeRest,
  FakeSocket,
  noTranscoder,
} from './call-fakes.js';
import { FakeClock } from './fake-clock.js';
import { RecordedLogger } from './recorded-logger.js';

/** How a carrier is steered: by the replies to its webhooks, or by commands. */
export type Steering = 'replies' | 'commands';

export interface BenchOptions {
  /** The carrier asks what comes after a stream. */
  readonly resumes?: boolean;
  steering?: Steering;
  key?: Uint8Array;
  supports?: Partial<Carrier['supports']>;
  recording?: boolean;
  publicHost?: string | undefined;
  backend?: TranscoderBackend;
  pricing?: PriceOverrides;
  budget?: BudgetLimits;
  /** What the providers of the engine charge. */
  payees?: Payees | undefined;
  /** @default English ones */
  setPhrases?: SetPhrases | undefined;
  /** The recipe readies calls, and webhooks are signed. */
  prepares?: boolean;
  maxCalls?: number;
  /** Other processes have a part of them. */
  readonly sharedPlaces?: SharedPlaces;
  /** Decides on inbound calls. */
  readonly choose?: ChooseCall;
  /** Agents that another process may give a call to. */
  readonly recipeNamed?: (agent: string) => EngineRecipe | undefined;
  /** @default node-1 */
  readonly nodeId?: string;
  readonly others?: OtherProcesses;
  /** Records outlive the process. */
  isRecordKept?: boolean;
  readonly localRecordings?: () => CallRecordings;
  readonly listenIn?: { readonly pausesForKeys: boolean };
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
  readonly load = { isOverloaded: false };
  readonly events: CallEvent[] = [];
  readonly engines: FakeEngine[] = [];
  readonly preparations: FakePreparation[] = [];
  /** Called with each preparation as it is made. */
  onPreparation: (preparation: FakePreparation) => void = () => {};
  /** Called with each engine as it is made. */
  onEngine: (engine: FakeEngine) => void = () => {};
  takesText = false;
  readonly carrier: Carrier;
  /** Makes the engines of calls that bring no recipe. */
  readonly recipe: EngineRecipe;
  readonly desk: CallDirectory;

  constructor(options: BenchOptions = {}) {
    const { steering = 'replies', key, supports, recording = false, backend = noTranscoder } = options;
    this.pricing = new Pricing({ overrides: options.pricing, logger: this.logger });
    const publicHost = 'publicHost' in options ? options.publicHost : 'voice.example';
    this.recipe = {
      mode: 'pipeline',
      providers: { engine: null, stt: 'fake/stt', llm: 'fake/llm', tts: 'fake/tts' },
      language: 'de-DE',
      setPhrases: options.setPhrases,
      payees: options.payees,
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
    const { resumes } = options;
    this.carrier = createFakeCarrier({ rest: this.rest, key, commands, supports, verifies, resumes });
    this.desk = new CallDirectory({
      carrier: this.carrier,
      backend,
      recipe: this.recipe,
      choose: options.choose,
      recipeNamed: options.recipeNamed,
      bus: this.bus,
      clock: this.clock,
      logger: this.logger,
      pricing: this.pricing,
      budget: options.budget,
      meters: silentMeters,
      nodeId: options.nodeId ?? 'node-1',
      others: options.others,
      maxCallMs: 60 * 60_000,
      localRecordings: options.localRecordings,
      listenIn: options.listenIn,
      resumeHoldSeconds: 2,
      publicHost: () => publicHost,
      ownNumber: '+15550199',
      load: this.load,
      recording,
      maxCalls: options.maxCalls,
      sharedPlaces: () => options.sharedPlaces,
      isRecordKept: () => options.isRecordKept === true,
    });
  }

  /** What the recipe of the bench does, and what another one can do. */
  prepare(context: PreparationContext): FakePreparation {
    const preparation = new FakePreparation(context);
    this.preparations.push(preparation);
    this.onPreparation(preparation);
    return preparation;
  }

  /** A stream that was accepted and has said nothing. Once it has started, audio keeps coming, unless the line is `dead`. */
  admit(
    admission: Partial<StreamAdmission> = {},
    { dead = false } = {},
  ): { socket: FakeSocket; receiver: StreamReceiver } {
    const socket = new FakeSocket();
    const nothing = { carrierCallId: null, caller: null, callee: null, direction: null };
    const receiver = this.desk.admit({ callId: 'call-1', ...nothing, ...admission }, socket);
    return { socket, receiver: dead ? receiver : this.#keepAlive(socket, receiver) };
  }

  /** A carrier sends audio as long as its stream is open, of silence too. This audio has no samples: nobody hears it. */
  #keepAlive(socket: FakeSocket, receiver: StreamReceiver): StreamReceiver {
    let timer: Timer | undefined;
    const isOpen = () => socket.closes.length === 0 && this.desk.liveCount > 0;
    const beat = () => {
      if (!isOpen()) return;
      receiver.receiveText(text({ type: 'audio', samples: 0 }));
      timer = this.clock.after(2000, beat);
    };
    return {
      receiveText: (message) => {
        receiver.receiveText(message);
        if (message.includes('"type":"start"') && isOpen()) timer ??= this.clock.after(2000, beat);
        if (message.includes('"type":"stop"')) timer?.cancel();
      },
      receiveUnexpected: (reason) => receiver.receiveUnexpected(reason),
      socketClosed: (code) => {
        timer?.cancel();
        receiver.socketClosed(code);
      },
    };
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
    return this.desk.ring({ ...call, ...fields }) as CallAnswer;
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
