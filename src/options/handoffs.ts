// The option `handoffs` of an agent: what is refused before anybody can be handed over.
import { ConfigError } from '../base/errors.js';
import { checkNames, checkText, requireObject } from '../base/option-checks.js';
import { checkPhrase } from './phrases.js';

/** A model has to choose among them. */
const MAX_AGENTS = 20;
const MAX_WHEN_CHARS = 500;

/** `Agent`: the agent, or its name. */
export interface CheckedHandoff<Agent> {
  readonly agent: Agent | string;
  readonly when: string;
  readonly say: string | undefined;
}

/** `nameOf`: the name of an agent, null for one without; undefined for what is none. @throws ConfigError */
export function checkHandoffs<Agent>(
  handoffs: unknown,
  { own, nameOf }: { own: string | undefined; nameOf: (value: unknown) => string | null | undefined },
): Readonly<Record<string, CheckedHandoff<Agent>>> {
  if (handoffs === undefined) return {};
  const entries = Object.entries(requireObject(handoffs as object, 'handoffs'));
  if (entries.length > MAX_AGENTS)
    throw new ConfigError('CONFIG_INVALID', `handoffs takes at most ${MAX_AGENTS} agents.`);
  const checked = entries.map(([key, value]: [string, unknown]) => {
    const where = `handoffs.${key.slice(0, 64)}`;
    if (!/^[\w-]{1,64}$/.test(key))
      throw new ConfigError(
        'CONFIG_INVALID',
        'The names in handoffs must be 1 to 64 letters, digits, _ and -.',
      );
    const given = requireObject(value as { agent: unknown; when: unknown; say: unknown }, where);
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
    const when = checkText(`${where}.when`, given.when);
    if (when === undefined || when.trim() === '' || when.length > MAX_WHEN_CHARS)
      throw new ConfigError(
        'CONFIG_INVALID',
        `${where}.when must say when the model hands over, in at most ${MAX_WHEN_CHARS} characters.`,
      );
    const say = checkPhrase(`${where}.say`, given.say);
    return [key, Object.freeze({ agent: agent as Agent | string, when, say })] as const;
  });
  return Object.freeze(Object.fromEntries(checked));
}
