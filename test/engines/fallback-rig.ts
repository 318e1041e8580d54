// One call of an agent with several voice modes, without a phone: the fakes of both modes behind one engine, on a clock that the test moves.
import { ProviderError } from '../../src/base/errors.js';
import type { Engine, EngineContext, EngineRecipe } from '../../src/engines/engine.js';
import { createAgentRecipe } from '../../src/engines/fallback/recipe.js';
import { createPipelineRecipe, type PipelineOptions } from '../../src/engines/pipeline/recipe.js';
import { createRealtimeRecipe } from '../../src/engines/realtime/recipe.js';
import { DEFAULT_TURN_TAKING } from '../../src/engines/turn-taking.js';
import { Circuits } from '../../src/providers/circuits.js';
import type { FakeClock } from '../support/fake-clock.js';
import { FakeModel, FakeRecognizer, FakeVoice } from './call-rig.js';
import { EngineRig } from './engine-rig.js';
import { FakeRealtimeModel } from './realtime-rig.js';

/** A provider that is lost for good. */
export const GONE = new ProviderError('It is gone.', { status: null, retryable: false });

/** The stages of one pipeline. */
export class FakeStages {
  readonly ears = new FakeRecognizer();
  readonly model = new FakeModel();
  readonly voice = new FakeVoice();
}

type FakeMode = FakeRealtimeModel | FakeStages | EngineRecipe;

export interface FallbackRigOptions
  extends Partial<
    Pick<
      PipelineOptions,
      'firstMessage' | 'systemPrompt' | 'idle' | 'tools' | 'transferTargets' | 'interruptible'
    >
  > {
  /** What a pipeline says while an answer is slow. @default nothing */
  readonly fillers?: readonly string[];
  readonly modes: readonly FakeMode[];
  /** The modes of the agent `billing`, which the agent `desk` of `modes` can hand the caller over to. @default there is none */
  readonly billing?:
    | { readonly modes: readonly [FakeMode, ...FakeMode[]]; readonly say?: string }
    | undefined;
  readonly circuits?: (clock: FakeClock) => Circuits;
  readonly clock?: FakeClock;
  readonly resumed?: EngineContext['resumed'];
  readonly beforeOutside?: EngineContext['beforeOutside'];
}

export class FallbackRig extends EngineRig {
  readonly circuits: Circuits;
  readonly recipe: EngineRecipe;
  readonly engine: Engine;

  constructor(options: FallbackRigOptions) {
    const { modes, billing, circuits, fillers = [], clock, resumed, beforeOutside, ...agent } = options;
    super({ clock, resumed, beforeOutside });
    this.circuits = circuits?.(this.clock) ?? new Circuits(this.clock);
    const turnTaking = { ...DEFAULT_TURN_TAKING, carefulMs: 0, fillers };
    const handoffs = billing && { billing: 'questions about bills' };
    const toChoice = (mode: FakeMode) => {
      if ('create' in mode) return { recipe: mode, needs: [] };
      if (!(mode instanceof FakeStages))
        return {
          recipe: createRealtimeRecipe({ ...agent, handoffs, turnTaking, model: mode }),
          needs: [{ stage: 'engine' as const, provider: mode }],
        };
      const { ears: stt, model: llm, voice: tts } = mode;
      const recipe = createPipelineRecipe({ ...agent, handoffs, turnTaking, stt, llm, tts });
      const needs = [
        { stage: 'stt' as const, provider: stt },
        { stage: 'llm' as const, provider: llm },
        { stage: 'tts' as const, provider: tts },
      ];
      return { recipe, needs };
    };
    const toStored = (mode: FakeMode) => {
      const choice = toChoice(mode);
      return { ...choice, recipe: storing(choice.recipe) };
    };
    const nextAgent = ({ modes: [first, ...others], say }: NonNullable<typeof billing>) => {
      const choices = [toStored(first), ...others.map(toStored)] as const;
      return { name: 'billing', recipe: choices[0].recipe, choices, say, handoffs: undefined };
    };
    const [first, ...others] = modes;
    if (first === undefined) throw new Error('an agent has a mode');
    this.recipe = createAgentRecipe([toStored(first), ...others.map(toStored)], this.circuits, {
      ...(billing && {
        agentName: 'desk',
        handoffs: (to) => (to === 'billing' ? nextAgent(billing) : undefined),
      }),
    });
    this.engine = this.recipe.create(this.context);
  }

  async start(): Promise<this> {
    this.engine.start();
    await this.clock.advanceAsync(0);
    return this;
  }

  /** The caller says something to a pipeline, and waits for the end of the turn. */
  async says(stages: FakeStages, text: string): Promise<void> {
    await this.voiced(400);
    stages.ears.events.final(text);
    await this.quiet(600);
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
