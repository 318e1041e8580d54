// What the server finds where the page cannot tell by itself: words that were said, and calls that it has left out.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { CallSummary } from '../../../contract/dashboard-api.js';
import { ApiError, fetchCalls } from '../api.js';
import { HISTORY_SIZE, type PageState } from './page-state.js';
import { countChoices, filterOf, RANGES, selectCalls, type View } from './view.js';

/** Nothing is asked while somebody types. */
const TYPING_MS = 300;
/** Calls that end meanwhile may be found, too. */
const AGAIN_MS = 5000;

export interface Found {
  calls: readonly CallSummary[];
  /** The search is under way. */
  isOpen: boolean;
  problem: string | null;
}

const NOTHING_ASKED: Found = { calls: [], isOpen: false, problem: null };
const ASKING: Found = { ...NOTHING_ASKED, isOpen: true };

/** What the server is to be asked, as text; null where the page knows all that it could answer. */
function questionOf(view: View, history: readonly CallSummary[]): string | null {
  const isWhole = history.length < HISTORY_SIZE;
  const isLeft = view.words.trim() !== '' || view.range === 'custom' || (countChoices(view) > 0 && !isWhole);
  if (!isLeft) return null;
  // Where a range moves on, what has left it is left out here.
  return JSON.stringify(filterOf(RANGES[view.range] === null ? view : { ...view, range: 'all' }));
}

/** The calls that the server finds for the view, asked again when more calls have ended. */
function useFound(view: View, history: readonly CallSummary[]): Found {
  const question = questionOf(view, history);
  const latest = useRef(history);
  latest.current = history;
  const [found, setFound] = useState({ question, ...NOTHING_ASKED });
  useEffect(() => {
    if (question === null) return;
    let isOver = false;
    let heard: unknown;
    const ask = async () => {
      if (heard === latest.current) return;
      heard = latest.current;
      try {
        const { calls } = await fetchCalls(JSON.parse(question) as ReturnType<typeof filterOf>);
        if (!isOver) setFound({ question, calls, isOpen: false, problem: null });
      } catch (error) {
        const problem = error instanceof ApiError ? error.message : 'That did not work.';
        if (!isOver) setFound({ question, calls: [], isOpen: false, problem });
      }
    };
    const timer = setTimeout(ask, TYPING_MS);
    const interval = setInterval(ask, AGAIN_MS);
    return () => {
      isOver = true;
      clearTimeout(timer);
      clearInterval(interval);
    };
  }, [question]);
  if (question === null) return NOTHING_ASKED;
  return found.question === question ? found : ASKING;
}

/** The ended calls of a view, in its order, and what the server found of them. */
export interface ShownCalls {
  calls: readonly CallSummary[];
  /** Those that figures over time are drawn from, whatever else is chosen, in any order: all that the page knows of that time, and others. */
  known: readonly CallSummary[];
  found: Found;
}

export function useShownCalls({ history, forgotten }: PageState, view: View): ShownCalls {
  const found = useFound(view, history);
  return useMemo(() => {
    const all = candidates({ history, forgotten }, found, view);
    // What was found for something else that is chosen would be a biased sample.
    return { calls: selectCalls(all, view), known: countChoices(view) === 0 ? all : history, found };
  }, [history, forgotten, found, view]);
}

/** The calls that the view is of: those that the page holds, unless what was said decides, and those that the server finds. */
function candidates(
  { history, forgotten }: Pick<PageState, 'history' | 'forgotten'>,
  { calls }: Found,
  { words }: View,
): CallSummary[] {
  const held = new Map(history.map((call) => [call.callId, call]));
  const found = calls
    .filter(({ callId }) => !forgotten.has(callId))
    .map((call) => held.get(call.callId) ?? call);
  if (words.trim() !== '') return found;
  return [...history, ...found.filter(({ callId }) => !held.has(callId))];
}
