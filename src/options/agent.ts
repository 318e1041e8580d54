// The options of `phone.agent(...)`: what they mean, and what is refused. Documented here and nowhere else.
import { isE164 } from '../base/e164.js';
import { ConfigError } from '../base/errors.js';
import { checkBoolean, checkNames, checkText, requireObject } from '../base/option-checks.js';
import { fillPlaceholders } from '../base/placeholders.js';
import type { Variables } from '../contract/call-context.js';
import { AGENT_NAME } from '../contract/call-record.js';
import type { Guardrail } from '../engines/pipeline/speaking/guardrails.js';
import { createAgentTools } from '../engines/tools/agent-tool.js';
import type { TransferTargets } from '../engines/tools/built-in-tools.js';
import type { AgentTool, Tool } from '../engines/tools/tool.js';
import { type ToolSource, toolSourcesIn } from '../engines/tools/tool-source.js';
import type { LanguageWords } from '../engines/languages/agent-words.js';
import type { IdleSettings, TurnTakingSettings } from '../engines/turn-taking.js';
import type { LanguageModel } from '../providers/language-model.js';
import type { RealtimeModel } from '../providers/realtime-model.js';
import type { SpeechToText } from '../providers/speech-to-text.js';
import type { TextToSpeech } from '../providers/text-to-speech.js';
import { checkEngine } from './engine.js';
import { checkFallback, type CheckedFallback, type FallbackOptions } from './fallback.js';
import { type CheckedHandoff, checkHandoffs } from './handoffs.js';
import { checkIdle, type IdleOptions } from './idle.js';
import { checkStage } from './providers.js';
import { assertTellsLanguages, type ByLanguage, checkLanguages, valueIn } from './languages.js';
import { checkPhrase } from './phrases.js';
import { inOtherMode } from './substitutes.js';
import { checkTurnTaking, type TurnTakingOptions } from './turn-taking.js';

/** Another agent that the model may hand the caller over to. */
export interface HandoffOptions {
  /** An agent with a name, or its name. */
  agent: Agent | string;
  /** When the model hands over, such as `'questions about bills'`. At most 500 characters. */
  when: string;
  /** What the other agent says first, before it answers; at most 300 characters. For an agent with `languages`, one text for each: `{ en, de }`. @default nothing: it answers at once */
  say?: ByLanguage<string> | undefined;
}

