// The options of `phone.agent(...)`: what they mean, and what is refused. Documented here and nowhere else.
import { isE164 } from '../base/e164.js';
import { ConfigError } from '../base/errors.js';
import { checkBoolean, checkNames, checkText, requireObject } from '../base/option-checks.js';
import { fillPlaceholders, type Variables } from '../base/placeholders.js';
import type { Guardrail } from '../engines/pipeline/speaking/guardrails.js';
import { createAgentTools } from '../engines/tools/agent-tool.js';
import type { TransferTargets } from '../engines/tools/built-in-tools.js';
import type { AgentTool, Tool } from '../engines/tools/tool.js';
import type { IdleSettings, TurnTakingSettings } from '../engines/turn-taking.js';
import type { LanguageModel } from '../providers/language-model.js';
import type { RealtimeModel } from '../providers/realtime-model.js';
import type { SpeechToText } from '../providers/speech-to-text.js';
import type { TextToSpeech } from '../providers/text-to-speech.js';
import { checkEngine } from './engine.js';
import { checkFallback, type CheckedFallback, type FallbackOptions } from './fallback.js';
import { checkIdle, type IdleOptions } from './idle.js';
import { checkStage, STAGE_NAMES } from './providers.js';
import { checkPhrase } from './phrases.js';
import { inOtherMode } from './substitutes.js';
import { checkTurnTaking, type TurnTakingOptions } from './turn-taking.js';

/** Options of `phone.agent(...)`. */
export interface AgentOptions {
  /** Who the agent is and what it shall do. @default '' */
  systemPrompt?: string | undefined;
  /** What the agent says when the call connects. @default nothing: the caller speaks first */
  firstMessage?: string | undefined;
  /** A realtime model, which hears and speaks by itself, like `new OpenAIRealtime()` of `offhook/realtime`. Takes the place of `stt`, `llm` and `tts`, and of `onMessage`; of `turnTaking` only `interruptibleGreeting`, `keysInterrupt` and `keyPauseMs` have a place beside it, and, while a tool runs, `fillers` and `fillerAfterMs`. @default none: the three stages */
  engine?: RealtimeModel | undefined;
  /** Speech-to-text. @default by the keys in the environment (`DEEPGRAM_API_KEY`), else the simulated one of the local stack; the log says which */
  stt?: SpeechToText | undefined;
  /** Language model; `onMessage` of `serve` replaces it. @default by the keys in the environment (`OPENAI_API_KEY`, `GROQ_API_KEY`), else the scripted one of the local stack; the log says which */
  llm?: LanguageModel | undefined;
  /** Text-to-speech. @default by the keys in the environment (`ELEVENLABS_API_KEY`), else the embedded voice of the local stack; the log says which */
  tts?: TextToSpeech | undefined;
  /** Language of the call, a BCP 47 tag like `en` or `de-CH`. @default the provider's own */
  language?: string | undefined;
  /** What the caller hears when the call cannot go on, at most 300 characters: in the agent's voice, or where that has failed in the carrier's. After a turn in which `onMessage` failed they are asked to say it again, in the same languages. @default an apology in the agent's `language`, which may be Dutch, English, French, German, Italian, Portuguese or Spanish, else in English */
  apology?: string | undefined;
  /** Values of `{name}` placeholders in `systemPrompt`, `firstMessage` and voicemail messages; `call` may give others; one that nothing fills is used as it stands, with a warning. Control characters are dropped, a value is cut at 500 characters. @default {} */
  variables?: Variables | undefined;
  /** True when the caller can interrupt the agent. @default true */
  interruptible?: boolean | undefined;
  /** When the caller has finished, what interrupts the agent, what keys do, and what is said while an answer is slow: see the table below. @default phone-sane values */
  turnTaking?: TurnTakingOptions | undefined;
  /** What happens when the caller says nothing: see the table below. `false` waits without end. @default asks twice, says goodbye and hangs up, for an agent whose `language` is English or not set, else false */
  idle?: IdleOptions | false | undefined;
  /** What the language model may have done beside talking: `{ name, description, parameters, execute | url, timeoutSeconds }`. It can always end the call and press keys. @default [] */
  tools?: readonly Tool[] | undefined;
  /** Whom the language model may hand the caller over to: numbers (E.164) by the names that it chooses from. @default {}: nobody */
  transferTargets?: TransferTargets | undefined;
  /** Functions that are shown every sentence before it is spoken, in order: `(sentence, { callId })` gives true to let it pass, false to drop it, or a text that is said in its place. A throw, anything else, and no answer within a second drop it, too. @default [] */
  guardrails?: readonly Guardrail[] | undefined;
  /** Who takes the place of a provider that fails, stage by stage, from the first second or in the middle of a call: see the table below. @default {}: nobody, and a call ends when a provider has failed */
  fallback?: FallbackOptions | undefined;
}

