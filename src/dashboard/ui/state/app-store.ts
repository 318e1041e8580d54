// The one state of the page and who looks at it. Renders at most once per frame, however fast facts come.
import { type ClockOffsets, NO_OFFSETS } from './clock-offsets.js';
import { useEffect, useState } from 'preact/hooks';
import { EMPTY_STATE, type PageState } from './page-state.js';
import { FIRST_VIEW, type View } from './view.js';

/** How fresh the page is. `since` is when it last knew for sure, in the browser's epoch milliseconds. */
export type Connection =
  | { phase: 'connecting' }
  | { phase: 'live' }
  | { phase: 'reconnecting'; since: number }
  | { phase: 'signed-out' };

/** How a browser can tell a person who looks elsewhere. */
export const ALERT_WAYS = ['title', 'sound', 'notification'] as const;
export type AlertWay = (typeof ALERT_WAYS)[number];

export interface AppState {
  page: PageState;
  connection: Connection;
  view: View;
  /** The server has begun to shut down. */
  isDraining: boolean;
  /** False while the broker of the cluster is away: what happens meanwhile is missing. */
  isBrokerThere: boolean;
  /** Telephone numbers show their last four digits only. */
  masked: boolean;
  clockOffsets: ClockOffsets;
  /** How this browser alerts. */
  alertWays: ReadonlySet<AlertWay>;
  /** Alerts since somebody last looked at the page, where the title tells of them. */
  missedAlerts: number;
  /** A sentence for screen readers. */
  announcement: string;
}

let state: AppState = {
  page: EMPTY_STATE,
  connection: { phase: 'connecting' },
  view: FIRST_VIEW,
  isDraining: false,
  isBrokerThere: true,
  masked: true,
  clockOffsets: NO_OFFSETS,
  alertWays: new Set(),
  missedAlerts: 0,
  announcement: '',
};
const listeners = new Set<() => void>();
let scheduled = false;

function notify(): void {
  scheduled = false;
  for (const listener of listeners) listener();
}

/** Changes the state. Only the given fields are replaced. */
export function update(change: (state: AppState) => Partial<AppState>): void {
  state = { ...state, ...change(state) };
  if (scheduled) return;
  scheduled = true;
  // A hidden page gets no frames, but its title still changes.
  if (document.hidden) setTimeout(notify, 250);
  else requestAnimationFrame(notify);
}

export function updatePage(change: (page: PageState) => PageState): void {
  update((app) => ({ page: change(app.page) }));
}

export function readState(): AppState {
  return state;
}

/** Calls `listener` after changes, at most once per frame. Returns a function that ends that. */
export function listen(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** The state, renewed with every change. For the root of the page; parts get what they show as properties. */
export function useAppState(): AppState {
  const [seen, setSeen] = useState(state);
  useEffect(() => {
    const look = () => setSeen(state);
    look();
    return listen(look);
  }, []);
  return seen;
}