/** Options of `phone.agent(...)`. */
export interface AgentOptions {
  /** Name of the agent in records, events and on the page: kebab-case, at most 40 characters. No two agents of a client have the same. @default none */
  name?: string | undefined;
  /** Who the agent is and what it should do. @default '' */
  systemPrompt?: string | undefined;
  /** What the agent says when the call connects. @default none: the caller speaks first */
  firstMessage?: string | undefined;
  /** A realtime model that hears and speaks by itself, such as `new OpenAIRealtime()` from `offhook/realtime`. Replaces `stt`, `llm`, `tts` and `onMessage`. Of `turnTaking`, only `interruptibleGreeting`, `keysInterrupt`, `keyPauseMs` and (while a tool runs) `fillers` and `fillerAfterMs` apply. @default none: `stt`, `llm` and `tts` */
  engine?: RealtimeModel | undefined;
  /** Speech-to-text. @default the vendor whose key is set (`DEEPGRAM_API_KEY`), else the local stack's simulated recognizer; the log names the choice */
  stt?: SpeechToText | undefined;
  /** Language model. Replaced by `onMessage` of `serve`. @default the vendor whose key is set (`OPENAI_API_KEY`, `GROQ_API_KEY`), else the local stack's scripted model; the log names the choice */
  llm?: LanguageModel | undefined;
  /** Text-to-speech. @default the vendor whose key is set (`ELEVENLABS_API_KEY`), else the local stack's embedded voice; the log names the choice. With `languages`, one for all or one for each: `{ en, de }` */
  tts?: ByLanguage<TextToSpeech> | undefined;
  /** Language of the call as a BCP 47 tag, such as `en` or `de-CH`. @default the provider's default */
  language?: string | undefined;
  /** Languages that a caller may speak, 2-10 BCP 47 tags. A call begins in the first, and changes to another one when two turns in a row were in it: recognition goes on in all of them, and the voice, the fixed texts and the language of the answers change. Needs a recognizer that tells languages, and no `engine`. Replaces `language`. `apology`, `idle.prompts`, `idle.goodbye` and `turnTaking.fillers` are then given for each language. @default none: the call stays in `language` */
  languages?: readonly string[] | undefined;
  /** What the caller hears when the call cannot go on, at most 300 characters; spoken by the agent's voice, or by the carrier's if the agent's has failed. After a turn in which `onMessage` failed, the caller is asked to repeat instead, in the same languages. @default an apology in `language` (Dutch, English, French, German, Italian, Portuguese or Spanish), else in English */
  apology?: ByLanguage<string> | undefined;
  /** Values of `{name}` placeholders in `systemPrompt`, `firstMessage` and voicemail messages, which tools, `onMessage`, guardrails and voices get as well; `call` can override them. A placeholder without a value stays as it is and logs a warning. Control characters are removed; values are cut at 500 characters. @default {} */
  variables?: Variables | undefined;
  /** Whether the caller can interrupt the agent. @default true */
  interruptible?: boolean | undefined;
  /** When the caller has finished, what interrupts the agent, how keys work, and what to say while an answer is slow. @default see the options of `turnTaking` */
  turnTaking?: TurnTakingOptions | undefined;
  /** What happens when the caller says nothing. `false` waits forever. @default ask twice, say goodbye, hang up; false for an agent in a language that has no default prompts */
  idle?: IdleOptions | false | undefined;
  /** Functions the language model can call: `{ name, description, parameters, execute | url, timeoutSeconds, idempotent }`, and those of MCP servers: `mcp({ url })`. It can always end the call and press keys. @default [] */
  tools?: readonly (Tool | ToolSource)[] | undefined;
  /** Numbers (E.164) the language model can transfer to, by the names it chooses from. @default {}: no transfers */
  transferTargets?: TransferTargets | undefined;
  /** Other agents that the language model can hand the caller over to, by the names it chooses from: `{ billing: { agent, when: 'questions about bills' } }`. Not with `onMessage`. @default {}: no hand-offs */
  handoffs?: Readonly<Record<string, HandoffOptions>> | undefined;
  /** Functions that check each sentence before it is spoken, in order: `(sentence, call)` returns true to pass it, false to drop it, or a replacement. A throw, any other value, or no result within one second drops the sentence. @default [] */
  guardrails?: readonly Guardrail[] | undefined;
  /** Replacements for providers that fail, at the start or mid-call. @default {}: a call ends when a provider fails */
  fallback?: FallbackOptions | undefined;
}

const AGENT_OPTIONS = [
  'name',
  'systemPrompt',
  'firstMessage',
  'engine',
  'stt',
  'llm',
  'tts',
  'language',
  'languages',
  'apology',
  'variables',
  'interruptible',
  'turnTaking',
  'idle',
  'tools',
  'transferTargets',
  'handoffs',
  'guardrails',
  'fallback',
];

/** An agent's options with defaults filled in. Texts still have their placeholders. Stages that are undefined come from the local stack. */
export interface CheckedAgentOptions {
  readonly name: string | undefined;
  readonly systemPrompt: string;
  readonly firstMessage: string | undefined;
  readonly variables: Variables;
  /** Undefined for an agent of three stages. */
  readonly engine: RealtimeModel | undefined;
  readonly stt: SpeechToText | undefined;
  readonly llm: LanguageModel | undefined;
  readonly tts: TextToSpeech | undefined;
  readonly language: string | undefined;
  /** Empty for an agent of one language; else what it says in each, the first of them `language`. */
  readonly languages: readonly LanguageWords[];
  readonly apology: string | undefined;
  readonly interruptible: boolean;
  readonly turnTaking: TurnTakingSettings;
  readonly idle: IdleSettings | undefined;
  readonly tools: readonly AgentTool[];
  /** Where further tools come from, once a server has opened them. */
  readonly toolSources: readonly ToolSource[];
  readonly transferTargets: TransferTargets;
  readonly handoffs: Readonly<Record<string, CheckedHandoff<Agent>>>;
  readonly guardrails: readonly Guardrail[];
  readonly fallback: CheckedFallback;
}

