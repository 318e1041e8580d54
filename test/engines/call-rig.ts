// One call without a phone: the engine, a pacer and a carrier's player on a clock that the test moves, and providers that do
// as they are told. A frame whose first sample is not 0 counts as voiced (the test files replace the detector).
import { createOutboundConverter } from '../../src/audio/converter.js';
import { PCM_16K } from '../../src/audio/format.js';
import { Pacer } from '../../src/audio/pacer.js';
import { type Logger, silentLogger } from '../../src/base/log.js';
import { silentMeters } from '../../src/base/meters.js';
import type { TranscriptEntry, Turn } from '../../src/contract/call-record.js';
import type {
  Engine,
  EngineContext,
  EngineFact,
  EngineRecipe,
  Preparation,
  TransferOutcome,
} from '../../src/engines/engine.js';
import { createPipelineRecipe, type PipelineOptions } from '../../src/engines/pipeline/recipe.js';
import { DEFAULT_TURN_TAKING, type TurnTakingSettings } from '../../src/engines/turn-taking.js';
import type {
  LanguageModel,
  LanguageModelEvent,
  LanguageModelRequest,
} from '../../src/providers/language-model.js';
import type {
  SpeechToText,
  SpeechToTextContext,
  SpeechToTextEvents,
  SpeechToTextSession,
} from '../../src/providers/speech-to-text.js';
import type {
  TextToSpeech,
  TextToSpeechContext,
  TextToSpeechEvents,
} from '../../src/providers/text-to-speech.js';
import { loadTranscoder } from '../../src/transcoder/select.js';
import { CarrierPlayer } from '../support/carrier-player.js';
import { FakeClock } from '../support/fake-clock.js';
import { takenFailure } from '../support/taken-failure.js';

const backend = loadTranscoder('javascript');
const LOUD = 5000;
const SILENCE = new Int16Array(320);

/** Audio of a sentence: this long per character. */
export const MS_PER_CHAR = 50;

/** Milliseconds after which a text that is spoken from now on was heard. */
export const playing = (text: string) => text.length * MS_PER_CHAR + 100;

/** A recogniser that says what the test says. */
export class FakeRecogniser implements SpeechToText {
  readonly name = 'fake-stt';
  events!: SpeechToTextEvents;
  closed = false;
  isLast: (() => boolean) | undefined;
  /** Text that a finished utterance is answered with, at once. */
  onFinish: (() => void) | undefined;
  readonly ownsTurnTaking: boolean;
  writesAfterwards: boolean;

  constructor({ ownsTurnTaking = false, writesAfterwards = false } = {}) {
    this.ownsTurnTaking = ownsTurnTaking;
    this.writesAfterwards = writesAfterwards;
  }

  open({ events, isLast }: Pick<SpeechToTextContext, 'events' | 'isLast'>): SpeechToTextSession {
    this.events = events;
    this.isLast = isLast;
    return {
      pushAudio() {},
      finishUtterance: () => this.onFinish?.(),
      close: () => {
        this.closed = true;
      },
    };
  }
}

/** A recogniser whose words come when all was said, so that any sound interrupts until the caller is known by their words. */
export const lateEars = () => new FakeRecogniser({ writesAfterwards: true });

/** A model that answers with what the test queues: texts, events, or an error. */
export class FakeModel implements LanguageModel {
  readonly name = 'fake-llm';
  readonly requests: LanguageModelRequest[] = [];
  warmUps = 0;
  answers: ((request: LanguageModelRequest) => AsyncIterable<LanguageModelEvent>)[] = [];

  answer(...deltas: (string | LanguageModelEvent | Error)[]): this {
    this.answers.push(async function* () {
      for (const delta of deltas) {
        if (delta instanceof Error) throw delta;
        yield typeof delta === 'string' ? { type: 'text', delta } : delta;
      }
    });
    return this;
  }

  warmUp(): void {
    this.warmUps += 1;
  }

  respond(request: LanguageModelRequest): AsyncIterable<LanguageModelEvent> {
    this.requests.push(request);
    const next = this.answers.shift();
    if (next === undefined) throw new Error('no answer is queued');
    return next(request);
  }
}

/** A voice that gives a steady sample per call, so that two calls can be told apart. */
export class FakeVoice implements TextToSpeech {
  readonly name = 'fake-tts';
  readonly spoken: string[] = [];
  readonly sample: number;
  failOn: string | undefined;
  /** Set: after its first chunk the voice gives nothing more and ignores its signal. */
  hangs = false;
  closed = false;

  constructor(sample = 1000) {
    this.sample = sample;
  }

  /** What a voice tells beside its audio. */
  events: TextToSpeechEvents | undefined;
  isLast: (() => boolean) | undefined;

