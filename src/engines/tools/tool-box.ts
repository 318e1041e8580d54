// The tools of one call: runs what the model asks for, side by side, within time and size, and stops it all when the call ends.
import { isDeepStrictEqual } from 'node:util';
import type { Clock, Timer } from '../../base/clock.js';
import { OffhookError } from '../../base/errors.js';
import { type Logger, logThrown } from '../../base/log.js';
import type { CallContext } from '../../contract/call-context.js';
import {
  type Id,
  idempotencyKeyOf,
  NO_SUCH_TOOL,
  type Settlement,
  toErrorText,
} from '../../conversation/tools.js';
import type { ModelToolCall, ToolDefinition } from '../../providers/language-model.js';
import type { BeforeOutside, EngineControls, HandOff } from '../engine.js';
import { complaintAbout } from './json-schema-check.js';
import {
  type BuiltInTool,
  CALL_ENDS,
  createBuiltInTools,
  PendingHandOff,
  END_CALL,
  HAND_OFF,
  type HandoffOffers,
  TRANSFER_CALL,
  type TransferTargets,
} from './built-in-tools.js';
import { type AgentTool, type ToolContext, ToolError, type ToolFailure } from './tool.js';
import { toResultText } from './tool-result.js';
import { ToolRun } from './tool-run.js';

/** Calls of one reply that are run; a model that wants more has lost its way. */
const MAX_CALLS = 16;

const NOT_DONE = 'a tool did not do what the model asked for';
const FAILED = 'The tool failed.';
export const TOO_MANY = 'Not done: too many tools in one answer. Tell the caller what you know now.';
const CALL_ENDED = 'The call ended before the tool was done.';
const HANDED_OVER = 'Not done: the caller is handed over to another agent.';
/** Not done in an answer that also hands the caller over. */
const LEAVING: readonly string[] = [END_CALL, TRANSFER_CALL, HAND_OFF];
const CUT = 'The result was too long and was cut off.';

export interface ToolBoxOptions {
  readonly tools: readonly AgentTool[];
  readonly transferTargets: TransferTargets;
  /** @default nobody */
  readonly handoffs?: HandoffOffers | undefined;
  readonly handOff?: HandOff | undefined;
  readonly call: CallContext;
  readonly controls: EngineControls;
  readonly beforeOutside?: BeforeOutside | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** How far the caller is with the reply that wants the tools. */
export interface Hearing {
  /** Resolves true when all that the reply has said so far was heard, false when it was stopped before. */
  caughtUp(): Promise<boolean>;
}

/** Nobody says anything before a tool that is run again. */
const NOTHING_TO_HEAR: Hearing = { caughtUp: async () => true };

export class ToolBox {
  readonly definitions: readonly ToolDefinition[];
  readonly #options: ToolBoxOptions;
  readonly #tools: ReadonlyMap<string, AgentTool>;
  readonly #builtIns: ReadonlyMap<string, BuiltInTool>;
  readonly #running = new Set<ToolRun>();
  readonly #handingOver = new Set<ToolRun>();
  readonly #aborts = new Set<AbortController>();
  readonly #recording: Pick<ToolContext, 'pauseRecording' | 'resumeRecording'>;
  #isClosed = false;

  constructor(options: ToolBoxOptions) {
    this.#options = options;
    const { controls } = options;
    this.#recording = {
      pauseRecording: () => whereRecorded(() => controls.pauseRecording()),
      resumeRecording: () => whereRecorded(() => controls.resumeRecording()),
    };
    this.#tools = new Map(options.tools.map((tool) => [tool.definition.name, tool]));
    this.#builtIns = createBuiltInTools(options.transferTargets, options.handoffs);
    this.definitions = toolDefinitions(options);
  }

