// The tools of a realtime model: run as it asks for them, and their results given to it when all of one response are there.
import type { ModelToolCall } from '../providers/language-model.js';
import type { RealtimeSession } from '../providers/realtime-model.js';
import type { RealtimeSpeech } from './realtime-speech.js';
import { CALL_ENDS, CALL_GOES_ON } from './tools/built-in-tools.js';
import type { ToolBox } from './tools/tool-box.js';
import { toErrorText } from './tools/tool-result.js';
import type { ToolRun } from './tools/tool-run.js';

export interface RealtimeToolsOptions {
  readonly box: ToolBox;
  readonly ask: (task: (session: RealtimeSession) => void) => void;
  /** The model has called tools. */
  readonly called: (runs: readonly ToolRun[]) => void;
  /** The model has been given the results of `speech`, or of an engine before this one, and owes an answer. */
  readonly given: (speech: RealtimeSpeech | undefined) => void;
  /** No tool runs any more beside the one that ends the call. */
  readonly idle: () => void;
}

/** Rounds of tools in one answer. In the round behind the last one calls are refused, and the model answers once more. */
const MAX_ROUNDS = 5;

const STOPPED = 'Not done: the caller spoke before you had finished.';

export class RealtimeTools {
  readonly #options: RealtimeToolsOptions;
  /** Whose tools wait until the caller has heard everything, and what to tell them. */
  #waiting: ((caughtUp: boolean) => void)[] = [];

  constructor(options: RealtimeToolsOptions) {
    this.#options = options;
  }

  /** Runs what a response of `speech` asks for. Returns true when the call is to end behind it. */
  start(calls: readonly ModelToolCall[], speech: RealtimeSpeech): boolean {
    const { box, called } = this.#options;
    const hearing = { caughtUp: () => this.#caughtUp(speech) };
    const runs = speech.roundCount >= MAX_ROUNDS ? box.refuse(calls) : box.start(calls, hearing);
    speech.called(runs);
    called(runs);
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
      if (!ends.some(({ resultText }) => resultText === CALL_ENDS)) this.#options.given(speech);
    });
    return ends.length > 0;
  }

  /** Tools that an engine before this one has begun: the model is told what comes of them. */
  adopt(runs: readonly ToolRun[]): void {
    void settled(runs).then(() => {
      this.#give(runs);
      this.#options.given(undefined);
    });
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
  settleEnd(speech: RealtimeSpeech, options: { callEnds: boolean }): void {
    const text = options.callEnds ? CALL_ENDS : CALL_GOES_ON;
    for (const run of speech.runs) if (run.endsCall) run.settle({ text, error: null });
  }

  close(): void {
    this.#options.box.close();
    this.release({ caughtUp: false });
  }

  #give(runs: readonly ToolRun[]): void {
    const results = runs.map(({ call, resultText }) => ({ toolCallId: call.id, result: resultText }));
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
