// The calls of tools in the transcript of a call, whatever the voice mode: one entry for each.
import type { TranscriptEntry } from '../../contract/call-record.js';
import { toEntryText } from './tool-entry.js';
import type { ToolRun } from './tool-run.js';

export class ToolEntries {
  readonly #tell: (entry: TranscriptEntry) => void;
  #count = 0;

  constructor(tell: (entry: TranscriptEntry) => void) {
    this.#tell = tell;
  }

  /**
   * The agent has called tools. Each has an entry of its own, final with its result, also when that comes after the end of the
   * turn: the turn's own record of it is that of the turn's end and stays without a duration.
   */
  called(runs: readonly ToolRun[], turnIndex: number): void {
    for (const run of runs) {
      this.#count += 1;
      const id = `tool-${this.#count}`;
      const tell = () => this.#tell({ ...toEntry(run), id, turnIndex });
      run.onSettled(tell);
      if (!run.isSettled) tell();
    }
  }
}

function toEntry(run: ToolRun): Omit<TranscriptEntry, 'id' | 'turnIndex'> {
  return { role: 'tool', text: toEntryText(run), at: run.record.startedAt, final: run.isSettled };
}
