// From agents to recipes of engines: chooses providers for stages that an agent does not name.
import { ConfigError } from '../base/errors.js';
import { type Clock, systemClock } from '../base/clock.js';
import type { Logger } from '../base/log.js';
import type { Pricing } from '../calls/money/pricing.js';
import type { EngineRecipe } from '../engines/engine.js';
import type { NextAgents } from '../engines/fallback/agents.js';
import type { FallbackChoice, NeededProvider } from '../engines/fallback/choice.js';
import { createAgentRecipe, soundFirst } from '../engines/fallback/recipe.js';
import type { HandoffOffers } from '../engines/tools/built-in-tools.js';
import type { AgentTool } from '../engines/tools/tool.js';
import type { MessageTarget } from '../engines/responder/message-route.js';
import { createPipelineRecipe } from '../engines/pipeline/recipe.js';
import { createRealtimeRecipe } from '../engines/realtime/recipe.js';
import type { LanguageWords } from '../engines/languages/agent-words.js';
import { languageWith } from '../engines/languages/spoken-words.js';
import type { Agent, CallTexts } from '../options/agent.js';
import { sayIn } from '../options/handoffs.js';
import { assertTellsLanguages } from '../options/languages.js';
import { STAGE_NAMES } from '../options/providers.js';
import { Circuits } from '../providers/circuits.js';
import { LanguageModelChain } from '../providers/fallback/language-model-chain.js';
import { SpeechToTextChain } from '../providers/fallback/speech-to-text-chain.js';
import { TextToSpeechChain } from '../providers/fallback/text-to-speech-chain.js';
import type { RealtimeModel } from '../providers/realtime-model.js';
import {
  type Choice,
  chooseLanguageModel,
  chooseSpeechToText,
  chooseTextToSpeech,
} from './auto-providers.js';
import { type TextByLanguage, textIn } from '../options/text-by-language.js';
import { PlaceholderWatch } from './placeholder-watch.js';
import { RetirementWatch } from './retirement-watch.js';
import type { ToolServers } from './tool-servers.js';

/** The stages of an agent, chosen once for all its calls. */
interface Stages {
  readonly stt: Choice<NonNullable<Agent['options']['stt']>>;
  /** Undefined where onMessage answers. */
  readonly llm: Choice<NonNullable<Agent['options']['llm']>> | undefined;
  readonly tts: Choice<NonNullable<Agent['options']['tts']>>;
}

/** An agent in one of its voice modes. */
interface VoiceMode {
  readonly agent: Agent;
  /** The option that names it; undefined for the agent's first. */
  readonly option: string | undefined;
}

/** Makes recipes. Says once per agent which stages were chosen for it, and why. */
export class Recipes {
  readonly #onMessage: MessageTarget | undefined;
  readonly #announcement: TextByLanguage | undefined;
  readonly #logger: Logger;
  readonly #clock: Clock;
  readonly #pricing: Pricing | undefined;
  readonly #circuits: Circuits;
  readonly #toolServers: Pick<ToolServers, 'assertKnown' | 'of'> | undefined;
  readonly #targetOf: ((target: Agent | string) => Agent | undefined) | undefined;
  readonly #stages = new WeakMap<Agent, Stages>();
  readonly #retirements: RetirementWatch;
  readonly placeholders: PlaceholderWatch;

  /** `onMessage` answers in the place of every agent's language model. */
  constructor(parts: {
    onMessage: MessageTarget | undefined;
    logger: Logger;
    /** What callers are told before anything else. @default nothing */
    announcement?: TextByLanguage | undefined;
    /** Told of the providers that an agent names. */
    pricing?: Pricing | undefined;
    /** @default the system's */
    clock?: Clock | undefined;
    /** Who stands for an agent that callers are handed over to. @default nobody is */
    targetOf?: ((target: Agent | string) => Agent | undefined) | undefined;
    /** @default there are none */
    toolServers?: Pick<ToolServers, 'assertKnown' | 'of'> | undefined;
  }) {
    const { clock = systemClock } = parts;
    this.#targetOf = parts.targetOf;
    this.#onMessage = parts.onMessage;
    this.#announcement = parts.announcement;
    this.#logger = parts.logger;
    this.#pricing = parts.pricing;
    this.#toolServers = parts.toolServers;
    this.#clock = clock;
    this.#circuits = new Circuits(clock);
    this.#retirements = new RetirementWatch(parts.logger);
    this.placeholders = new PlaceholderWatch(parts.logger);
  }

