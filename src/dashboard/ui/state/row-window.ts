// Which rows of a long list are near enough to the eye to be there at all.
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { RefObject } from 'preact';

/** Rows beyond the visible ones, so that scrolling and the Tab key find something. */
const SPARE_ROWS = 12;

export interface RowWindow {
  first: number;
  /** Behind the last one. */
  end: number;
}

/**
 * The rows of `height` pixels each that are in sight, when the list begins `top` pixels below the upper edge. A list out of sight has
 * some rows, too: the Tab key leads to them. Pure.
 */
export function rowsInSight(place: { top: number; sight: number; height: number; count: number }): RowWindow {
  const { top, sight, height, count } = place;
  const clamp = (row: number) => Math.min(count, Math.max(0, row));
  const [above, below] = [clamp(Math.floor(-top / height)), clamp(Math.ceil((sight - top) / height))];
  return { first: clamp(above - SPARE_ROWS), end: clamp(below + SPARE_ROWS) };
}

/** Follows the scrolling of the page. `list` is the element whose upper edge the rows begin at. */
export function useRowWindow(
  count: number,
  height: number,
): { list: RefObject<HTMLTableSectionElement | null>; rows: RowWindow } {
  const list = useRef<HTMLTableSectionElement>(null);
  const [rows, setRows] = useState<RowWindow>({ first: 0, end: Math.min(count, 50) });
  useLayoutEffect(() => {
    let frame = 0;
    const look = () => {
      frame = 0;
      if (list.current === null) return;
      const { top } = list.current.getBoundingClientRect();
      const seen = rowsInSight({ top, sight: innerHeight, height, count });
      setRows((before) => (before.first === seen.first && before.end === seen.end ? before : seen));
    };
    const lookSoon = () => {
      if (frame === 0) frame = requestAnimationFrame(look);
    };
    look();
    addEventListener('scroll', lookSoon, { passive: true });
    addEventListener('resize', lookSoon);
    return () => {
      cancelAnimationFrame(frame);
      removeEventListener('scroll', lookSoon);
      removeEventListener('resize', lookSoon);
    };
  }, [count, height]);
  return { list, rows };
}
