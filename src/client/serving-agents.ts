// Who takes new calls: the agents of `serve` and of the numbers, until `setAgent` puts others in their place. Calls that are up keep theirs.
import { nearestName } from '../base/nearest-name.js';
import { ConfigError } from '../base/errors.js';
import type { Logger } from '../base/log.js';
import { maskPhone } from '../base/redact.js';
import type { WaitingCall } from '../calls/call-desk.js';
import type { ChosenAgent } from '../calls/choice/call-choice.js';
import type { EngineRecipe } from '../engines/engine.js';
import { Agent, withName } from '../options/agent.js';
import type { CheckedClientOptions } from '../options/client.js';
import { checkSay } from '../options/handoffs.js';
import type { Recipes } from './recipes.js';

/** The client that serves, and the agents of it that have a name. */
export interface ServingClient extends CheckedClientOptions {
  agentNamed(name: string): Agent | undefined;
  agentNames(): readonly string[];
  /** Those that have tools of servers. */
  equippedAgents(): readonly Agent[];
}

export interface ServingAgentsOptions {
  /** The server's own. */
  readonly agent: Agent;
  readonly client: Pick<ServingClient, 'numbers' | 'areNumbersListed' | 'agentNamed' | 'agentNames'>;
  readonly recipes: Recipes;
  readonly logger: Logger;
}

/** See `ServedCalls`. */
export interface SetAgent {
  (agent: Agent): void;
  (name: string, agent: Agent): void;
}

/** Anybody can ring where webhooks are not signed: that many unknown numbers are said. */
const MAX_UNKNOWN = 100;

export class ServingAgents {
  readonly #options: ServingAgentsOptions;
  /** By the name that they have taken over. */
  readonly #replaced = new Map<string, Agent>();
  /** Agents whose hand-offs lead somewhere: names never go. */
  readonly #checked = new WeakSet<Agent>();
  #own: Agent;
  #ownRecipe: EngineRecipe;
  /** The own agent has taken the place of a function. */
  #isOwnForAll = false;
  /** By number, for those that have an agent. */
  #ofNumbers: ReadonlyMap<string, ChosenAgent>;
  readonly #unknown = new Set<string>();

  /** @throws ConfigError for an agent that cannot talk, or a number whose agent is not there */
  constructor(options: ServingAgentsOptions) {
    this.#options = options;
    this.#own = options.agent;
    this.#ownRecipe = options.recipes.create(options.agent);
    this.#ofNumbers = this.#agentsOfNumbers();
    for (const agent of [options.agent, ...options.client.agentNames().map((name) => this.named(name))])
      if (agent !== undefined) this.checkHandoffs(agent);
  }

  /** Talks where nobody else was chosen. */
  get own(): Agent {
    return this.#own;
  }

  get ownRecipe(): EngineRecipe {
    return this.#ownRecipe;
  }

  /** Who stands for `agent` now: an agent that has a name is whoever has that name. */
  current(agent: Agent): Agent {
    const { name } = agent.options;
    return (name === undefined ? undefined : this.#replaced.get(name)) ?? agent;
  }

  named(name: string): Agent | undefined {
    return this.#replaced.get(name) ?? this.#options.client.agentNamed(name);
  }

  /** For a call that another process has given to the agent of that name; undefined where there is none. @throws ConfigError */
  recipeNamed(name: string): EngineRecipe | undefined {
    const agent = this.named(name);
    return agent && this.#recipeOf(name, agent);
  }

  /** Whom callers are handed over to. */
  targetOf(target: Agent | string): Agent | undefined {
    return typeof target === 'string' ? this.named(target) : this.current(target);
  }

  /** Whom `agent` may hand callers over to. @throws ConfigError for one that is not there, cannot talk, or is the agent itself */
  checkHandoffs(agent: Agent): void {
    if (this.#checked.has(agent)) return;
    const { client, recipes } = this.#options;
    for (const [key, { agent: next, say }] of Object.entries(agent.options.handoffs)) {
      const name = typeof next === 'string' ? next : (next.options.name ?? '');
      const target = this.named(name);
      if (target === undefined)
        throw new ConfigError(
          'CONFIG_INVALID',
          `handoffs.${key} ${noneOfName(name, client.agentNames(), makeIt(name))}`,
        );
      if (name === agent.options.name)
        throw new ConfigError('CONFIG_CONFLICT', `handoffs.${key} is the agent itself.`);
      if (typeof next !== 'string' && client.agentNamed(name) !== next)
        throw new ConfigError(
          'CONFIG_CONFLICT',
          `The agent of handoffs.${key} is one of another client. Make it with phone.agent({ name: '${name}' }) of the client that serves.`,
        );
      recipes.goingOn(target);
      checkSay(`handoffs.${key}.say`, say, target.options);
    }
    this.#checked.add(agent);
  }

  /** The agent of an inbound call that nobody is asked about; undefined for any other. */
  of({ callee }: Pick<WaitingCall, 'callee'>): ChosenAgent | undefined {
    this.#noteCallee(callee);
    const own = this.#isOwnForAll ? { recipe: this.#ownRecipe, texts: undefined } : undefined;
    return this.#ofNumbers.get(callee) ?? own;
  }

  /** New calls get `agent`: those of the server's own, or (`name`) those of the agent of that name. @throws ConfigError; nothing is changed then. */
  set(...given: [agent: Agent] | [name: string, agent: Agent]): void {
    const [first, second] = given;
    if (first instanceof Agent && second === undefined) this.#setOwn(first);
    else if (typeof first === 'string' && second instanceof Agent) this.#setNamed(first, second);
    else throw new ConfigError('CONFIG_INVALID', `setAgent() takes ${this.#adviceFor(first, second)}`);
  }

  /** What `setAgent` takes in the place of what it was given. */
  #adviceFor(first: unknown, second: unknown): string {
    const form = 'an agent, or a name and an agent';
    const result = 'An agent is the result of phone.agent({ … })';
    if (first instanceof Agent && typeof second === 'string')
      return `the name first: setAgent(${quote(second)}, agent).`;
    if (first instanceof Agent) return `${form}. The name comes first.`;
    if (typeof first !== 'string') return `${form}. ${result}, not its options.`;
    const names = this.#options.client.agentNames();
    if (second !== undefined)
      return `${form}: the second argument is none. ${result}, not its options or its name.`;
    return names.includes(first)
      ? `${form}: who is to have the name ${quote(first)}? setAgent(${quote(first)}, agent).`
      : `${form}, not a name alone. ${result}. This client's agents are: ${namesOf(names)}.`;
  }

  #setOwn(agent: Agent): void {
    const { name } = agent.options;
    if (this.current(agent) !== agent)
      throw new ConfigError(
        'CONFIG_CONFLICT',
        `Another agent has the name of this one since setAgent('${name}', …): give it the name back first, with setAgent('${name}', agent).`,
      );
    this.checkHandoffs(agent);
    this.#ownRecipe = this.#options.recipes.create(agent);
    this.#own = agent;
    this.#isOwnForAll = true;
    this.#announce(agent);
  }

