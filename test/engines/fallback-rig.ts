// One call of an agent with several voice modes, without a phone: the fakes of both modes behind one engine, on a clock that the test moves.
import { createOutboundConverter } from '../../src/audio/converter.js';
import { PCM_16K } from '../../src/audio/format.js';
import { Pacer } from '../../src/audio/pacer.js';
import { ProviderError } from '../../src/base/errors.js';
import { silentLogger } from '../../src/base/log.js';
import { silentMeters } from '../../src/base/meters.js';
import type { TranscriptEntry, Turn } from '../../src/contract/call-record.js';
import type {
  Engine,
  EngineContext,
  EngineFact,
  EngineRecipe,
  TransferOutcome,
} from '../../src/engines/engine.js';
import { createFallbackRecipe } from '../../src/engines/fallback/recipe.js';
import { createPipelineRecipe, type PipelineOptions } from '../../src/engines/pipeline/recipe.js';
import { createRealtimeRecipe } from '../../src/engines/realtime/recipe.js';
import { DEFAULT_TURN_TAKING } from '../../src/engines/turn-taking.js';
import { Circuits } from '../../src/providers/circuits.js';
import { loadTranscoder } from '../../src/transcoder/select.js';
import { CarrierPlayer } from '../support/carrier-player.js';
import { FakeClock } from '../support/fake-clock.js';
import { type TakenFailure, takenFailure } from '../support/taken-failure.js';
import { FakeModel, FakeRecogniser, FakeVoice } from './call-rig.js';
import { FakeRealtimeModel } from './realtime-rig.js';

const backend = loadTranscoder('javascript');
/** A provider that is lost for good. */
export const GONE = new ProviderError('It is gone.', { status: null, retryable: false });

const LOUD = new Int16Array(320).fill(5000);
const SILENCE = new Int16Array(320);

/** The stages of one pipeline. */
export class FakeStages {
  readonly ears = new FakeRecogniser();
  readonly model = new FakeModel();
  readonly voice = new FakeVoice();
}

export interface FallbackRigOptions
  extends Partial<
    Pick<
      PipelineOptions,
      'firstMessage' | 'systemPrompt' | 'idle' | 'tools' | 'transferTargets' | 'interruptible'
    >
  > {
  /** What a pipeline says while an answer is slow. @default nothing */
  readonly fillers?: readonly string[];
  readonly modes: readonly (FakeRealtimeModel | FakeStages | EngineRecipe)[];
  readonly circuits?: (clock: FakeClock) => Circuits;
}

export class FallbackRig {
  readonly clock = new FakeClock();
  readonly facts: EngineFact[] = [];
  readonly ended: { reason: string; failure: TakenFailure | undefined; at: number }[] = [];
  readonly orders: string[] = [];
  transfer: (to: string) => Promise<TransferOutcome> = () => new Promise(() => {});
  readonly circuits: Circuits;
  readonly recipe: EngineRecipe;
  readonly context: EngineContext;
  readonly engine: Engine;
  readonly player: CarrierPlayer;
  readonly pacer: Pacer;

  constructor({ modes, circuits, fillers = [], ...agent }: FallbackRigOptions) {
    const { clock } = this;
    this.circuits = circuits?.(clock) ?? new Circuits(clock);
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
    const turnTaking = { ...DEFAULT_TURN_TAKING, carefulMs: 0, fillers };
    const choices = modes.map((mode) => {
      if ('create' in mode) return { recipe: mode, needs: [] };
      if (!(mode instanceof FakeStages))
        return {
          recipe: createRealtimeRecipe({ ...agent, turnTaking, model: mode }),
          needs: [{ stage: 'engine' as const, provider: mode }],
        };
      const { ears: stt, model: llm, voice: tts } = mode;
      const recipe = createPipelineRecipe({ ...agent, turnTaking, stt, llm, tts });
      const needs = [
        { stage: 'stt' as const, provider: stt },
        { stage: 'llm' as const, provider: llm },
        { stage: 'tts' as const, provider: tts },
      ];
      return { recipe, needs };
    });
    const stored = choices.map((choice) => ({ ...choice, recipe: storing(choice.recipe) }));
    this.recipe = createFallbackRecipe(stored, this.circuits);
    this.context = {
      callId: 'call-1',
      caller: '+15550100',
      callee: '+15550111',
      direction: 'inbound',
      clock,
      logger: silentLogger,
      meters: silentMeters,
      playout: this.pacer,
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
    this.engine = this.recipe.create(this.context);
  }

  async start(): Promise<this> {
    this.engine.start();
    await this.clock.advanceAsync(0);
    return this;
  }

  /** Lets time pass, and promises settle. */
  wait(ms: number): Promise<void> {
    return this.clock.advanceAsync(ms);
  }

  /** The caller makes a sound, frame by frame. */
  voiced(ms: number): Promise<void> {
    return this.#frames(LOUD, ms);
  }

  quiet(ms: number): Promise<void> {
    return this.#frames(SILENCE, ms);
  }

  /** The caller says something to a pipeline, and waits for the end of the turn. */
  async says(stages: FakeStages, text: string): Promise<void> {
    await this.voiced(400);
    stages.ears.events.final(text);
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

  /** What was said, turn by turn. */
  get said(): [userText: string, agentText: string][] {
    return this.turns.map(({ userText, agentText }) => [userText, agentText]);
  }

  get replacements() {
    return this.facts.filter((fact) => fact.type === 'provider.replaced');
  }

  get usages() {
    return this.facts.filter((fact) => fact.type === 'usage.measured');
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

/** Its engines go on with what was stored and read again of the conversation. */
function storing(recipe: EngineRecipe): EngineRecipe {
  return {
    ...recipe,
    create(context, preparation) {
      const { takeover } = context;
      const state = JSON.parse(JSON.stringify(takeover?.state ?? null));
      return recipe.create({ ...context, takeover: takeover && { ...takeover, state } }, preparation);
    },
  };
}

/** The messages of the last request, the instructions left out, one line for each. */
export function askedWith({ model }: FakeStages): string[] {
  const { messages = [] } = model.requests.at(-1) ?? {};
  return messages.filter(({ role }) => role !== 'system').map(({ role, content }) => `${role}: ${content}`);
}

/** What a realtime model was told of the call before it. */
export function toldAtStart(model: FakeRealtimeModel): string[] {
  return model.context.history().map(({ role, content }) => `${role}: ${content}`);
}

/** A call with a realtime model, and a pipeline behind it. */
export function modelThenStages(options: Partial<FallbackRigOptions> = {}) {
  const first = new FakeRealtimeModel();
  const second = new FakeStages();
  const rig = new FallbackRig({ modes: [first, second], systemPrompt: 'You bake.', ...options });
  return { first, second, rig };
}

/** The same, whose first turn was with the model. */
export async function talkingToModel(options: Partial<FallbackRigOptions> = {}) {
  const scene = modelThenStages(options);
  await scene.rig.start();
  scene.first.ready();
  scene.first.hears('Three loaves.');
  scene.first.answers('At noon.');
  await scene.rig.wait(1000);
  return scene;
}