/** What one call says otherwise than its agent. */
export interface CallTexts {
  /** Values that override the agent's. */
  readonly variables?: Variables | undefined;
  readonly firstMessage?: string | undefined;
}

/** An agent: an immutable recipe, usable for any number of calls. Made by `phone.agent(...)`. */
export class Agent {
  readonly options: CheckedAgentOptions;
  /** The same agent in its other voice modes, in the order of `fallback.engine`. */
  readonly substitutes: readonly Agent[];

  /** @throws ConfigError */
  constructor(options: AgentOptions, { isSubstitute } = { isSubstitute: false }) {
    this.options = Object.freeze(checkAgentOptions(options, { isSubstitute }));
    const { engine: others } = this.options.fallback;
    this.substitutes = Object.freeze(
      others.map((other) => new Agent(inOtherMode(options, other), { isSubstitute: true })),
    );
    Object.freeze(this);
  }

  /** `template` with the values of a call, and of the agent for what the call does not name. */
  fill(template: string, call: CallTexts = {}): string {
    return fillPlaceholders(template, this.variablesFor(call));
  }

  /** The agent's values, and over them those of a call. */
  variablesFor(call: CallTexts = {}): Variables {
    return { ...this.options.variables, ...call.variables };
  }

  /** The options as they are for one call, its placeholders filled. */
  optionsFor(call: CallTexts = {}): CheckedAgentOptions {
    const { options } = this;
    const firstMessage = call.firstMessage ?? options.firstMessage;
    return {
      ...options,
      variables: this.variablesFor(call),
      systemPrompt: this.fill(options.systemPrompt, call),
      firstMessage: firstMessage === undefined ? undefined : this.fill(firstMessage, call),
    };
  }
}

/** `agent` under another name. */
export function withName(agent: Agent, name: string): Agent {
  const options = { value: Object.freeze({ ...agent.options, name }), enumerable: true };
  const parts = { ...Object.getOwnPropertyDescriptors(agent), options };
  const named: Agent = Object.create(Agent.prototype, parts);
  return Object.freeze(named);
}

function checkAgentOptions(
  options: AgentOptions,
  { isSubstitute }: { isSubstitute: boolean },
): CheckedAgentOptions {
  const where = 'agent()';
  requireObject(options, where, "{ systemPrompt: 'You answer the phone of a bakery.' }");
  checkNames(options, AGENT_OPTIONS, where);
  const { systemPrompt = '', stt, llm } = options;
  if (typeof systemPrompt !== 'string') {
    throw new ConfigError('CONFIG_INVALID', 'systemPrompt must be a string.');
  }
  const firstMessage = checkText('firstMessage', options.firstMessage);
  if (options.engine !== undefined) checkEngine(options);
  const tags = checkLanguages(options, checkLanguage, { isSubstitute });
  const languages =
    tags?.map((tag) => ({ language: tag, ...checkWords(inLanguage(options, tag, tags), tag) })) ?? [];
  const language = tags?.[0] ?? checkLanguage(options.language);
  const first = tags === undefined ? options : inLanguage(options, tags[0] ?? '', tags);
  const { apology, idle, fillers, tts } = languages[0] ?? checkWords(first, language);
  for (const stage of ['stt', 'llm'] as const)
    if (options[stage] !== undefined) checkStage(stage, stage, options[stage]);
  const fallback = checkFallback(options);
  if (tags !== undefined) assertRecognizers(options, fallback, tags);
  return {
    name: checkName(options.name),
    systemPrompt,
    firstMessage,
    variables: checkVariables(options.variables),
    engine: checkEngine(options),
    stt,
    llm,
    tts,
    language,
    languages: Object.freeze(languages),
    apology,
    interruptible: checkBoolean('interruptible', options.interruptible, true),
    turnTaking: { ...checkTurnTaking(first.turnTaking, language), fillers },
    idle,
    tools: createAgentTools(options.tools),
    toolSources: Object.freeze([...new Set(toolSourcesIn(options.tools))]),
    transferTargets: checkTransferTargets(options.transferTargets),
    handoffs: checkHandoffs<Agent>(options.handoffs, {
      own: options.name,
      nameOf: (value) => (value instanceof Agent ? (value.options.name ?? null) : undefined),
    }),
    guardrails: checkGuardrails(options.guardrails),
    fallback,
  };
}

