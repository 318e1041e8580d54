// A pipeline call that is prepared, and begins when the test says so.
import { silentLogger } from '../../src/base/log.js';
import { silentMeters } from '../../src/base/meters.js';
import type { Preparation, PreparationContext, UsageFact } from '../../src/engines/engine.js';
import { createPipelineRecipe } from '../../src/engines/pipeline/recipe.js';
import type { SpeechToText } from '../../src/providers/speech-to-text.js';
import type { TextToSpeech } from '../../src/providers/text-to-speech.js';
import { FakeClock } from '../support/fake-clock.js';
import { CallRig, FakeModel, FakeRecognizer, FakeVoice, type RigOptions } from './call-rig.js';

export const FIRST = 'Hello, this is the front desk.';
export const SECOND = 'What can I do for you today?';
export const GREETING = `${FIRST} ${SECOND}`;

/** Counts its sessions, takes its time for a sentence, and charges for it. */
export class SlowVoice extends FakeVoice {
  readonly sessions: { closes: number }[] = [];
  readonly clock: FakeClock;
  /** The sessions that come next cannot be opened, or break at their first sentence. */
  refusals = 0;
  breaks = 0;
  beginsAfterMs = 300;

  constructor(clock: FakeClock) {
    super();
    this.clock = clock;
  }

  override open(context: Parameters<FakeVoice['open']>[0] = {}): ReturnType<FakeVoice['open']> {
    const session = { closes: 0 };
    this.sessions.push(session);
    if (this.refusals > 0) {
      this.refusals -= 1;
      throw new Error('not now');
    }
    const voice = this;
    const inner = super.open(context);
    return {
      async *synthesize(text: string) {
        context.events?.usage?.({ characters: text.length });
        if (voice.breaks > 0) {
          voice.breaks -= 1;
          throw new Error('voice broke');
        }
        await new Promise<void>((resolve) => void voice.clock.after(voice.beginsAfterMs, resolve));
        yield* inner.synthesize(text);
      },
      close() {
        session.closes += 1;
        inner.close();
      },
    };
  }
}

export class CountedEars extends FakeRecognizer {
  opens = 0;
  paidWhileOpen = false;
  failsWhileOpened = false;

  override open(context: Parameters<FakeRecognizer['open']>[0]) {
    this.opens += 1;
    const session = super.open(context);
    if (this.failsWhileOpened) context.events.failed(new Error('refused'));
    this.failsWhileOpened = false;
    return session;
  }
}

export class PreparedCall {
  readonly clock: FakeClock;
  readonly voice: SlowVoice;
  readonly ears = new CountedEars();
  readonly model = new FakeModel();
  readonly spent: UsageFact[] = [];
  readonly #options: RigOptions;
  readonly preparation: Preparation;

  constructor(options: RigOptions = {}, adjust: (call: PreparedCall) => void = () => {}) {
    const { clock = new FakeClock(), ...rest } = options;
    this.#options = { firstMessage: GREETING, ...rest };
    this.clock = clock;
    this.voice = new SlowVoice(clock);
    adjust(this);
    const context: PreparationContext = {
      callId: 'call-1',
      caller: '+15550100',
      callee: '+15550111',
      direction: 'inbound',
      clock: this.clock,
      logger: silentLogger,
      meters: silentMeters,
      spent: (fact) => void this.spent.push(fact),
    };
    const preparation = this.recipe.prepare?.(context);
    if (preparation === undefined) throw new Error('nothing was prepared');
    this.preparation = preparation;
  }

  get recipe() {
    const { turnTaking: _, ...options } = this.#options;
    return createPipelineRecipe({
      stt: this.ears as SpeechToText,
      llm: this.model,
      tts: this.voice as TextToSpeech,
      ...options,
    });
  }

  pass(ms = 0): Promise<void> {
    return this.clock.advanceAsync(ms);
  }

  /** The engine of the call, which has not begun. */
  create(): CallRig {
    const { clock, voice, ears, preparation, recipe } = this;
    return new CallRig({ ...this.#options, clock, voice, ears, recipe, preparation });
  }

  begin(): Promise<CallRig> {
    return this.create().start();
  }
}

/** Characters of the reports of a voice. */
export function charactersOf(facts: readonly { type: string }[]): number[] {
  return facts.flatMap((fact) => {
    const isSpeech = fact.type === 'usage.measured' && (fact as UsageFact).stage === 'tts';
    return isSpeech ? [(fact as UsageFact).quantities.characters ?? 0] : [];
  });
}