  #setNamed(name: string, agent: Agent): void {
    const { client } = this.#options;
    const before = this.named(name);
    if (before === undefined)
      throw new ConfigError('CONFIG_INVALID', `setAgent() ${noneOfName(name, client.agentNames())}`);
    const { name: itsOwn } = agent.options;
    if (itsOwn !== undefined && itsOwn !== name)
      throw new ConfigError(
        'CONFIG_CONFLICT',
        `setAgent() cannot give the name ${name} to an agent that is called ${itsOwn}: make the same agent without a name, as in setAgent('${name}', phone.agent({ … })). For all new calls, use setAgent(agent).`,
      );
    const named = itsOwn === undefined ? withName(agent, name) : agent;
    this.checkHandoffs(named);
    const recipe = this.#recipeOf(name, named);
    this.#replaced.set(name, named);
    if (this.#own.options.name === name) [this.#own, this.#ownRecipe] = [named, recipe];
    this.#ofNumbers = this.#agentsOfNumbers();
    this.#announce(named);
  }

  /** Callers who are only handed over to an agent have heard the announcement: it needs no text of it. @throws ConfigError */
  #recipeOf(name: string, agent: Agent): EngineRecipe {
    const { client, recipes } = this.#options;
    const greets = this.#own.options.name === name || client.numbers.some((each) => each.agent === name);
    return greets ? recipes.create(agent) : recipes.goingOn(agent);
  }

  #agentsOfNumbers(): ReadonlyMap<string, ChosenAgent> {
    const { client, recipes } = this.#options;
    const chosen = new Map<string, ChosenAgent>();
    for (const [index, { number, agent: name }] of client.numbers.entries()) {
      if (name === undefined) continue;
      const agent = this.named(name);
      if (agent === undefined)
        throw new ConfigError(
          'CONFIG_INVALID',
          `phoneNumbers[${index}] ${noneOfName(name, client.agentNames(), makeIt(name))}`,
        );
      chosen.set(number, { recipe: recipes.create(agent), texts: undefined });
    }
    return chosen;
  }

  #announce(agent: Agent): void {
    const { name: agentName = null } = agent.options;
    this.#options.logger.info({ agent: agentName }, 'new calls get another agent');
  }

  #noteCallee(callee: string): void {
    const { client, logger } = this.#options;
    if (!client.areNumbersListed || client.numbers.some(({ number }) => number === callee)) return;
    if (this.#unknown.has(callee) || this.#unknown.size >= MAX_UNKNOWN) return;
    this.#unknown.add(callee);
    logger.warn(
      { callee: maskPhone(callee) },
      'a call to a number that phoneNumbers does not list: it gets the agent of serve()',
    );
  }
}

const makeIt = (name: string) => `Make it with phone.agent({ name: '${name}' }) before serve().`;

function noneOfName(name: string, names: readonly string[], otherwise = ''): string {
  const near = nearestName(name, names);
  const hint = near === undefined ? otherwise : `Did you mean ${near}?`;
  return `names the agent ${quote(name)}, and the agents of this client are: ${namesOf(names)}. ${hint}`.trim();
}

function namesOf(names: readonly string[]): string {
  return names.length === 0 ? 'none with a name' : names.join(', ');
}

function quote(name: string): string {
  return JSON.stringify(name.slice(0, 60));
}
