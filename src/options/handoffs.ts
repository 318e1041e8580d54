// The option `handoffs` of an agent: what is refused before anybody can be handed over.
import { ConfigError } from '../base/errors.js';
import { checkNames, requireObject } from '../base/option-checks.js';
import { tagIn } from '../conversation/language.js';
import { type ByLanguage, isByLanguage, valueIn } from './languages.js';
import { checkPhrase } from './phrases.js';

/** A model has to choose among them. */
const MAX_AGENTS = 20;
const MAX_WHEN_CHARS = 500;

const EXAMPLE = "{ agent: 'billing', when: 'questions about bills' }";

/** `Agent`: the agent, or its name. */
export interface CheckedHandoff<Agent> {
  readonly agent: Agent | string;
  readonly when: string;
  readonly say: ByLanguage<string> | undefined;
}

/** `nameOf`: the name of an agent, null for one without; undefined for what is none. @throws ConfigError */
export function checkHandoffs<Agent>(
  handoffs: unknown,
  { own, nameOf }: { own: string | undefined; nameOf: (value: unknown) => string | null | undefined },
): Readonly<Record<string, CheckedHandoff<Agent>>> {
  if (handoffs === undefined) return {};
  const entries = Object.entries(requireObject(handoffs as object, 'handoffs', `{ billing: ${EXAMPLE} }`));
  if (entries.length > MAX_AGENTS)
    throw new ConfigError('CONFIG_INVALID', `handoffs takes at most ${MAX_AGENTS} agents.`);
  const checked = entries.map(([key, value]: [string, unknown]) => {
    const where = `handoffs.${key.slice(0, 64)}`;
    if (!/^[\w-]{1,64}$/.test(key))
      throw new ConfigError(
        'CONFIG_INVALID',
        'The names in handoffs must be 1 to 64 letters, digits, _ and -.',
      );
    // An agent is an object, too, and what was left out is not one of its options.
    const entry = nameOf(value) === undefined || typeof value === 'string' ? value : undefined;
    const given = requireObject(entry as { agent: unknown; when: unknown; say: unknown }, where, EXAMPLE);
    checkNames(given, ['agent', 'when', 'say'], where);
    const { agent } = given;
    const name = typeof agent === 'string' ? agent : nameOf(agent);
    if (name === undefined)
      throw new ConfigError(
        'CONFIG_INVALID',
        `${where}.agent must be the result of phone.agent({ … }), or its name.`,
      );
    if (name === null)
      throw new ConfigError(
        'CONFIG_INVALID',
        `The agent of ${where} needs a name: records and a restart find it by that.`,
      );
    if (name === own) throw new ConfigError('CONFIG_CONFLICT', `${where} is the agent itself.`);
    const { when } = given;
    if (typeof when !== 'string' || when.trim() === '' || when.length > MAX_WHEN_CHARS)
      throw new ConfigError(
        'CONFIG_INVALID',
        `${where}.when must say when the model hands over, in at most ${MAX_WHEN_CHARS} characters, such as 'questions about bills'.`,
      );
    const say = checkTexts(`${where}.say`, given.say);
    return [key, Object.freeze({ agent: agent as Agent | string, when, say })] as const;
  });
  return Object.freeze(Object.fromEntries(checked));
}

/** One text, or one for each of several languages. @throws ConfigError */
function checkTexts(name: string, given: unknown): ByLanguage<string> | undefined {
  const say = given as ByLanguage<unknown>;
  if (!isByLanguage(say)) return checkPhrase(name, say);
  const texts = Object.entries(say).flatMap(([tag, text]) => {
    const checked = checkPhrase(`${name}.${tag.slice(0, 40)}`, text);
    return checked === undefined ? [] : [[tag, checked] as const];
  });
  return Object.freeze(Object.fromEntries(texts));
}

/** What the next agent says first is in its languages. `name`: of the option. @throws ConfigError that lists what is missing */
export function checkSay(
  name: string,
  say: ByLanguage<string> | undefined,
  { languages }: { languages: readonly { readonly language: string }[] },
): void {
  const tags = languages.map(({ language }) => language);
  for (const tag of tags) valueIn(name, say, tag, { languages: tags, isText: true });
  if (tags.length === 0 && isByLanguage(say))
    throw new ConfigError(
      'CONFIG_CONFLICT',
      `${name} is given by language, and its agent has no languages. Give one text.`,
    );
}

/** What is said where the call goes on in the language `tag`; undefined where there is nothing for it, as after `setAgent`. */
export function sayIn(say: ByLanguage<string> | undefined, tag: string | undefined): string | undefined {
  if (!isByLanguage(say)) return say;
  const known = tagIn(Object.keys(say), tag ?? null);
  return known === undefined ? undefined : say[known];
}
