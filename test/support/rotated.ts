// A part of a matrix that leaves nothing out: everything that is to be seen of it occurs in some cell, though not with everything else.
import { SIMULATED_CARRIERS, type SimulatedCarrier } from '../../src/contract/call-record.js';
import { isDeep } from './depth.js';

/** What must occur, by its name: a value of one axis, or of several together. */
export type Aspect<Cell> = (cell: Cell) => string;

/** The fewest cells in which every value of each aspect occurs; all of them where everything is played. */
export function rotated<Cell>(cells: readonly Cell[], aspects: readonly Aspect<Cell>[]): readonly Cell[] {
  return isDeep ? cells : coverOf(cells, aspects);
}

/**
 * Cells, in their order, in which every value of each aspect occurs. Takes the cell that brings most that is new; of several the one whose
 * values were taken least, so that all of them come about equally often.
 */
export function coverOf<Cell>(cells: readonly Cell[], aspects: readonly Aspect<Cell>[]): Cell[] {
  const left = new Map(cells.map((cell) => [cell, aspects.map((aspect, axis) => `${axis} ${aspect(cell)}`)]));
  const taken = new Map<string, number>();
  const chosen = new Set<Cell>();
  for (;;) {
    let best: { cell: Cell; values: readonly string[]; isNew: number; times: number } | undefined;
    for (const [cell, values] of left) {
      const isNew = values.filter((value) => !taken.has(value)).length;
      if (isNew === 0) left.delete(cell);
      if (isNew === 0 || isNew < (best?.isNew ?? 0)) continue;
      const times = values.reduce((sum, value) => sum + (taken.get(value) ?? 0), 0);
      if (isNew > (best?.isNew ?? 0) || times < (best?.times ?? 0)) best = { cell, values, isNew, times };
    }
    if (best === undefined) return cells.filter((cell) => chosen.has(cell));
    chosen.add(best.cell);
    left.delete(best.cell);
    for (const value of best.values) taken.set(value, (taken.get(value) ?? 0) + 1);
  }
}

/** The carriers that whole calls of a file are played on: both where everything is played, else this one. Files take turns. */
export function playedOn(id: SimulatedCarrier): readonly SimulatedCarrier[] {
  return isDeep ? SIMULATED_CARRIERS : [id];
}
