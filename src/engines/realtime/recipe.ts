// The realtime voice mode: one model that hears the caller and speaks.
import type { RealtimeModel } from '../../providers/realtime-model.js';
import { toPayee } from '../../providers/remedy.js';
import { instructionsIn, tagsOf, toAgentLanguages, wordsIn } from '../languages/agent-words.js';
import { languageLeft } from '../beginning.js';
import { toCallContext } from '../call-context.js';
import type { EngineRecipe } from '../engine.js';
import { RealtimeCall } from './call.js';
import { isOpeningInterruptible } from './call-options.js';
import { RealtimePreparation } from './preparation.js';
import type { RecipeOptions } from '../recipe-options.js';
import { ToolBox, toolDefinitions } from '../tools/tool-box.js';
import { DEFAULT_TURN_TAKING } from '../turn-taking.js';

export interface RealtimeOptions extends RecipeOptions {
  readonly model: RealtimeModel;
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
