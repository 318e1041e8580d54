// One call with a realtime model without a phone: the engine, a pacer and a carrier's player on a clock that the test moves, and a
// model that does as it is told. Audio of the model is PCM of 16 kHz, as the house has it, and so is that of the line, unless a test
// says otherwise.
import { silentMeters } from '../../src/base/meters.js';
import { createOutboundConverter } from '../../src/audio/converter.js';
import { type AudioFormat, FRAME_MS, frameBytes, PCM_16K } from '../../src/audio/format.js';
import { Pacer } from '../../src/audio/pacer.js';
import type { TranscriptEntry, Turn } from '../../src/contract/call-record.js';
import type {
  Engine,
  EngineContext,
  EngineFact,
  EngineRecipe,
  Preparation,
  TransferOutcome,
} from '../../src/engines/engine.js';
import { createRealtimeRecipe, type RealtimeOptions } from '../../src/engines/realtime/recipe.js';
import { DEFAULT_TURN_TAKING, type TurnTakingSettings } from '../../src/engines/turn-taking.js';
import type { ModelToolCall } from '../../src/providers/language-model.js';
import type { RealtimeContext, RealtimeModel, RealtimeSession } from '../../src/providers/realtime-model.js';
import { loadTranscoder } from '../../src/transcoder/select.js';
import { CarrierPlayer } from '../support/carrier-player.js';
import { FakeClock } from '../support/fake-clock.js';
import { RecordedLogger } from '../support/recorded-logger.js';
import { type TakenFailure, takenFailure } from '../support/taken-failure.js';

const backend = loadTranscoder('javascript');

/** Audio of the model: this long per character. */
export const MS_PER_CHAR = 50;

/** A model that says what the test says, and notes what it is asked. */
export class FakeRealtimeModel implements RealtimeModel {
  readonly name = 'fake-realtime';
  readonly inputFormats: readonly AudioFormat[];
  readonly outputFormats: readonly AudioFormat[];
  transcribesCaller = true;
  /** It says something while it waits for tools. To be set before the session is opened. */
  canFill = false;
  context!: RealtimeContext;
  /** What the session was asked to do, in order, audio left out. */
  readonly asked: string[] = [];
  audioBytes = 0;
  isClosed = false;
  #responses = 0;
  #items = 0;

  constructor(formats: readonly AudioFormat[] = [PCM_16K]) {
    this.inputFormats = formats;
    this.outputFormats = formats;
  }

  open(context: RealtimeContext): RealtimeSession {
    this.context = context;
    const note = (sentence: string) => void this.asked.push(sentence);
    return {
      pushAudio: (audio) => {
        this.audioBytes += audio.length;
      },
      say: (text) => note(`say ${text}`),
      ...(this.canFill ? { fill: (text: string) => note(`fill ${text}`) } : {}),
      addText: ({ role, text }) => note(`${role}: ${text}`),
      respond: () => note('respond'),
      giveResults: (results) =>
        note(`results ${results.map(({ toolCallId, result }) => `${toolCallId}=${result}`).join(' ')}`),
      cancel: () => note('cancel'),
      truncate: ({ itemId, heardMs }) => note(`truncate ${itemId} ${Math.round(heardMs)}`),
      update: ({ interruptible }) => note(`interruptible ${interruptible}`),
      close: () => {
        this.isClosed = true;
      },
    };
  }

  get events() {
    return this.context.events;
  }

  ready(): void {
    this.events.ready(this.context.formats);
  }

  /** The caller says something; its text comes unless it is undefined. Returns the id of the item. */
  hears(text?: string): string {
    this.#items += 1;
    const itemId = `u${this.#items}`;
    this.events.speechStarted();
    this.events.interrupted();
    this.events.speechEnded({ itemId, agoMs: 500 });
    if (text !== undefined) this.events.userText({ itemId, text, final: true });
    return itemId;
  }

  /** Begins a response with `text` and all its audio. Returns its id. */
  begins(text: string): string {
    this.#responses += 1;
    const responseId = `r${this.#responses}`;
    this.events.responseStarted(responseId);
    this.says(responseId, text);
    return responseId;
  }

  says(responseId: string, text: string): void {
    const itemId = `item-${responseId}`;
    this.events.text({ responseId, itemId, delta: text });
    const audio = new Uint8Array(new Int16Array(text.length * MS_PER_CHAR * 16).fill(1000).buffer);
    // In pieces that cut samples in half.
    for (let at = 0; at < audio.length; at += 4001)
      this.events.audio({ responseId, itemId, audio: audio.subarray(at, at + 4001) });
  }