const AGENT_OPTIONS = [
  'systemPrompt',
  'firstMessage',
  'engine',
  'stt',
  'llm',
  'tts',
  'language',
  'apology',
  'variables',
  'interruptible',
  'turnTaking',
  'idle',
  'tools',
  'transferTargets',
  'guardrails',
  'fallback',
];

/** An agent's options with defaults filled in. Texts still have their placeholders. Stages that are undefined come from the local stack. */
export interface CheckedAgentOptions {
  readonly systemPrompt: string;
  readonly firstMessage: string | undefined;
  readonly variables: Variables;
  /** Undefined for an agent of three stages. */
  readonly engine: RealtimeModel | undefined;
  readonly stt: SpeechToText | undefined;
  readonly llm: LanguageModel | undefined;
  readonly tts: TextToSpeech | undefined;
  readonly language: string | undefined;
  readonly apology: string | undefined;
  readonly interruptible: boolean;
  readonly turnTaking: TurnTakingSettings;
  readonly idle: IdleSettings | undefined;
  readonly tools: readonly AgentTool[];
  readonly transferTargets: TransferTargets;
  readonly guardrails: readonly Guardrail[];
  readonly fallback: CheckedFallback;
}

/** What one call says otherwise than its agent. */
export interface CallTexts {
  /** Values that stand before those of the agent. */
  readonly variables?: Variables | undefined;
  readonly firstMessage?: string | undefined;
}

/** An agent: an immutable recipe, usable for any number of calls. Made by `phone.agent(...)`. */
export class Agent {
  readonly options: CheckedAgentOptions;
  /** The same agent in its other voice modes, in the order of `fallback.engine`. */
  readonly substitutes: readonly Agent[];

  /** @throws ConfigError */
  constructor(options: AgentOptions) {
    this.options = Object.freeze(checkAgentOptions(options));
    const { engine: others } = this.options.fallback;
    this.substitutes = Object.freeze(others.map((other) => new Agent(inOtherMode(options, other))));
    Object.freeze(this);
  }

  /** `template` with the values of a call, and of the agent for what the call does not name. */
  fill(template: string, call: CallTexts = {}): string {
    return fillPlaceholders(template, { ...this.options.variables, ...call.variables });
  }

  /** The options as they are for one call, its placeholders filled. */
  optionsFor(call: CallTexts = {}): Omit<CheckedAgentOptions, 'variables'> {
    const { variables: _, ...options } = this.options;
    const firstMessage = call.firstMessage ?? options.firstMessage;
    return {
      ...options,
      systemPrompt: this.fill(options.systemPrompt, call),
      firstMessage: firstMessage === undefined ? undefined : this.fill(firstMessage, call),
    };
  }
}