  /** The recipe of an agent's calls, or of one call that says something else. @throws ConfigError, also for a key that is missing, and for an announcement that it has no text of */
  create(agent: Agent, call: CallTexts = {}): EngineRecipe {
    this.#assertAnnounced(agent, call);
    return this.goingOn(agent, call);
  }

  /** As `create`, for an agent that comes to a call that is up, and does not greet the caller. @throws ConfigError */
  goingOn(agent: Agent, call: CallTexts = {}): EngineRecipe {
    this.#toolServers?.assertKnown(agent);
    this.#toolServers?.of(agent);
    const choices = this.#choicesOf(agent, call);
    const handoffs = this.#nextAgentsOf(agent, call);
    const { name: agentName } = agent.options;
    const whole = createAgentRecipe(choices, this.#circuits, { agentName, handoffs });
    return this.placeholders.watch({ ...whole, agentName }, agent, call);
  }

  /** Who greets callers says the announcement: one that has no text for the agent would be left out, and the caller not told. @throws ConfigError */
  #assertAnnounced(agent: Agent, call: CallTexts): void {
    if (this.#announcement === undefined) return;
    for (const each of [agent, ...agent.substitutes]) {
      const { language } = each.optionsFor(call);
      if (textIn(language, this.#announcement) === undefined)
        throw new ConfigError(
          'CONFIG_INVALID',
          `localRecording.announcement has no text for an agent with language '${language ?? 'en'}': add one.`,
        );
    }
  }

  /** Its voice modes. @throws ConfigError */
  #choicesOf(agent: Agent, call: CallTexts): readonly [FallbackChoice, ...FallbackChoice[]] {
    const toChoice = (mode: VoiceMode): FallbackChoice => ({
      recipe: this.#inOneMode(mode, call),
      needs: this.#needsOf(mode),
    });
    const others = agent.substitutes.map((each, index) =>
      toChoice({ agent: each, option: `fallback.engine[${index}]` }),
    );
    return [toChoice({ agent, option: undefined }), ...others];
  }

  /** Made when they are asked for: agents may name each other. @throws ConfigError */
  #nextAgentsOf({ options: { handoffs } }: Agent, { variables }: CallTexts): NextAgents | undefined {
    if (Object.keys(handoffs).length === 0) return undefined;
    if (this.#onMessage !== undefined)
      throw new ConfigError(
        'CONFIG_CONFLICT',
        'handoffs needs a language model that chooses, and onMessage replaces it. Remove one of them.',
      );
    return (key, language) => {
      const handoff = Object.hasOwn(handoffs, key) ? handoffs[key] : undefined;
      const agent = handoff && this.#targetOf?.(handoff.agent);
      const { name } = agent?.options ?? {};
      if (handoff === undefined || agent === undefined || name === undefined) return undefined;
      const call = { variables };
      const [first, ...others] = this.#choicesOf(agent, call);
      const say = sayIn(handoff.say, languageWith(first.recipe, language));
      for (const text of [agent.options.systemPrompt, say ?? '']) this.placeholders.note(text, agent, call);
      return {
        name,
        recipe: { ...first.recipe, agentName: name },
        choices: soundFirst([first, ...others], this.#circuits, language),
        say: say && agent.fill(say, call),
        handoffs: this.#nextAgentsOf(agent, call),
      };
    };
  }

  #inOneMode(mode: VoiceMode, call: CallTexts): EngineRecipe {
    const { agent } = mode;
    const { engine, stt, llm, tts, fallback } = agent.options;
    const voices = agent.options.languages.map((each) => each.tts);
    const others = [...fallback.stt, ...fallback.llm, ...fallback.tts, ...voices];
    const named = [engine, engine?.transcription, stt, llm, tts, ...others];
    this.#retirements.note(named);
    for (const provider of named) if (provider !== undefined) this.#pricing?.foresee(provider);
    return engine === undefined ? this.#pipeline(mode, call) : this.#realtime(engine, mode, call);
  }

  /** The providers without which the agent cannot talk: nobody takes their place within its voice mode. */
  #needsOf(mode: VoiceMode): NeededProvider[] {
    const { engine, fallback, languages } = mode.agent.options;
    if (engine !== undefined) return [{ stage: 'engine', provider: engine }];
    const stages = this.#stagesOf(mode);
    return STAGE_NAMES.flatMap((stage): NeededProvider[] => {
      const provider = stages[stage]?.provider;
      if (provider === undefined || fallback[stage].length > 0) return [];
      if (stage !== 'tts' || languages.length === 0) return [{ stage, provider }];
      return languages.map(({ language, tts = provider }) => ({ stage, provider: tts, language }));
    });
  }

  #realtime(engine: RealtimeModel, { agent, option }: VoiceMode, call: CallTexts): EngineRecipe {
    if (this.#onMessage !== undefined)
      throw new ConfigError(
        'CONFIG_CONFLICT',
        `onMessage replaces a language model, and the realtime model in ${option ?? 'engine'} has none. Remove one of them.`,
      );
    engine.assertConfigured?.();
    const toolsOf = () => this.#toolsOf(agent);
    return createRealtimeRecipe({
      ...this.#optionsFor(agent, call),
      handoffs: offersOf(agent),
      model: engine,
      get tools() {
        return toolsOf();
      },
    });
  }

  /** Its first words are what every caller has to hear to their end. Whoever goes on with a call says no first words. */
  #optionsFor(agent: Agent, call: CallTexts): Agent['options'] {
    const options = agent.optionsFor(call);
    const { language, firstMessage = '', turnTaking } = options;
    const announcement = textIn(language, this.#announcement)?.trim();
    if (announcement === undefined || announcement === '') return options;
    return {
      ...options,
      firstMessage: `${announcement} ${firstMessage}`.trim(),
      turnTaking: { ...turnTaking, interruptibleGreeting: false },
    };
  }

  /** Those of servers are known when these have been asked, which is after the recipe was made and before there is a call. */
  #toolsOf(agent: Agent): readonly AgentTool[] {
    return this.#toolServers?.of(agent) ?? agent.options.tools;
  }

