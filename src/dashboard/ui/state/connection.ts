// Keeps the page in step with the server: one event stream, opened again when it is lost. Only the figures of a range that moves on are asked for again.
import type { CallEvent, CallEventType } from '../../../contract/call-event.js';
import type { Snapshot } from '../../../contract/dashboard-api.js';
import { ApiError, EVENTS_PATH, fetchAggregates, fetchCalls, signOut } from '../api.js';
import { formatNumber } from '../format.js';
import { hearEnd } from './alerts.js';
import { readState, update, updatePage } from './app-store.js';
import { serverNow } from './clock.js';
import { hearOffset } from './clock-offsets.js';
import { applyAggregates, applyEvent, applyPage, applySnapshot, EMPTY_STATE } from './page-state.js';
import { RANGES, spanOf } from './view.js';

const FACT_TYPES = Object.keys({
  'call.status': true,
  'call.started': true,
  'phase.changed': true,
  'transcript.segment': true,
  'turn.started': true,
  'turn.completed': true,
  'cost.updated': true,
  'dtmf.received': true,
  'amd.detected': true,
  'recording.completed': true,
  'local-recording.updated': true,
  'transfer.updated': true,
  'incident.noted': true,
  'provider.reconnected': true,
  'provider.replaced': true,
  'language.changed': true,
  'agent.changed': true,
  'audio.measured': true,
  'call.ended': true,
  'hangup.updated': true,
  'call.forgotten': true,
} satisfies Record<CallEventType, true>);

const FIRST_RETRY_MS = 1000;
const MAX_RETRY_MS = 15_000;
/** Averages are fetched this long after a call ended, once for all calls that ended meanwhile. */
const AGGREGATES_DELAY_MS = 300;
/** A gap this long between two ticks means that the machine slept, and the stream with it. */
const SLEEP_MS = 20_000;

const tabs = new BroadcastChannel('offhook');

let source: EventSource | null = null;
let retryMs = FIRST_RETRY_MS;
let retryTimer: ReturnType<typeof setTimeout> | undefined;
let aggregatesTimer: ReturnType<typeof setTimeout> | undefined;
/** When the page last knew for sure that it was in step. */
let lastSureAt = Date.now();

/** Opens the event stream, in place of one that is open. */
export function connect(): void {
  clearTimeout(retryTimer);
  source?.close();
  const opened = new EventSource(EVENTS_PATH);
  source = opened;
  opened.addEventListener('open', () => becomeLive());
  opened.addEventListener('error', () => {
    if (source !== opened) return;
    loseTouch();
    // The browser comes back by itself after a broken stream, but not after a refusal.
    if (opened.readyState === EventSource.CLOSED) void learnWhy();
  });
  opened.addEventListener('snapshot', (message) => {
    const snapshot = JSON.parse(message.data) as Snapshot;
    becomeLive();
    updatePage((page) => applySnapshot(page, snapshot));
    void completeHistory(snapshot);
  });
  opened.addEventListener('draining', () => update(() => ({ isDraining: true })));
  opened.addEventListener('broker', (message) => {
    const { isThere: isBrokerThere } = JSON.parse(message.data) as { isThere: boolean };
    update(() => ({ isBrokerThere }));
  });
  for (const type of FACT_TYPES)
    opened.addEventListener(type, (message) => receive(JSON.parse(message.data) as CallEvent));
}

/** Connects, and stays in step with the network, the sleep of this machine, and a sign-out in another tab. */
export function stayConnected(): void {
  tabs.addEventListener('message', connect);
  window.addEventListener('offline', () => {
    source?.close();
    loseTouch();
  });
  window.addEventListener('online', connect);
  let lastTick = Date.now();
  setInterval(() => {
    const slept = Date.now() - lastTick > SLEEP_MS && !document.hidden;
    lastTick = Date.now();
    if (slept && readState().connection.phase !== 'signed-out') connect();
  }, 5000);
  connect();
}

/** Ends the session, and with it the streams of all tabs: the others ask anew, and learn that they are out. */
export async function leave(): Promise<void> {
  await signOut();
  source?.close();
  tabs.postMessage('signed out');
  update(() => ({ connection: { phase: 'signed-out' }, page: EMPTY_STATE }));
}

function becomeLive(): void {
  retryMs = FIRST_RETRY_MS;
  lastSureAt = Date.now();
  if (readState().connection.phase !== 'live')
    update(() => ({ connection: { phase: 'live' }, isDraining: false, isBrokerThere: true }));
}

function loseTouch(): void {
  const { phase } = readState().connection;
  if (phase === 'live') lastSureAt = Date.now();
  if (phase === 'live' || phase === 'connecting')
    update(() => ({ connection: { phase: 'reconnecting', since: lastSureAt } }));
}

/** An event stream does not tell why it was refused: one plain request does. */
async function learnWhy(): Promise<void> {
  try {
    await fetchAggregates();
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) {
      update(() => ({ connection: { phase: 'signed-out' } }));
      return;
    }
  }
  retryTimer = setTimeout(connect, retryMs);
  retryMs = Math.min(retryMs * 2, MAX_RETRY_MS);
}

function receive(event: CallEvent): void {
  const wasUp = readState().page.active.has(event.callId);
  update((app) => {
    const page = applyEvent(app.page, event);
    const clockOffsets = hearOffset(app.clockOffsets, event, { now: Date.now(), up: page.active });
    return { page, clockOffsets, ...announce(event, app.masked) };
  });
  if (wasUp && event.type === 'call.ended') hearEnd(event.callId);
  // Not put off by the next end: where calls end all the time, figures come all the same.
  const changesFigures = event.type === 'call.ended' || event.type === 'call.forgotten';
  if (!changesFigures || aggregatesTimer !== undefined) return;
  aggregatesTimer = setTimeout(() => {
    aggregatesTimer = undefined;
    void refreshAggregates();
  }, AGGREGATES_DELAY_MS);
}

function announce(event: CallEvent, masked: boolean): { announcement?: string } {
  if (event.type === 'call.started')
    return { announcement: `Call from ${formatNumber(event.caller, { masked })} started` };
  return event.type === 'call.ended' ? { announcement: 'A call ended' } : {};
}

/** The figures of the range that is chosen, up to now. */
export async function refreshAggregates(): Promise<void> {
  // Some ranges move on with every call that ends; all calls are all calls.
  if (RANGES[readState().view.range] !== null)
    update((app) => ({ view: { ...app.view, until: serverNow() } }));
  const { range, from, to, ...rest } = readState().view;
  const span = spanOf({ range, from, to, ...rest });
  try {
    const aggregates = await fetchAggregates(span);
    const { view } = readState();
    if (view.range === range && view.from === from && view.to === to)
      updatePage((page) => applyAggregates(page, aggregates, span));
  } catch {
    // The stream will tell when the server is gone; the next snapshot brings the figures.
  }
}

/** A snapshot holds the newest calls; what else the server holds is asked for once. */
async function completeHistory(snapshot: Snapshot): Promise<void> {
  if (readState().view.range !== 'all') void refreshAggregates();
  if (snapshot.aggregates.completedCalls <= snapshot.recent.length) return;
  try {
    const older = await fetchCalls({ status: 'completed' });
    updatePage((page) => applyPage(page, older));
  } catch {
    // The newest calls are there; the next snapshot asks again.
  }
}
