// From agents to recipes of engines: chooses providers for stages that an agent does not name.
import { ConfigError } from '../base/errors.js';
import type { Logger } from '../base/log.js';
import type { EngineRecipe } from '../engines/engine.js';
import type { MessageTarget } from '../engines/message-route.js';
import { createPipelineRecipe } from '../engines/pipeline-engine.js';
import { createRealtimeRecipe } from '../engines/realtime-engine.js';
import type { Agent, CallTexts } from '../options/agent.js';
import type { RealtimeModel } from '../providers/realtime-model.js';
import {
  type Choice,
  chooseLanguageModel,
  chooseSpeechToText,
  chooseTextToSpeech,
} from './auto-providers.js';
import { PlaceholderWatch } from './placeholder-watch.js';
import { RetirementWatch } from './retirement-watch.js';

/** The stages of an agent, chosen once for all its calls. */
interface Stages {
  readonly stt: Choice<NonNullable<Agent['options']['stt']>>;
  /** Undefined where onMessage answers. */
  readonly llm: Choice<NonNullable<Agent['options']['llm']>> | undefined;
  readonly tts: Choice<NonNullable<Agent['options']['tts']>>;
}

/** Makes recipes. Says once per agent which stages were chosen for it, and why. */
export class Recipes {
  readonly #onMessage: MessageTarget | undefined;
  readonly #logger: Logger;
  readonly #stages = new WeakMap<Agent, Stages>();
  readonly #retirements: RetirementWatch;
  readonly placeholders: PlaceholderWatch;

  /** `onMessage` answers in the place of every agent's language model. */
  constructor(parts: { onMessage: MessageTarget | undefined; logger: Logger }) {
    this.#onMessage = parts.onMessage;
    this.#logger = parts.logger;
    this.#retirements = new RetirementWatch(parts.logger);
    this.placeholders = new PlaceholderWatch(parts.logger);
  }

  /** The recipe of an agent's calls, or of one call that says something else. @throws ConfigError, also for a key that is missing */
  create(agent: Agent, call: CallTexts = {}): EngineRecipe {
    const { engine, stt, llm, tts } = agent.options;
    this.#retirements.note([engine, engine?.transcription, stt, llm, tts]);
    const recipe = engine === undefined ? this.#pipeline(agent, call) : this.#realtime(engine, agent, call);
    return this.placeholders.watch(recipe, agent, call);
  }

  #realtime(engine: RealtimeModel, agent: Agent, call: CallTexts): EngineRecipe {
    if (this.#onMessage !== undefined)
      throw new ConfigError(
        'CONFIG_CONFLICT',
        'onMessage answers in the place of a language model, which an agent with an engine does not have. Leave one of them out.',
      );
    engine.assertConfigured?.();
    return createRealtimeRecipe({ ...agent.optionsFor(call), model: engine });
  }

  #pipeline(agent: Agent, call: CallTexts): EngineRecipe {
    const { stt, llm, tts } = this.#stagesOf(agent);
    return createPipelineRecipe({
      ...agent.optionsFor(call),
      stt: stt.provider,
      llm: llm?.provider,
      tts: tts.provider,
      onMessage: this.#onMessage,
    });
  }

  #stagesOf(agent: Agent): Stages {
    const known = this.#stages.get(agent);
    if (known !== undefined) return known;
    const { stt, llm, tts } = agent.options;
    const stages: Stages = {
      stt: given(stt) ?? chooseSpeechToText(),
      llm: this.#onMessage === undefined ? (given(llm) ?? chooseLanguageModel()) : undefined,
      tts: given(tts) ?? chooseTextToSpeech(),
    };
    for (const { provider } of choicesOf(stages)) provider.assertConfigured?.();
    this.#stages.set(agent, stages);
    this.#announce(stages);
    return stages;
  }

  #announce(stages: Stages): void {
    const chosen = Object.entries(stages).flatMap(
      ([stage, choice]: [string, Choice<{ name: string }> | undefined]) =>
        choice === undefined || choice.reason === 'given'
          ? []
          : [[stage, `${choice.provider.name} (${choice.reason})`]],
    );
    if (chosen.length === 0) return;
    const fields = Object.fromEntries(chosen);
    if (choicesOf(stages).some(({ isLocal }) => isLocal))
      this.#logger.warn(
        fields,
        'the agent does not name these stages: a key in the environment chooses, else the local stack, which is for trying out',
      );
    else
      this.#logger.info(fields, 'the agent does not name these stages: the keys in the environment choose');
  }
}

function given<T>(provider: T | undefined): Choice<T> | undefined {
  return provider === undefined ? undefined : { provider, reason: 'given', isLocal: false };
}

function choicesOf({ stt, llm, tts }: Stages): Choice<{ assertConfigured?(): void }>[] {
  return [stt, ...(llm === undefined ? [] : [llm]), tts];
}
