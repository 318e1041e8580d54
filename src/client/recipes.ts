// From agents to recipes of engines: the local stack stands in for stages that an agent does not name.
import type { Logger } from '../base/log.js';
import type { EngineRecipe } from '../engines/engine.js';
import { createPipelineRecipe } from '../engines/pipeline-engine.js';
import type { OnMessage } from '../engines/responder.js';
import type { Agent, CallTexts } from '../options/agent.js';
import { ScriptedLanguageModel } from '../providers/llm/index.js';
import { SimulatedSpeechToText } from '../providers/stt/index.js';
import { FliteTextToSpeech } from '../providers/tts/index.js';
import { PlaceholderWatch } from './placeholder-watch.js';

/** Makes recipes. Says once per agent which of its stages the local stack stands in for. */
export class Recipes {
  readonly #onMessage: OnMessage | undefined;
  readonly #logger: Logger;
  readonly #announced = new WeakSet<Agent>();
  readonly placeholders: PlaceholderWatch;

  /** `onMessage` answers in the place of every agent's language model. */
  constructor(parts: { onMessage: OnMessage | undefined; logger: Logger }) {
    this.#onMessage = parts.onMessage;
    this.#logger = parts.logger;
    this.placeholders = new PlaceholderWatch(parts.logger);
  }

  /** The recipe of an agent's calls, or of one call that says something else. @throws ConfigError */
  create(agent: Agent, call: CallTexts = {}): EngineRecipe {
    this.#announce(agent);
    const onMessage = this.#onMessage;
    const { stt, llm, tts, ...options } = agent.optionsFor(call);
    const recipe = createPipelineRecipe({
      ...options,
      stt: stt ?? new SimulatedSpeechToText(),
      llm: llm ?? (onMessage === undefined ? new ScriptedLanguageModel() : undefined),
      tts: tts ?? new FliteTextToSpeech(),
      onMessage,
    });
    return this.placeholders.watch(recipe, agent, call);
  }

  #announce(agent: Agent): void {
    const { stt, llm, tts } = agent.options;
    const stages = { stt, llm: this.#onMessage ?? llm, tts };
    const missing = Object.entries(stages).flatMap(([name, stage]) => (stage === undefined ? [name] : []));
    if (missing.length === 0 || this.#announced.has(agent)) return;
    this.#announced.add(agent);
    this.#logger.warn(
      { stages: missing },
      'the agent has no provider for these stages: the local stack stands in, which is for trying out',
    );
  }
}
