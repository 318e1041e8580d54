// The pipeline voice mode: speech-to-text, a language stage, text-to-speech, and the turns between them.
import { ConfigError } from '../../base/errors.js';
import { LIMITS } from '../../conversation/limits.js';
import type { LanguageModel } from '../../providers/language-model.js';
import type { SpeechToText } from '../../providers/speech-to-text.js';
import type { TextToSpeech } from '../../providers/text-to-speech.js';
import { tagsOf, toAgentLanguages } from '../languages/agent-words.js';
import { CallerWait } from './caller-wait.js';
import { toPayee } from '../../providers/remedy.js';
import type { EngineRecipe, PreparationContext } from '../engine.js';
import { type Guardrail, Guardrails } from './speaking/guardrails.js';
import { toCallContext } from '../call-context.js';
import { PipelineCall } from './call.js';
import { type MessageTarget, openMessageRoute } from '../responder/message-route.js';
import { type PipelineParts, PipelinePreparation } from './preparation.js';
import type { RecipeOptions } from '../recipe-options.js';
import { createResponder, RESPONDER_NAME } from '../responder/responder.js';
import type { ThinkingTimeouts } from './speaking/reply.js';
import { ToolBox } from '../tools/tool-box.js';
import { DEFAULT_TURN_TAKING } from '../turn-taking.js';

export interface PipelineOptions extends RecipeOptions {
  readonly stt: SpeechToText;
  /** The language stage, unless `onMessage` takes its place. */
  readonly llm?: LanguageModel | undefined;
  readonly tts: TextToSpeech;
  /** Answers the caller in the place of `llm`, and calls no tools. */
  readonly onMessage?: MessageTarget | undefined;
  readonly guardrails?: readonly Guardrail[] | undefined;
}

/** The recipe of a pipeline agent. @throws ConfigError when there is nobody to answer. */
export function createPipelineRecipe(options: PipelineOptions): EngineRecipe {
  const { stt, llm, tts, onMessage } = options;
  if (llm === undefined && onMessage === undefined)
    throw new ConfigError('CONFIG_MISSING', 'A pipeline agent needs `llm` or `onMessage`.');
  const languages = toAgentLanguages(options);
  const [{ setPhrases }] = languages;
  const tags = tagsOf(languages);
  const first = languages[0].tts ?? tts;
  const providers = {
    engine: null,
    stt: stt.name,
    llm: onMessage === undefined ? (llm?.name ?? null) : RESPONDER_NAME,
    tts: first.name,
  };
  return {
    mode: 'pipeline',
    providers,
    language: options.language,
    languages: languages.map((each) => ({
      ...each,
      providers: { ...providers, tts: (each.tts ?? tts).name },
    })),
    setPhrases,
    payees: {
      stt: toPayee(stt),
      llm: onMessage === undefined && llm !== undefined ? toPayee(llm) : 'application',
      tts: toPayee(first),
    },
    prepare: (context) =>
      new PipelinePreparation(context, {
        stt,
        tts: first,
        language: options.language,
        languages: tags.length > 1 ? tags : undefined,
        firstMessage: options.firstMessage,
        parts: openParts(options, context),
      }),
    create(context, preparation) {
      const { tools = [], transferTargets = {}, handoffs } = options;
      const prepared = preparation instanceof PipelinePreparation ? preparation : undefined;
      const parts = prepared?.parts ?? openParts(options, context);
      const call = new PipelineCall(context, {
        providers,
        stt: prepared?.stt ?? stt,
        tts: prepared?.tts ?? first,
        call: parts.call,
        model: parts.model,
        timeouts: timeoutsOf(parts, {
          isChain: llm?.forCall !== undefined,
          isReplaceable: context.hasFallback === true,
        }),
        wait: parts.wait,
        systemPrompt: options.systemPrompt,
        firstMessage: options.firstMessage,
        // The voice of the first one may be prepared.
        languages: [
          { ...languages[0], tts: undefined },
          ...languages.slice(1).map((each) => ({ ...each, tts: each.tts ?? tts })),
        ],
        interruptible: options.interruptible ?? true,
        turnTaking: options.turnTaking ?? DEFAULT_TURN_TAKING,
        tools: parts.isResponder
          ? undefined
          : new ToolBox({ ...context, call: parts.call, tools, transferTargets, handoffs }),
        owned: [prepared === undefined ? parts : { close: () => prepared.release(context) }],
        guardrails: parts.guardrails,
      });
      prepared?.handOver();
      return call;
    },
  };
}

/** What a call has of its own before it has a stream. @throws ConfigError when there is nobody to answer. */
function openParts(options: PipelineOptions, context: PreparationContext): PipelineParts {
  const { llm, onMessage, guardrails = [] } = options;
  const { clock, logger } = context;
  const call = toCallContext(context, options);
  const wait = new CallerWait();
  const route = onMessage && openMessageRoute(onMessage, { clock });
  const responder = route && createResponder({ ...route, call, clock, logger });
  const model = responder ?? llm?.forCall?.({ logger, patience: wait.thinking }) ?? llm;
  if (model === undefined) throw new ConfigError('CONFIG_MISSING', 'There is no language stage.');
  return {
    call,
    model,
    wait,
    isResponder: route !== undefined,
    guardrails: guardrails.length === 0 ? undefined : new Guardrails({ guardrails, call, clock, logger }),
    close: () => route?.close?.(),
  };
}

function timeoutsOf(
  { isResponder }: Pick<PipelineParts, 'isResponder'>,
  { isChain, isReplaceable }: { readonly isChain: boolean; readonly isReplaceable: boolean },
): ThinkingTimeouts {
  const { model, application } = LIMITS;
  const responderMs = application.answerMs + application.graceMs;
  if (isResponder) return { firstMs: responderMs, nextMs: responderMs, isApplication: true };
  // A chain gives each of its models a time of its own, and ours must lie behind that.
  return isReplaceable && !isChain
    ? { firstMs: model.replaceableMs, nextMs: model.replaceableMs }
    : { firstMs: model.firstMs, nextMs: model.nextMs };
}