  /**
   * Runs the calls of one reply. The caller's interruption stops none of them; what becomes of them is in the runs. A call that an earlier
   * reply has made with the same arguments, and that still runs, is not made again: both have its result.
   */
  start(calls: readonly ModelToolCall[], hearing: Hearing): ToolRun[] {
    const running = [...this.#running];
    const handoff = this.#builtIns.has(HAND_OFF) ? calls.findIndex(({ name }) => name === HAND_OFF) : -1;
    return calls.map((call, index) => {
      if (handoff !== -1 && index !== handoff && LEAVING.includes(call.name)) {
        const left = this.#open(call);
        this.#fail(left, HANDED_OVER);
        return left;
      }
      const isTooMany = index >= MAX_CALLS;
      const isEnd = call.name === END_CALL;
      const joins = isTooMany || isEnd ? undefined : running.find((other) => isSameCall(other.call, call));
      const run = this.#open(call, joins);
      if (isTooMany) this.#fail(run, TOO_MANY);
      else if (!this.#has(call.name)) this.#deny(run);
      else if (joins !== undefined) void joined(run, joins);
      else if (!isEnd) void this.#carryOut(run, hearing);
      return run;
    });
  }

  /**
   * Runs a tool again that a process before this one had begun, by its id in the conversation. One that had joined another joins it again: under
   * a key of its own it would do the same once more. Undefined for one that may not be run twice.
   */
  repeat(id: Id, call: ModelToolCall, joins?: ToolRun): ToolRun | undefined {
    if (!this.#isIdempotent(call.name)) return undefined;
    const run = this.#open(call, joins);
    run.identify(id);
    if (joins === undefined) void this.#carryOut(run, NOTHING_TO_HEAR);
    else void joined(run, joins);
    return run;
  }

  /** Calls that are not run any more, because the reply had enough of them. */
  refuse(calls: readonly ModelToolCall[]): ToolRun[] {
    return calls.map((call) => {
      const run = this.#open(call);
      this.#fail(run, TOO_MANY);
      return run;
    });
  }

  /** The call is over: everything that runs is told so, and counts as given up. Idempotent. */
  close(): void {
    for (const run of this.#running) {
      // The end that it has brought about is no failure.
      const isDone = run.endsCall || this.#handingOver.has(run);
      run.settle(isDone ? { text: CALL_ENDS, error: null } : failed(CALL_ENDED));
    }
    this.#isClosed = true;
    for (const abort of this.#aborts) abort.abort();
    for (const tool of this.#tools.values()) tool.release?.(this.#options.call.callId);
  }

  /** A hand-off has no consequences outside: who goes on with the call does it again. */
  #isIdempotent(name: string): boolean {
    return this.#tools.get(name)?.isIdempotent ?? (name === HAND_OFF && this.#builtIns.has(name));
  }

  #has(name: string): boolean {
    return this.#tools.has(name) || this.#builtIns.has(name);
  }

  #open(call: ModelToolCall, joins?: ToolRun): ToolRun {
    const isIdempotent = this.#isIdempotent(call.name);
    const run = new ToolRun(call, { endsCall: call.name === END_CALL, isIdempotent, joins });
    this.#running.add(run);
    void run.settled.then(() => this.#running.delete(run));
    return run;
  }

  async #carryOut(run: ToolRun, hearing: Hearing): Promise<void> {
    const { logger } = this.#options;
    const { callId } = this.#options.call;
    try {
      const outcome = await this.#outcome(run, hearing);
      // In one tick: nothing comes between the check of it and the deed.
      const deed = outcome instanceof PendingHandOff ? outcome.order() : undefined;
      const { text, cut } = toResultText(deed === undefined ? outcome : deed.told);
      run.settle({ text, error: cut ? CUT : null, ...(deed && { shown: deed.shown }) });
      deed?.carryOut();
    } catch (error) {
      if (run.isSettled) return;
      const fields = { callId, tool: run.call.name };
      if (error instanceof ToolError) {
        logger.warn({ ...fields, reason: error.reason }, NOT_DONE);
        run.settle({ text: toErrorText(error.told), error: error.message });
      } else {
        logThrown({ logger, thrown: error }, { ...fields, reason: 'threw' }, NOT_DONE);
        this.#fail(run, FAILED);
      }
    }
  }

  /** @throws what the tool throws, ToolError for what is wrong with the call of it. */
  async #outcome(run: ToolRun, hearing: Hearing): Promise<unknown> {
    const { name, arguments: args } = run.call;
    const tool = this.#tools.get(name);
    const builtIn = this.#builtIns.get(name);
    if (args === null) throw new ToolError('The arguments are not a JSON object.', 'arguments');
    if (tool !== undefined)
      return this.#inTime(tool, async (signal) => {
        const checked = await tool.check(args);
        if ('complaint' in checked) throw misfit(checked.complaint);
        const idempotencyKey = idempotencyKeyOf(this.#options.call.callId, await run.identified);
        await this.#options.beforeOutside?.({ type: 'tool', isOutside: true, call: run.call });
        if (signal.aborted) throw new ToolError(CALL_ENDED, 'call-ended');
        return tool.run(checked.value, { ...this.#options.call, idempotencyKey, signal, ...this.#recording });
      });
    const complaint = complaintAbout(args, builtIn?.definition.parameters ?? {});
    if (complaint !== undefined) throw misfit(complaint);
    const { controls, beforeOutside, handOff } = this.#options;
    await run.identified;
    return builtIn?.run(args, {
      call: run.call,
      controls,
      beforeOutside,
      caughtUp: () => hearing.caughtUp(),
      handsOver: () => this.#handingOver.add(run),
      handOff,
    });
  }

  /** Runs `task` for as long as the tool may take. Its signal then aborts, and when the call ends. */
  async #inTime(tool: AgentTool, task: (signal: AbortSignal) => Promise<unknown>): Promise<unknown> {
    const abort = new AbortController();
    if (this.#isClosed) abort.abort();
    else this.#aborts.add(abort);
    let timer: Timer | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = this.#options.clock.after(tool.timeoutMs, () => {
        reject(new ToolError('The tool did not answer in time.', 'timeout'));
        abort.abort();
      });
      abort.signal.addEventListener('abort', () => reject(new ToolError(CALL_ENDED, 'call-ended')), {
        once: true,
      });
    });
    const running = task(abort.signal);
    // The loser of the race may still reject, with nobody there to hear it.
    running.catch(() => {});
    try {
      return await Promise.race([running, late]);
    } finally {
      timer?.cancel();
      this.#aborts.delete(abort);
    }
  }

  /** Nobody has the tool. The log has no name of it. */
  #deny(run: ToolRun): void {
    const { logger, call } = this.#options;
    logger.warn({ callId: call.callId, tool: null, reason: 'unknown-tool' satisfies ToolFailure }, NOT_DONE);
    this.#fail(run, NO_SUCH_TOOL);
  }

  /** At once. Of one that nobody has, only that is told. */
  #fail(run: ToolRun, sentence: string): void {
    run.settle(failed(this.#has(run.call.name) ? sentence : NO_SUCH_TOOL));
  }
}