function checkAgentOptions(options: AgentOptions): CheckedAgentOptions {
  const where = 'agent()';
  requireObject(options, where);
  checkNames(options, AGENT_OPTIONS, where);
  const { systemPrompt = '', stt, llm, tts } = options;
  if (typeof systemPrompt !== 'string') {
    throw new ConfigError('CONFIG_INVALID', 'systemPrompt must be a text.');
  }
  const firstMessage = checkText('firstMessage', options.firstMessage);
  for (const stage of STAGE_NAMES) if (options[stage] !== undefined) checkStage(stage, stage, options[stage]);
  const language = checkLanguage(options.language);
  return {
    systemPrompt,
    firstMessage,
    variables: checkVariables(options.variables),
    engine: checkEngine(options),
    stt,
    llm,
    tts,
    language,
    apology: checkPhrase('apology', options.apology),
    interruptible: checkBoolean('interruptible', options.interruptible, true),
    turnTaking: checkTurnTaking(options.turnTaking, language),
    idle: checkIdle(options.idle, language),
    tools: createAgentTools(options.tools),
    transferTargets: checkTransferTargets(options.transferTargets),
    guardrails: checkGuardrails(options.guardrails),
    fallback: checkFallback(options),
  };
}

/** Names are for a model to say, and for nobody to inherit. */
function checkTransferTargets(targets: unknown): TransferTargets {
  if (targets === undefined) return {};
  const isPlain = typeof targets === 'object' && targets !== null && !Array.isArray(targets);
  const entries: [string, unknown][] = isPlain ? Object.entries(targets) : [['', undefined]];
  const isUsable = ([name, number]: [string, unknown]) =>
    name.trim() !== '' && name.length <= 64 && typeof number === 'string' && isE164(number);
  const wrong = entries.find((entry) => !isUsable(entry));
  if (wrong === undefined) return Object.freeze(Object.fromEntries(entries) as TransferTargets);
  throw new ConfigError(
    'CONFIG_INVALID',
    `transferTargets must be numbers in the form +15550123 (E.164) by names of at most 64 characters${isPlain ? `, which the entry ${JSON.stringify(wrong[0])} is not` : ''}.`,
  );
}

function checkGuardrails(guardrails: unknown): readonly Guardrail[] {
  if (guardrails === undefined) return [];
  const isUsable = Array.isArray(guardrails) && guardrails.every((each) => typeof each === 'function');
  if (isUsable) return Object.freeze([...guardrails]);
  throw new ConfigError('CONFIG_INVALID', 'guardrails must be a list of functions.');
}

function checkLanguage(language: unknown): string | undefined {
  const tag = checkText('language', language);
  if (tag === undefined) return undefined;
  const canonical = canonicalTag(tag);
  if (canonical !== undefined) return canonical;
  const refusal = 'language must be a language tag like en or de-CH (BCP 47).';
  const meant = languageNamed(tag) ?? canonicalTag(tag.replaceAll('_', '-'));
  throw new ConfigError(
    'CONFIG_INVALID',
    meant === undefined ? refusal : `${refusal} Did you mean ${meant}?`,
  );
}

/** Undefined for what is no tag, or has no language in it: names like `german` are well-formed, and of none. */
function canonicalTag(tag: string): string | undefined {
  try {
    const [canonical = ''] = Intl.getCanonicalLocales(tag);
    return /^[a-z]{4,8}(-|$)/i.test(canonical) ? undefined : canonical;
  } catch {
    return undefined;
  }
}

/** The code of two letters of a language by its English name; undefined when there is none. */
function languageNamed(name: string): string | undefined {
  const letters = [...'abcdefghijklmnopqrstuvwxyz'];
  const names = new Intl.DisplayNames(['en'], { type: 'language', fallback: 'none' });
  return letters
    .flatMap((first) => letters.map((second) => first + second))
    .find((code) => names.of(code)?.toLowerCase() === name.toLowerCase());
}

/** @throws ConfigError */
export function checkVariables(variables: unknown): Variables {
  if (variables === undefined) return {};
  const isPlain = typeof variables === 'object' && variables !== null && !Array.isArray(variables);
  const values = isPlain ? Object.entries(variables) : undefined;
  const isUsable = (value: unknown) => typeof value === 'string' || typeof value === 'number';
  if (values?.every(([name, value]) => /^[\w-]+$/.test(name) && isUsable(value)) === true) {
    return Object.fromEntries(values);
  }
  throw new ConfigError(
    'CONFIG_INVALID',
    'variables must be an object of texts or numbers, its names made of letters, digits, _ and -.',
  );
}
