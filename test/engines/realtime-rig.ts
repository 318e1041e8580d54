// One call with a realtime model without a phone: the rig of engines, and a model that does as it is told. Audio of the model is PCM of 16 kHz, as the house has it, and so is that of the line, unless a test
// says otherwise.
import { type AudioFormat, PCM_16K } from '../../src/audio/format.js';
import type { Engine, EngineRecipe, Preparation } from '../../src/engines/engine.js';
import { createRealtimeRecipe, type RealtimeOptions } from '../../src/engines/realtime/recipe.js';
import { DEFAULT_TURN_TAKING, type TurnTakingSettings } from '../../src/engines/turn-taking.js';
import type { ModelToolCall } from '../../src/providers/language-model.js';
import type { RealtimeContext, RealtimeModel, RealtimeSession } from '../../src/providers/realtime-model.js';
import { RecordedLogger } from '../support/recorded-logger.js';
import { EngineRig, type EngineRigOptions } from './engine-rig.js';

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

export interface RealtimeRigOptions
  extends Partial<Omit<RealtimeOptions, 'turnTaking' | 'model'>>,
    Omit<EngineRigOptions, 'logger'> {
  turnTaking?: Partial<TurnTakingSettings>;
  model?: FakeRealtimeModel;
  /** In the place of one that is made of the other options, and what it has prepared. */
  recipe?: EngineRecipe;
  preparation?: Preparation | undefined;
}

export class RealtimeRig extends EngineRig {
  readonly logger: RecordedLogger;
  readonly model: FakeRealtimeModel;
  readonly engine: Engine;

  constructor(options: RealtimeRigOptions = {}) {
    const { clock, callId, line, takeover, resumed, hasFallback, beforeOutside, ...others } = options;
    const logger = new RecordedLogger();
    super({ clock, callId, line, takeover, resumed, hasFallback, beforeOutside, logger });
    const { model = new FakeRealtimeModel(), recipe, preparation, ...rest } = others;
    this.logger = logger;
    this.model = model;
    const turnTaking = { ...DEFAULT_TURN_TAKING, ...rest.turnTaking };
    const made = recipe ?? createRealtimeRecipe({ ...rest, turnTaking, model });
    this.engine = made.create(this.context, preparation);
  }

  /** A call whose model is ready. */
  start(): this {
    this.engine.start();
    this.model.ready();
    return this;
  }
}