/** What a model is told of its tools. Always in the same order: the start of every request shall be the same. */
export function toolDefinitions({
  tools,
  transferTargets,
  handoffs,
}: Pick<ToolBoxOptions, 'tools' | 'transferTargets' | 'handoffs'>): readonly ToolDefinition[] {
  const named = new Map(tools.map(({ definition }) => [definition.name, definition]));
  const builtIns = [...createBuiltInTools(transferTargets, handoffs).values()];
  return [...named.values(), ...builtIns.map(({ definition }) => definition)];
}

function isSameCall(one: ModelToolCall, other: ModelToolCall): boolean {
  return one.name === other.name && isDeepStrictEqual(one.arguments, other.arguments);
}

async function joined(run: ToolRun, other: ToolRun): Promise<void> {
  await other.settled;
  if (other.settlement !== undefined) run.settle(other.settlement);
}

function failed(sentence: string): Settlement {
  return { text: toErrorText(sentence), error: sentence };
}

function misfit(complaint: string): ToolError {
  return new ToolError(`The arguments do not fit: ${complaint}.`, 'arguments');
}

/** What a tool wants to be silent is, where nothing is recorded. */
function whereRecorded(act: () => void): void {
  try {
    act();
  } catch (error) {
    if (!OffhookError.isInstance(error)) throw error;
  }
}
