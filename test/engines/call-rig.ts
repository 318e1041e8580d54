// One call of the pipeline without a phone: the rig of engines, and providers that do as they are told. A frame whose first sample is not 0 counts as voiced (the test files replace the detector).
import type { Engine, EngineRecipe, Preparation } from '../../src/engines/engine.js';
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
import { EngineRig, type EngineRigOptions } from './engine-rig.js';

/** Audio of a sentence: this long per character. */
export const MS_PER_CHAR = 50;

/** Milliseconds after which a text that is spoken from now on was heard. */
export const playing = (text: string) => text.length * MS_PER_CHAR + 100;

/** By this a model ends the call. */
export const END_CALL: LanguageModelEvent = {
  type: 'tool-call',
  id: 'c1',
  name: 'end_call',
  arguments: {},
  argumentsText: '{}',
};

/** A recognizer that says what the test says. */
export class FakeRecognizer implements SpeechToText {
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

/** A recognizer whose words come when all was said, so that any sound interrupts until the caller is known by their words. */
export const lateEars = () => new FakeRecognizer({ writesAfterwards: true });

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

export interface RigOptions extends Partial<Omit<PipelineOptions, 'turnTaking'>>, EngineRigOptions {
  /** What differs from the defaults. A call of the rig is not new, unless it is said here: its tests are short. */
  turnTaking?: Partial<TurnTakingSettings>;
  voice?: FakeVoice;
  ears?: FakeRecognizer;
  /** In the place of one that is made of the other options, and what it has prepared. */
  recipe?: EngineRecipe;
  preparation?: Preparation | undefined;
}

export class CallRig extends EngineRig {
  readonly ears: FakeRecognizer;
  readonly model = new FakeModel();
  readonly voice: FakeVoice;
  readonly engine: Engine;

  constructor(options: RigOptions = {}) {
    const { clock, callId, logger, line, takeover, resumed, hasFallback, beforeOutside, ...others } = options;
    super({ clock, callId, logger, line, takeover, resumed, hasFallback, beforeOutside });
    const { voice = new FakeVoice(), ears = new FakeRecognizer(), recipe, preparation, ...rest } = others;
    this.ears = ears;
    this.voice = voice;
    const turnTaking = { ...DEFAULT_TURN_TAKING, carefulMs: 0, ...rest.turnTaking };
    const stages = { stt: ears, llm: this.model, tts: voice };
    const made = recipe ?? createPipelineRecipe({ ...stages, ...rest, turnTaking });
    this.engine = made.create(this.context, preparation);
  }

  async start(): Promise<this> {
    this.engine.start();
    await this.clock.advanceAsync(0);
    return this;
  }

  /** The caller says something and waits for the end of the turn. */
  async says(text: string, ms = 400): Promise<void> {
    await this.voiced(ms);
    this.ears.events.final(text);
    await this.quiet(600);
  }
}