  open({ events, isLast }: Pick<TextToSpeechContext, 'events' | 'isLast'> = {}) {
    this.events = events;
    this.isLast = isLast;
    const voice = this;
    return {
      async *synthesize(text: string) {
        voice.spoken.push(text);
        if (voice.failOn !== undefined && text.includes(voice.failOn)) throw new Error('voice broke');
        for (let left = text.length * MS_PER_CHAR * 16; left > 0; left -= 4000) {
          yield new Int16Array(Math.min(left, 4000)).fill(voice.sample);
          if (voice.hangs) await new Promise(() => {});
        }
      },
      close() {
        voice.closed = true;
      },
    };
  }
}

export interface RigOptions extends Partial<Omit<PipelineOptions, 'turnTaking'>> {
  /** What differs from the defaults. A call of the rig is not new, unless it is said here: its tests are short. */
  turnTaking?: Partial<TurnTakingSettings>;
  clock?: FakeClock;
  voice?: FakeVoice;
  ears?: FakeRecogniser;
  callId?: string;
  logger?: Logger;
  /** Another engine can take its place. */
  hasFallback?: boolean;
  takeover?: EngineContext['takeover'];
  /** In the place of one that is made of the other options, and what it has prepared. */
  recipe?: EngineRecipe;
  preparation?: Preparation | undefined;
}

export class CallRig {
  readonly clock: FakeClock;
  readonly facts: EngineFact[] = [];
  readonly ended: { reason: string; failure: { code: string; message: string } | undefined; at: number }[] =
    [];
  readonly ears: FakeRecogniser;
  /** What the engine asked of its call. */
  readonly orders: string[] = [];
  /** What becomes of a transfer. */
  transfer: (to: string) => Promise<TransferOutcome> = () => new Promise(() => {});
  sendDigits: (digits: string) => Promise<void> = async () => {};
  readonly model = new FakeModel();
  readonly voice: FakeVoice;
  readonly player: CarrierPlayer;
  readonly pacer: Pacer;
  readonly engine: Engine;

  constructor(options: RigOptions = {}) {
    const { clock = new FakeClock(), voice = new FakeVoice(), ears, callId = 'call-1', ...others } = options;
    const { logger = silentLogger, hasFallback, takeover, recipe, preparation, ...rest } = others;
    this.ears = ears ?? new FakeRecogniser();
    this.clock = clock;
    this.voice = voice;
    this.player = new CarrierPlayer({
      clock,
      bytesPerMs: 32,
      delayMs: 10,
      onMark: (name) => {
        if (this.pacer.markEchoed(name)) this.engine.markPlayed(name);
      },
    });
    this.pacer = new Pacer({
      converter: createOutboundConverter(PCM_16K, backend),
      sink: this.player,
      clock,
    });
    const turnTaking = { ...DEFAULT_TURN_TAKING, carefulMs: 0, ...rest.turnTaking };
    const stages = { stt: this.ears, llm: this.model, tts: voice };
    const made = recipe ?? createPipelineRecipe({ ...stages, ...rest, turnTaking });
    const context: EngineContext = {
      callId,
      caller: '+15550100',
      callee: '+15550111',
      direction: 'inbound',
      clock,
      logger,
      meters: silentMeters,
      playout: this.pacer,
      controls: {
        transfer: (to) => {
          this.orders.push(`transfer ${to}`);
          return this.transfer(to);
        },
        sendDigits: async (digits) => {
          this.orders.push(`keys ${digits}`);
          await this.sendDigits(digits);
        },
      },
      hasFallback,
      takeover,
      fact: (fact) => void this.facts.push(structuredClone(fact)),
      endCall: (reason, failure) => {
        const at = clock.now();
        this.ended.push({ reason, failure: takenFailure(failure, at), at });
      },
    };
    this.engine = made.create(context, preparation);
  }

  async start(): Promise<this> {
    this.engine.start();
    await this.clock.advanceAsync(0);
    return this;
  }

  /** The caller makes a sound, frame by frame. */
  async voiced(ms: number, sample = LOUD): Promise<void> {
    await this.#frames(new Int16Array(320).fill(sample), ms);
  }

  async quiet(ms: number): Promise<void> {
    await this.#frames(SILENCE, ms);
  }

  /** The caller says something and waits for the end of the turn. */
  async says(text: string, ms = 400): Promise<void> {
    await this.voiced(ms);
    this.ears.events.final(text);
    await this.quiet(600);
  }

  async #frames(frame: Int16Array, ms: number): Promise<void> {
    for (let at = 0; at < ms; at += 20) {
      await this.clock.advanceAsync(20);
      this.engine.pushAudio(frame);
      await this.clock.advanceAsync(0);
    }
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