  ends(responseId: string, calls: readonly { id: string; name: string; args?: object }[] = []): void {
    const toolCalls = calls.map(
      ({ id, name, args = {} }): ModelToolCall => ({
        id,
        name,
        arguments: args as Record<string, unknown>,
        argumentsText: JSON.stringify(args),
      }),
    );
    const reason = calls.length > 0 ? 'tool-calls' : 'complete';
    this.events.responseEnded({ responseId, reason, toolCalls });
  }

  /** A whole response. */
  answers(text: string, calls: readonly { id: string; name: string; args?: object }[] = []): void {
    this.ends(this.begins(text), calls);
  }
}

export interface RealtimeRigOptions extends Partial<Omit<RealtimeOptions, 'turnTaking' | 'model'>> {
  turnTaking?: Partial<TurnTakingSettings>;
  model?: FakeRealtimeModel;
  clock?: FakeClock;
  /** In the place of one that is made of the other options, and what it has prepared. */
  recipe?: EngineRecipe;
  preparation?: Preparation | undefined;
  line?: EngineContext['line'];
  takeover?: EngineContext['takeover'];
}

export class RealtimeRig {
  readonly clock: FakeClock;
  readonly logger = new RecordedLogger();
  readonly facts: EngineFact[] = [];
  readonly ended: { reason: string; failure: TakenFailure | undefined; at: number }[] = [];
  readonly orders: string[] = [];
  transfer: (to: string) => Promise<TransferOutcome> = () => new Promise(() => {});
  readonly model: FakeRealtimeModel;
  readonly player: CarrierPlayer;
  readonly pacer: Pacer;
  readonly engine: Engine;

  constructor(options: RealtimeRigOptions = {}) {
    const { model = new FakeRealtimeModel(), clock = new FakeClock(), turnTaking, ...others } = options;
    const { recipe, preparation, line, takeover, ...rest } = others;
    this.clock = clock;
    const outbound = line?.outbound ?? PCM_16K;
    this.model = model;
    this.player = new CarrierPlayer({
      clock,
      bytesPerMs: frameBytes(outbound) / FRAME_MS,
      delayMs: 10,
      onMark: (name) => {
        if (this.pacer.markEchoed(name)) this.engine.markPlayed(name);
      },
    });
    this.pacer = new Pacer({
      converter: createOutboundConverter(outbound, backend),
      sink: this.player,
      clock,
    });
    const settings = { ...DEFAULT_TURN_TAKING, ...turnTaking };
    const context: EngineContext = {
      callId: 'call-1',
      caller: '+15550100',
      callee: '+15550111',
      direction: 'inbound',
      clock,
      logger: this.logger,
      playout: this.pacer,
      meters: silentMeters,
      line,
      takeover,
      controls: {
        transfer: (to) => {
          this.orders.push(`transfer ${to}`);
          return this.transfer(to);
        },
        sendDigits: async (digits) => void this.orders.push(`keys ${digits}`),
      },
      fact: (fact) => void this.facts.push(structuredClone(fact)),
      endCall: (reason, failure) => {
        const at = clock.now();
        this.ended.push({ reason, failure: takenFailure(failure, at), at });
      },
    };
    const made = recipe ?? createRealtimeRecipe({ ...rest, turnTaking: settings, model });
    this.engine = made.create(context, preparation);
  }

  /** A call whose model is ready. */
  start(): this {
    this.engine.start();
    this.model.ready();
    return this;
  }

  /** Lets time pass, and promises settle. */
  wait(ms: number): Promise<void> {
    return this.clock.advanceAsync(ms);
  }

  get turns(): Turn[] {
    return this.facts.flatMap((fact) => (fact.type === 'turn.completed' ? [fact.turn] : []));
  }

  /** The transcript as a reader of the facts sees it now. */
  get transcript(): TranscriptEntry[] {
    const entries = new Map<string, TranscriptEntry>();
    for (const fact of this.facts) {
      if (fact.type !== 'transcript.segment') continue;
      if (fact.entry.final && fact.entry.text === '') entries.delete(fact.entry.id);
      else entries.set(fact.entry.id, fact.entry);
    }
    return [...entries.values()];
  }

  /** Milliseconds of agent audio that the caller has heard. */
  get heardMs(): number {
    return this.player.heard().length / 32;
  }
}
