// Asks the application which agent takes a call that rings, for a limited time, and makes of its answer what the desk carries out.
import type { Clock } from '../base/clock.js';
import { logThrown, type Logger } from '../base/log.js';
import type { CallChoice } from '../calls/choice/call-choice.js';
import type { WaitingCall } from '../calls/call-desk.js';
import type { Agent } from '../options/agent.js';
import {
  type AgentChoice,
  type CheckedAgentChoice,
  checkChoice,
  type RingingCall,
} from '../options/agent-choice.js';
import type { Recipes } from './recipes.js';
import type { ServingAgents } from './serving-agents.js';

export interface AgentChooserOptions {
  readonly choice: CheckedAgentChoice;
  readonly recipes: Recipes;
  readonly agents: Pick<ServingAgents, 'current' | 'checkHandoffs'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** A call is given to `agent`. */
  chosen(agent: Agent): void;
}

/** Stands for a result that did not come in time. */
const LATE = Symbol('late');
const UNTOLD = { callerName: null, forwardedFrom: null, sipHeaders: {}, location: null };

export class AgentChooser {
  readonly #options: AgentChooserOptions;

  constructor(options: AgentChooserOptions) {
    this.#options = options;
  }

  /** Never rejects. `signal`: nobody waits for the choice any more. */
  async choose(call: WaitingCall, { signal }: { readonly signal: AbortSignal }): Promise<CallChoice> {
    const { logger } = this.#options;
    const { callId } = call;
    try {
      const made = await this.#ask(call, signal);
      if (made !== LATE) return this.#toCallChoice(made);
      if (!signal.aborted) {
        const { answerWithinMs } = this.#options.choice;
        logger.warn(
          { callId, answerWithinMs },
          'the agent function took too long: the fallback agent answers',
        );
      }
    } catch (thrown) {
      if (!signal.aborted)
        logThrown({ logger, thrown }, { callId }, 'the agent function failed: the fallback agent answers');
    }
    return { type: 'agent', agent: undefined };
  }

  /** `LATE` when the time is up or nobody waits any more. Rejects with what the function throws. */
  #ask(call: WaitingCall, signal: AbortSignal): Promise<AgentChoice | typeof LATE> {
    const { choice, clock } = this.#options;
    const abort = new AbortController();
    return new Promise((resolve, reject) => {
      const giveUp = (reason: string) => {
        resolve(LATE);
        abort.abort(new DOMException(reason, 'AbortError'));
      };
      const timer = clock.after(choice.answerWithinMs, () => giveUp('The time for the choice is up.'));
      const left = () => giveUp('The call is over.');
      signal.addEventListener('abort', left, { once: true });
      const over = () => {
        timer.cancel();
        signal.removeEventListener('abort', left);
      };
      abort.signal.addEventListener('abort', over, { once: true });
      Promise.resolve()
        .then(() => choice.choose(toRingingCall(call), { signal: abort.signal }))
        .finally(over)
        .then(resolve, reject);
    });
  }

  /** @throws ConfigError for a result that cannot be carried out. */
  #toCallChoice(made: AgentChoice): CallChoice {
    const { recipes, agents, chosen } = this.#options;
    const choice = checkChoice(made, this.#options.choice.transferTargets);
    switch (choice.type) {
      case 'agent': {
        const { variables, firstMessage } = choice;
        const agent = agents.current(choice.agent);
        const texts = { variables, firstMessage };
        agents.checkHandoffs(agent);
        const recipe = recipes.create(agent, texts);
        chosen(agent);
        return { type: 'agent', agent: { recipe, texts } };
      }
      case 'reject':
        return { type: 'reject', reason: choice.reason === 'busy' ? 'busy' : 'rejected' };
      case 'say':
        return { type: 'say', announcement: { text: choice.text, language: choice.language } };
      case 'transfer':
        return choice;
    }
  }
}

function toRingingCall({ callId, direction, caller, callee, details = UNTOLD }: WaitingCall): RingingCall {
  return { callId, direction, caller, callee, ...details };
}
