// The tools of a realtime model: run as it asks for them, and their results given to it when all of one response are there.
import { toErrorText } from '../../conversation/tools.js';
import type { ModelToolCall } from '../../providers/language-model.js';
import type { RealtimeSession } from '../../providers/realtime-model.js';
import type { RealtimeSpeech } from './speech.js';
import { CALL_ENDS, CALL_ENDS_LATER, CALL_GOES_ON } from '../tools/built-in-tools.js';
import type { ToolBox } from '../tools/tool-box.js';
import type { ToolRun } from '../tools/tool-run.js';
import type { TurnBook } from '../turn-book.js';

export interface RealtimeToolsOptions {
  readonly box: ToolBox;
  readonly ask: (task: (session: RealtimeSession) => void) => void;
  readonly turns: Pick<TurnBook, 'called' | 'goOnWithout' | 'told'>;
  /** The model has been given the results of `speech`, or of an engine before this one, and owes an answer. */
  readonly given: (speech: RealtimeSpeech | undefined) => void;
  /** No tool runs any more beside the one that ends the call. */
  readonly idle: () => void;
}

/** Rounds of tools in one answer. In the round behind the last one calls are refused, and the model answers once more. */
const MAX_ROUNDS = 5;

/** What a model is told that waits for a tool, when the caller asks something else or has waited for long. */
const NOT_YET = JSON.stringify({
  status: 'running',
  note: 'The result is not there yet and follows. Until then answer what the caller says, or say that it takes a moment.',
});

const END_TEXTS = { ends: CALL_ENDS, 'ends-later': CALL_ENDS_LATER, 'goes-on': CALL_GOES_ON };

const STOPPED = 'Not done: the caller spoke before you had finished.';

export class RealtimeTools {
  readonly #options: RealtimeToolsOptions;
  /** Those whose round has not all of its results. */
  readonly #running = new Set<ToolRun>();
  /** Those that the model waits for, and was told nothing of. */
  readonly #awaited = new Set<ToolRun>();
  /** Whose tools wait until the caller has heard everything, and what to tell them. */
  #waiting: ((caughtUp: boolean) => void)[] = [];

  /** Those of which the model has the result before the others of their round. */
  readonly #told = new Set<ToolRun>();

  constructor(options: RealtimeToolsOptions) {
    this.#options = options;
  }

  /** Runs what a response of `speech` asks for. Returns true when the call is to end behind it, which it can where it `mayEnd`. */
  start(
    calls: readonly ModelToolCall[],
    speech: RealtimeSpeech,
    { mayEnd }: { readonly mayEnd: boolean },
  ): boolean {
    const { box, turns } = this.#options;
    const hearing = { caughtUp: () => this.#caughtUp(speech) };
    const runs = speech.roundCount >= MAX_ROUNDS ? box.refuse(calls) : box.start(calls, hearing);
    speech.called(runs);
    turns.called(runs);
    if (!mayEnd) this.settleEnd(speech, 'goes-on');
    for (const run of runs) {
      this.#awaited.add(run);
      this.#running.add(run);
    }
    const ends = runs.filter((run) => run.endsCall && !run.isSettled);
    const others = runs.filter((run) => !ends.includes(run));
    void settled(others).then(() => {
      if (ends.length === 0) return;
      speech.answered();
      this.#options.idle();
    });
    // The one that ends the call is settled by what becomes of the speech.
    void settled(runs).then(() => {
      if (ends.length === 0) speech.answered();
      this.#give(runs);
      if (!ends.some(({ settlement }) => settlement?.text === CALL_ENDS)) this.#options.given(speech);
    });
    return ends.length > 0;
  }

  /** Tools that an engine before this one has begun: the model, which does not wait for them, is told what comes of them. */
  adopt(runs: readonly ToolRun[]): void {
    for (const run of runs) this.#running.add(run);
    void settled(runs).then(() => {
      this.#give(runs);
      this.#options.given(undefined);
    });
  }

  /** The model is not to wait for tools any more before it says something. Returns true where it did. Their results follow. */
  postpone(): boolean {
    const runs = [...this.#awaited].filter((run) => !run.endsCall);
    const results = runs.map((run) => ({
      toolCallId: run.call.id,
      result: run.settlement?.text ?? NOT_YET,
    }));
    for (const run of runs) this.#awaited.delete(run);
    this.#options.turns.goOnWithout(runs);
    for (const run of runs) if (run.isSettled) this.#told.add(run);
    if (results.length > 0) this.#options.ask((session) => session.giveResults(results));
    return results.length > 0;
  }

  /** The model waits for a tool, and was told nothing of it. */
  get isAwaited(): boolean {
    return [...this.#awaited].some((run) => !run.endsCall);
  }

  /** A tool runs, beside the one that ends the call. */
  get isRunning(): boolean {
    return [...this.#running].some((run) => !run.endsCall && !run.isSettled);
  }

  /** Calls that are not made, mostly of a response that was stopped. Each needs a result all the same. */
  refuse(calls: readonly ModelToolCall[], why = STOPPED): void {
    const results = calls.map(({ id }) => ({ toolCallId: id, result: toErrorText(why) }));
    if (results.length > 0) this.#options.ask((session) => session.giveResults(results));
  }

  /** The caller has heard all that was said, or (false) did not let it be said. */
  release(options: { caughtUp: boolean }): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve(options.caughtUp);
  }

  /** Settles the wish to end the call. */
  settleEnd(speech: RealtimeSpeech, what: 'ends' | 'ends-later' | 'goes-on'): void {
    const text = END_TEXTS[what];
    for (const run of speech.runs) if (run.endsCall) run.settle({ text, error: null });
  }

  close(): void {
    this.#options.box.close();
    this.release({ caughtUp: false });
  }

  #give(runs: readonly ToolRun[]): void {
    const news = runs.filter((run) => !this.#told.delete(run));
    for (const run of runs) {
      this.#awaited.delete(run);
      this.#running.delete(run);
    }
    const results = news.map(({ call, settlement }) => ({
      toolCallId: call.id,
      result: settlement?.text ?? NOT_YET,
    }));
    this.#options.turns.told(runs);
    this.#options.ask((session) => session.giveResults(results));
  }

  #caughtUp(speech: RealtimeSpeech): Promise<boolean> {
    if (speech.caughtUp) return Promise.resolve(true);
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }
}

async function settled(runs: readonly ToolRun[]): Promise<void> {
  await Promise.all(runs.map((run) => run.settled));
}