/** Options of which everything that is said, and who says it, is that of one language. */
type WordOptions = Omit<AgentOptions, 'apology' | 'tts' | 'turnTaking' | 'idle'> & {
  readonly apology?: unknown;
  readonly tts?: unknown;
  readonly turnTaking?: TurnTakingOptions | undefined;
  readonly idle?: IdleOptions | false | undefined;
};

function checkWords(
  { languages, apology, tts, turnTaking, idle }: WordOptions,
  language: string | undefined,
) {
  if (tts !== undefined) checkStage('tts', 'tts', tts);
  return {
    apology: checkPhrase('apology', apology),
    fillers: checkTurnTaking(turnTaking, language).fillers,
    idle: checkIdle(idle, language, { isOneOfSeveral: languages !== undefined }),
    tts: tts as TextToSpeech | undefined,
  };
}

function inLanguage(options: AgentOptions, tag: string, languages: readonly string[]): WordOptions {
  const { apology, tts, turnTaking, idle } = options;
  const text = { languages, isText: true };
  return {
    ...options,
    apology: valueIn('apology', apology, tag, text),
    tts: valueIn('tts', tts, tag, { languages, isText: false }),
    turnTaking: turnTaking && {
      ...requireObject(turnTaking, 'turnTaking'),
      fillers: valueIn('turnTaking.fillers', turnTaking.fillers, tag, text),
    },
    idle: idle && {
      ...requireObject(idle, 'idle'),
      prompts: valueIn('idle.prompts', idle.prompts, tag, text),
      goodbye: valueIn('idle.goodbye', idle.goodbye, tag, text),
    },
  };
}

/** Those that are named: who is chosen by the environment is asked when the server starts. */
function assertRecognizers(
  { stt }: AgentOptions,
  { stt: others, engine }: CheckedFallback,
  languages: readonly string[],
): void {
  if (stt !== undefined) assertTellsLanguages('stt', stt, languages);
  for (const [place, each] of others.entries())
    assertTellsLanguages(`fallback.stt[${place}]`, each, languages);
  for (const [place, each] of engine.entries())
    if ('stt' in each && each.stt !== undefined)
      assertTellsLanguages(`fallback.engine[${place}].stt`, each.stt, languages);
}

function checkName(name: unknown): string | undefined {
  if (name === undefined || (typeof name === 'string' && AGENT_NAME.test(name))) return name;
  throw new ConfigError(
    'CONFIG_INVALID',
    `name must be kebab-case of at most 40 characters, such as front-desk${typeof name === 'string' ? `, which ${JSON.stringify(name.slice(0, 60))} is not` : ''}.`,
  );
}

/** Names are for a model to say, and for nobody to inherit. @throws ConfigError */
export function checkTransferTargets(targets: unknown): TransferTargets {
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

/** @throws ConfigError */
export function checkLanguage(language: unknown, name = 'language'): string | undefined {
  const tag = checkText(name, language);
  if (tag === undefined) return undefined;
  const canonical = canonicalTag(tag);
  if (canonical !== undefined) return canonical;
  const refusal = `${name} must be a language tag like en or de-CH (BCP 47).`;
  const meant = languageNamed(tag) ?? canonicalTag(tag.replaceAll('_', '-'));
  throw new ConfigError(
    'CONFIG_INVALID',
    meant === undefined ? refusal : `${refusal} Did you mean ${meant}?`,
  );
}

/** Undefined if it is not a tag, or names no language: `german` is well-formed, but is not a language code. */
function canonicalTag(tag: string): string | undefined {
  try {
    const [canonical = ''] = Intl.getCanonicalLocales(tag);
    return /^[a-z]{4,8}(-|$)/i.test(canonical) ? undefined : canonical;
  } catch {
    return undefined;
  }
}

/** The two-letter code of a language by its English name; undefined for an unknown one. */
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