  #pipeline(mode: VoiceMode, call: CallTexts): EngineRecipe {
    const { stt, llm, tts } = this.#stagesOf(mode);
    const toolsOf = () => this.#toolsOf(mode.agent);
    return createPipelineRecipe({
      ...this.#optionsFor(mode.agent, call),
      languages: this.#voicesOf(mode),
      handoffs: offersOf(mode.agent),
      stt: stt.provider,
      llm: llm?.provider,
      tts: tts.provider,
      onMessage: this.#onMessage,
      get tools() {
        return toolsOf();
      },
    });
  }

  /** What the agent says in each language, each voice with the same others behind it. */
  #voicesOf({ agent }: VoiceMode): readonly LanguageWords[] {
    const { languages, fallback } = agent.options;
    const chain = { circuits: this.#circuits, clock: this.#clock };
    return languages.map((words) => {
      if (words.tts === undefined || words.tts === agent.options.tts) return { ...words, tts: undefined };
      words.tts.assertConfigured?.();
      if (fallback.tts.length === 0) return words;
      return { ...words, tts: new TextToSpeechChain({ ...chain, members: [words.tts, ...fallback.tts] }) };
    });
  }

  #stagesOf({ agent, option }: VoiceMode): Stages {
    const known = this.#stages.get(agent);
    if (known !== undefined) return known;
    const { stt, llm, tts, fallback } = agent.options;
    const chain = { circuits: this.#circuits, clock: this.#clock };
    const stages: Stages = {
      stt: chained(
        given(stt) ?? chooseSpeechToText(),
        fallback.stt,
        (members) => new SpeechToTextChain({ ...chain, members }),
      ),
      llm:
        this.#onMessage === undefined
          ? chained(
              given(llm) ?? chooseLanguageModel(),
              fallback.llm,
              (members) => new LanguageModelChain({ ...chain, members }),
            )
          : undefined,
      tts: chained(
        given(tts) ?? chooseTextToSpeech(),
        fallback.tts,
        (members) => new TextToSpeechChain({ ...chain, members }),
      ),
    };
    const tags = agent.options.languages.map(({ language }) => language);
    if (tags.length > 0)
      assertTellsLanguages(option === undefined ? 'stt' : `${option}.stt`, stages.stt.provider, tags);
    for (const { provider } of choicesOf(stages)) provider.assertConfigured?.();
    if (option !== undefined) refuseLocal(option, stages);
    this.#stages.set(agent, stages);
    this.#announce(stages, { agent: agent.options.name, option });
    if (this.#onMessage !== undefined && fallback.llm.length > 0)
      this.#logger.warn(
        { option: 'fallback.llm' },
        'onMessage replaces every language model, including fallback.llm: none is used when it fails',
      );
    return stages;
  }

  #announce(
    stages: Stages,
    of: { readonly agent: string | undefined; readonly option: string | undefined },
  ): void {
    const chosen = Object.entries(stages).flatMap(
      ([stage, choice]: [string, Choice<{ name: string }> | undefined]) =>
        choice === undefined || choice.reason === 'given'
          ? []
          : [[stage, `${choice.provider.name} (${choice.reason})`]],
    );
    if (chosen.length === 0) return;
    const { agent, option } = of;
    const fields = {
      ...(agent === undefined ? {} : { agent }),
      ...(option === undefined ? {} : { option }),
      ...Object.fromEntries(chosen),
    };
    if (choicesOf(stages).some(({ isLocal }) => isLocal))
      this.#logger.warn(
        fields,
        'stages not set: chosen by the keys in the environment, else from the local stack, which is for trials only',
      );
    else this.#logger.info(fields, 'stages not set: chosen by the keys in the environment');
  }
}

