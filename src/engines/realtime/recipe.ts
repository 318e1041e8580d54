// The realtime voice mode: one model that hears the caller and speaks.
import type { RealtimeModel } from '../../providers/realtime-model.js';
import { toPayee } from '../../providers/remedy.js';
import {
  instructionsIn,
  type LanguageWords,
  tagsOf,
  toAgentLanguages,
  wordsIn,
} from '../languages/agent-words.js';
import { languageLeft } from '../beginning.js';
import { type RecipeIdentity, toCallContext } from '../call-context.js';
import type { EngineRecipe } from '../engine.js';
import { RealtimeCall } from './call.js';
import { isOpeningInterruptible } from './call-options.js';
import { RealtimePreparation } from './preparation.js';
import type { HandoffOffers, TransferTargets } from '../tools/built-in-tools.js';
import type { AgentTool } from '../tools/tool.js';
import { ToolBox, toolDefinitions } from '../tools/tool-box.js';
import { DEFAULT_TURN_TAKING, type IdleSettings, type TurnTakingSettings } from '../turn-taking.js';

export interface RealtimeOptions extends RecipeIdentity {
  readonly model: RealtimeModel;
  readonly systemPrompt?: string | undefined;
  /** Said when the call connects. Without it the agent waits for the caller. */
  readonly firstMessage?: string | undefined;
  /** BCP 47 tag, handed to the model. */
  readonly language?: string | undefined;
  /** Where the call may be in one of several, which another voice mode has found out. @default `language` alone */
  readonly languages?: readonly LanguageWords[] | undefined;
  /** Said by the carrier when the call cannot go on. @default words of the language */
  readonly apology?: string | undefined;
  /** False lets the agent finish whatever the caller says meanwhile; that is answered afterwards. @default true */
  readonly interruptible?: boolean | undefined;
  /** Of it what is not the model's own: keys, and whether the greeting can be interrupted. */
  readonly turnTaking?: TurnTakingSettings | undefined;
  /** Without it the agent waits for a silent caller without end. */
  readonly idle?: IdleSettings | undefined;
  /** What the model may call beside the tools that every agent has. Read for each call. */
  readonly tools?: readonly AgentTool[] | undefined;
  /** Whom the model may hand the caller over to. @default nobody */
  readonly transferTargets?: TransferTargets | undefined;
  /** Which other agents the model may hand the caller over to. @default none */
  readonly handoffs?: HandoffOffers | undefined;
}

/** The recipe of an agent with a realtime model. */
export function createRealtimeRecipe(options: RealtimeOptions): EngineRecipe {
  const { model, systemPrompt, firstMessage = '', language, interruptible = true } = options;
  const { turnTaking = DEFAULT_TURN_TAKING, transferTargets = {}, handoffs } = options;
  const languages = toAgentLanguages(options);
  const [{ setPhrases }] = languages;
  const providers = { engine: model.name, stt: null, llm: null, tts: null };
  return {
    mode: 'realtime',
    providers,
    language,
    languages,
    setPhrases,
    payees: {
      llm: toPayee(model),
      ...(model.transcription === undefined ? {} : { stt: toPayee(model.transcription) }),
    },
    prepare: (context) =>
      new RealtimePreparation(context, {
        model,
        settings: {
          language,
          call: toCallContext(context, options),
          instructions: instructionsIn(languages, null, systemPrompt),
          tools: toolDefinitions({ tools: options.tools ?? [], transferTargets, handoffs }),
          interruptible: isOpeningInterruptible(
            { interruptible, turnTaking },
            { isGreeting: firstMessage !== '' },
          ),
        },
        greeting: firstMessage,
      }),
    create(context, preparation) {
      const hasBegun = context.takeover !== undefined || context.resumed !== undefined;
      // Who takes over in the middle of a call greets nobody.
      if (hasBegun) preparation?.close();
      const isFresh = !hasBegun && preparation instanceof RealtimePreparation;
      const prepared = isFresh ? preparation : undefined;
      const told = toCallContext(context, options);
      const left = languageLeft(context);
      const words = wordsIn(languages, left);
      const call = new RealtimeCall(context, {
        call: told,
        model: prepared?.model ?? model,
        systemPrompt: instructionsIn(languages, left, systemPrompt),
        firstMessage,
        language: words.language,
        tags: tagsOf(languages),
        providers,
        interruptible,
        repeat: words.setPhrases.resumed.repeat,
        turnTaking: { ...turnTaking, fillers: words.fillers },
        idle: words.idle,
        tools: new ToolBox({ ...context, call: told, tools: options.tools ?? [], transferTargets, handoffs }),
      });
      prepared?.handOver();
      return call;
    },
  };
}
