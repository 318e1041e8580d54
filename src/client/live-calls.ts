// Live calls that outlive their process: kept in the data folder, and gone on with by the agents of the next one.
import { resolve } from 'node:path';
import type { Clock } from '../base/clock.js';
import { describeError, type Logger } from '../base/log.js';
import type { CallDirectory } from '../calls/call-directory.js';
import type { ChosenAgent } from '../calls/choice/call-choice.js';
import type { Loss } from '../calls/ending/lost-call.js';
import type { LeftCall } from '../calls/resume/call-state.js';
import type { ResumedSeed } from '../calls/session-owner.js';
import { phrasesIn } from '../engines/languages/spoken-words.js';
import type { CallEvent } from '../contract/call-event.js';
import type { Agent } from '../options/agent.js';
import { textIn } from '../options/text-by-language.js';
import type { CheckedServeOptions } from '../options/serve.js';
import type { CallStore } from '../stores/call-store.js';
import { StateFolder } from '../stores/state-folder.js';
import type { Recipes } from './recipes.js';
import type { ServingAgents, ServingClient } from './serving-agents.js';
import type { KeptCalls } from './take-over.js';

export interface LiveCallsOptions {
  readonly options: CheckedServeOptions;
  readonly client: ServingClient;
  readonly recipes: Recipes;
  readonly agents: Pick<ServingAgents, 'own' | 'named'>;
  readonly desk: Pick<CallDirectory, 'keep' | 'resume' | 'resumeWithStream'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

export class LiveCalls {
  readonly #parts: LiveCallsOptions;
  /** Agents without a name, of which that was said. */
  readonly #nameless = new WeakSet<Agent>();
  /** Undefined where calls end with their process. */
  #folder: StateFolder | undefined;
  /** Other nodes of a cluster go on with its calls. */
  isShared = false;

  constructor(parts: LiveCallsOptions) {
    this.#parts = parts;
  }

  /**
   * Keeps every call from now on, and has what the last process has left. `store`: one on disk, whose lock keeps other processes away.
   * `unstored`: facts of a call that it does not have because another process has the disk. Undefined where nothing is kept: without a folder,
   * without a secret of the carrier, or where no words are kept.
   */
  async open(
    store: Pick<CallStore, 'isKept'>,
    unstored?: (callId: string) => readonly CallEvent[],
  ): Promise<KeptCalls | undefined> {
    const { options, client, desk, clock, logger } = this.#parts;
    const { dataDir, isSynced, privacy } = options;
    // Who goes on with a call needs its words.
    if (privacy.transcript === 'none') return undefined;
    if (dataDir === false || !store.isKept || client.carrier.streamTokenKey === undefined) return undefined;
    const path = resolve(dataDir, 'live');
    try {
      const folder = await StateFolder.open({ folder: path, isSynced, clock, logger });
      const kept = await this.#keptIn(folder);
      await folder.live();
      this.#folder = folder;
      desk.keep(folder, unstored);
      return kept;
    } catch (error) {
      logger.warn(
        { folder: path, ...describeError(error) },
        'live calls are not kept on disk: they would end with this process',
      );
      return undefined;
    }
  }

  /** What is kept now: of another process that has died, too. Undefined where nothing is. Rejects with the error of the file system. */
  async kept(): Promise<KeptCalls | undefined> {
    return this.#folder && this.#keptIn(this.#folder);
  }

  /** Goes on with a call that another process has let go. `isStreamThere`: its stream has come. Returns why it cannot be gone on with; undefined where it is. */
  takeUp(call: LeftCall, { isStreamThere }: { isStreamThere: boolean }): Loss | undefined {
    return this.#resume(call, (...seed) => {
      const { desk } = this.#parts;
      return isStreamThere ? desk.resumeWithStream(...seed) : desk.resume(...seed);
    });
  }

  async #keptIn(folder: StateFolder): Promise<KeptCalls> {
    const { desk } = this.#parts;
    return {
      left: await folder.read(),
      resume: (call) => this.#resume(call, (...seed) => desk.resume(...seed)),
      forget: (callId) => folder.remove(callId),
    };
  }

  /** A call goes to `agent`: the next process finds agents by their names. Said once for each. */
  note(agent: Agent | undefined): void {
    const { agents, logger } = this.#parts;
    const isFound = agent === undefined || agent === agents.own || agent.options.name !== undefined;
    const isKept = this.#folder !== undefined || this.isShared;
    if (!isKept || isFound || this.#nameless.has(agent)) return;
    this.#nameless.add(agent);
    logger.warn(
      { option: 'name' },
      'an agent chosen for a call has no name: after a crash, its calls would go on with the agent of serve()',
    );
  }

  /** Nothing of the call is kept any more. Never rejects. */
  async forget(callId: string): Promise<void> {
    await this.#folder?.remove(callId);
  }

  /** Idempotent. */
  close(): void {
    this.#folder?.close();
  }

  /** Who was chosen for a call, by what another process says of that; undefined for the server's own. */
  chosen(name: string | undefined, texts: ChosenAgent['texts']): ChosenAgent | undefined {
    const { agents, recipes } = this.#parts;
    const agent = (name === undefined ? undefined : agents.named(name)) ?? agents.own;
    return agent === agents.own && texts === undefined
      ? undefined
      : { recipe: recipes.create(agent, texts), texts };
  }

  /** A call that cannot be taken up is lost, and keeps no other one, nor the server, from going on. */
  #resume(call: LeftCall, resume: CallDirectory['resume']): Loss | undefined {
    const { logger } = this.#parts;
    try {
      return resume(call, () => this.#goingOn(call));
    } catch (error) {
      const { callId } = call.record;
      logger.error(
        { callId, ...describeError(error) },
        'a call of the previous process could not be taken up',
      );
      return 'failed';
    }
  }

  /** Who goes on with a call that another process had, and says what first. */
  #goingOn({ record, state, wasLetGo }: LeftCall): Pick<ResumedSeed, 'recipe' | 'message'> {
    const { options, agents, recipes, logger } = this.#parts;
    const { callId, agent: name } = record;
    const named = name === null ? agents.own : agents.named(name);
    if (named === undefined)
      logger.warn(
        { callId, agent: name },
        'no agent of that name here: the call goes on with the agent of serve()',
      );
    const recipe = recipes.goingOn(named ?? agents.own, state?.outbound?.texts ?? state?.texts);
    // Who has noticed nothing is told nothing.
    if (wasLetGo === true && state?.isNoticeOwed !== true) return { recipe, message: '' };
    // A record may be older than its field.
    const language = record.language ?? recipe.language;
    const said = textIn(language, options.resume.message);
    return { recipe, message: said ?? phrasesIn(recipe, language ?? null).resumed.message };
  }
}