function offersOf({ options }: Agent): HandoffOffers {
  return Object.fromEntries(Object.entries(options.handoffs).map(([key, { when }]) => [key, when]));
}

function given<T>(provider: T | undefined): Choice<T> | undefined {
  return provider === undefined ? undefined : { provider, reason: 'given', isLocal: false };
}

/** Who falls back is in earnest: nobody gets the local stack then without having named it. @throws ConfigError */
function refuseLocal(option: string, stages: Stages): void {
  const missing = STAGE_NAMES.filter((stage) => stages[stage]?.isLocal === true);
  if (missing.length === 0) return;
  throw new ConfigError(
    'CONFIG_MISSING',
    `${option} names no ${missing.join(' and no ')}, and no key in the environment chooses one: callers would get the local stack, which is for trials only. Name providers there, or set their keys.`,
  );
}

/** The same choice with others behind it. */
function chained<T>(
  choice: Choice<T>,
  others: readonly T[],
  toChain: (members: readonly [T, ...T[]]) => T,
): Choice<T> {
  return others.length === 0 ? choice : { ...choice, provider: toChain([choice.provider, ...others]) };
}

function choicesOf({ stt, llm, tts }: Stages): Choice<{ assertConfigured?(): void }>[] {
  return [stt, ...(llm === undefined ? [] : [llm]), tts];
}
