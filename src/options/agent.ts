// The options of `phone.agent(...)`: what they mean, and what is refused. Documented here and nowhere else.
import { ConfigError } from '../base/errors.js';
import { checkBoolean, checkMethods, checkNames, checkText, requireObject } from '../base/option-checks.js';
import { fillPlaceholders, type Variables } from '../base/placeholders.js';
import type { LanguageModel } from '../providers/language-model.js';
import type { SpeechToText } from '../providers/speech-to-text.js';
import type { TextToSpeech } from '../providers/text-to-speech.js';

/** Options of `phone.agent(...)`. */
export interface AgentOptions {
  /** Who the agent is and what it shall do. @default '' */
  systemPrompt?: string | undefined;
  /** What the agent says when the call connects. @default nothing: the caller speaks first */
  firstMessage?: string | undefined;
  /** Speech-to-text. @default the simulated one of the local stack, with a warning */
  stt?: SpeechToText | undefined;
  /** Language model; `onMessage` of `serve` replaces it. @default the scripted one of the local stack, with a warning */
  llm?: LanguageModel | undefined;
  /** Text-to-speech. @default the embedded voice of the local stack, with a warning */
  tts?: TextToSpeech | undefined;
  /** Language of the call, a BCP 47 tag like `en` or `de-CH`. @default the provider's own */
  language?: string | undefined;
  /** Values of `{name}` placeholders in `systemPrompt`, `firstMessage` and voicemail messages; `call` may give others; one that nothing fills is used as it stands, with a warning. Control characters are dropped, a value is cut at 500 characters. @default {} */
  variables?: Variables | undefined;
  /** True when the caller can interrupt the agent. @default true */
  interruptible?: boolean | undefined;
}

const AGENT_OPTIONS = [
  'systemPrompt',
  'firstMessage',
  'stt',
  'llm',
  'tts',
  'language',
  'variables',
  'interruptible',
];
const LATER_AGENT_OPTIONS = [
  'engine',
  'tools',
  'transferTargets',
  'guardrails',
  'turnTaking',
  'idle',
  'fallback',
];

/** An agent's options with defaults filled in. Texts still have their placeholders. Stages that are undefined come from the local stack. */
export interface CheckedAgentOptions {
  readonly systemPrompt: string;
  readonly firstMessage: string | undefined;
  readonly variables: Variables;
  readonly stt: SpeechToText | undefined;
  readonly llm: LanguageModel | undefined;
  readonly tts: TextToSpeech | undefined;
  readonly language: string | undefined;
  readonly interruptible: boolean;
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

  /** @throws ConfigError */
  constructor(options: AgentOptions) {
    this.options = Object.freeze(checkAgentOptions(options));
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
  checkNames(options, { known: AGENT_OPTIONS, later: LATER_AGENT_OPTIONS }, where);
  const { systemPrompt = '', stt, llm, tts } = options;
  if (typeof systemPrompt !== 'string') {
    throw new ConfigError('CONFIG_INVALID', 'systemPrompt must be a text.');
  }
  const firstMessage = checkText('firstMessage', options.firstMessage);
  const speech = { methods: ['open'], example: 'a provider object with a name and an open() method' };
  if (stt !== undefined) checkMethods('stt', stt, speech);
  if (tts !== undefined) checkMethods('tts', tts, speech);
  const model = { methods: ['respond'], example: 'a provider object with a name and a respond() method' };
  if (llm !== undefined) checkMethods('llm', llm, model);
  return {
    systemPrompt,
    firstMessage,
    variables: checkVariables(options.variables),
    stt,
    llm,
    tts,
    language: checkLanguage(options.language),
    interruptible: checkBoolean('interruptible', options.interruptible, true),
  };
}

function checkLanguage(language: unknown): string | undefined {
  const tag = checkText('language', language);
  try {
    return tag === undefined ? undefined : Intl.getCanonicalLocales(tag)[0];
  } catch {
    throw new ConfigError('CONFIG_INVALID', 'language must be a language tag like en or de-CH (BCP 47).');
  }
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
