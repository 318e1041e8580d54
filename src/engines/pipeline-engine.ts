// The pipeline voice mode: speech-to-text, a language stage, text-to-speech, and the turns between them.
import { ConfigError } from '../base/errors.js';
import type { LanguageModel } from '../providers/language-model.js';
import type { SpeechToText } from '../providers/speech-to-text.js';
import type { TextToSpeech } from '../providers/text-to-speech.js';
import type { Charger, EngineRecipe } from './engine.js';
import { type Guardrail, Guardrails } from './guardrails.js';
import { PipelineCall } from './pipeline-call.js';
import { type MessageTarget, openMessageRoute } from './message-route.js';
import { createResponder, RESPONDER_NAME, RESPONDER_TIMEOUT_MS } from './responder.js';
import type { TransferTargets } from './tools/built-in-tools.js';
import type { AgentTool } from './tools/tool.js';
import type { ThinkingTimeouts } from './reply.js';
import { ToolBox } from './tools/tool-box.js';
import { DEFAULT_TURN_TAKING, type IdleSettings, type TurnTakingSettings } from './turn-taking.js';

export interface PipelineOptions {
  readonly stt: SpeechToText;
  /** The language stage, unless `onMessage` takes its place. */
  readonly llm?: LanguageModel | undefined;
  readonly tts: TextToSpeech;
  readonly systemPrompt?: string | undefined;
  /** Said when the call connects. Without it the agent waits for the caller. */
  readonly firstMessage?: string | undefined;
  /** BCP 47 tag, handed to the providers. */
  readonly language?: string | undefined;
  /** False lets the agent finish whatever the caller says meanwhile; that is answered afterwards. @default true */
  readonly interruptible?: boolean | undefined;
  readonly turnTaking?: TurnTakingSettings | undefined;
  /** Without it the agent waits for a silent caller without end. */
  readonly idle?: IdleSettings | undefined;
  /** Answers the caller in the place of `llm`. */
  readonly onMessage?: MessageTarget | undefined;
  /** What the language model may call beside the tools that every agent has. Not for `onMessage`. */
  readonly tools?: readonly AgentTool[] | undefined;
  /** Whom the language model may hand the caller over to. @default nobody */
  readonly transferTargets?: TransferTargets | undefined;
  readonly guardrails?: readonly Guardrail[] | undefined;
}

/** Longest waits for a language model, in milliseconds. Silence beyond them ends calls anyway. */
const MODEL_TIMEOUTS: ThinkingTimeouts = { firstMs: 6000, silentMs: 4000, nextMs: 4000 };

/** onMessage keeps its own deadline; this one lies behind it. */
const RESPONDER_MS = RESPONDER_TIMEOUT_MS + 1000;
const RESPONDER_TIMEOUTS: ThinkingTimeouts = {
  firstMs: RESPONDER_MS,
  silentMs: RESPONDER_MS,
  nextMs: RESPONDER_MS,
};

/** The recipe of a pipeline agent. @throws ConfigError when there is nobody to answer. */
export function createPipelineRecipe(options: PipelineOptions): EngineRecipe {
  const { stt, llm, tts, onMessage } = options;
  if (llm === undefined && onMessage === undefined)
    throw new ConfigError(
      'CONFIG_MISSING',
      'A pipeline agent needs `llm`, or `onMessage` to answer in its place.',
    );
  return {
    mode: 'pipeline',
    providers: {
      engine: null,
      stt: stt.name,
      llm: onMessage === undefined ? (llm?.name ?? null) : RESPONDER_NAME,
      tts: tts.name,
    },
    chargers: {
      stt: toCharger(stt),
      llm: onMessage === undefined && llm !== undefined ? toCharger(llm) : 'application',
      tts: toCharger(tts),
    },
    create(context) {
      const { callId, caller, callee, controls, clock, logger } = context;
      const { tools = [], transferTargets = {}, guardrails = [] } = options;
      const route = onMessage && openMessageRoute(onMessage, { clock });
      const responder = route && createResponder({ ...route, caller, callee, clock });
      const model = responder ?? llm;
      if (model === undefined) throw new ConfigError('CONFIG_MISSING', 'There is no language stage.');
      return new PipelineCall(context, {
        stt,
        tts,
        model,
        timeouts: responder === undefined ? MODEL_TIMEOUTS : RESPONDER_TIMEOUTS,
        systemPrompt: options.systemPrompt,
        firstMessage: options.firstMessage,
        language: options.language,
        interruptible: options.interruptible ?? true,
        turnTaking: options.turnTaking ?? DEFAULT_TURN_TAKING,
        idle: options.idle,
        tools:
          responder === undefined
            ? new ToolBox({ tools, transferTargets, callId, caller, callee, controls, clock, logger })
            : undefined,
        owned: [{ close: () => route?.close?.() }],
        guardrails:
          guardrails.length === 0 ? undefined : new Guardrails({ guardrails, callId, clock, logger }),
      });
    },
  };
}

function toCharger({ name, price }: Charger): Charger {
  return { name, price };
}
