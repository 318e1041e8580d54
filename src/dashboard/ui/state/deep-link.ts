// Keeps the address in step with what the page shows: the open call, the instant in it, filter, range and order. Links, reload, the back button
// and a copied address all work.
import { useEffect, useState } from 'preact/hooks';
import { fromAddress, isTyped, type OpenCall, toAddress } from './address.js';
import { listen, readState, update } from './app-store.js';
import { refreshAggregates } from './connection.js';

const PREFIX = '#call=';

/** The address of a call. A plain click keeps the view that the page has. */
export function linkTo(callId: string): string {
  return `${PREFIX}${encodeURIComponent(callId)}`;
}

const readAddress = () => fromAddress(location.hash.slice(1));

/** The view that the address says. */
let { view: written } = readState();

/** Puts a new view into the address. */
function writeView(): void {
  const { view } = readState();
  if (view === written) return;
  // Each letter of a search is no step for the back button.
  const asNew = !isTyped(view, written);
  written = view;
  write(readAddress().open, { asNew });
}

/** Without an empty `#`. */
function write(open: OpenCall | null, { asNew }: { asNew: boolean }): void {
  const address = toAddress(open, readState().view);
  if (address === location.hash.slice(1)) return;
  const url = `${location.pathname}${location.search}${address === '' ? '' : `#${address}`}`;
  if (asNew) history.pushState(null, '', url);
  else history.replaceState(null, '', url);
}

/** Opens a call, or closes the open one. What was chosen just before stays chosen: the view is read from the address afterwards. */
export function showCall(callId: string | null): void {
  writeView();
  write(callId === null ? null : { callId, seconds: null }, { asNew: true });
  window.dispatchEvent(new HashChangeEvent('hashchange'));
}

/** Where in the open call its reader is: no step for the back button. */
export function noteInstant(callId: string, seconds: number): void {
  writeView();
  if (readAddress().open?.callId === callId) write({ callId, seconds }, { asNew: false });
}

/** The open call, or null. */
export function useOpenCall(): OpenCall | null {
  const [open, setOpen] = useState(() => readAddress().open);
  useEffect(() => {
    const look = () => setOpen(readAddress().open);
    const stop = onAddress(look);
    look();
    return stop;
  }, []);
  return open;
}

function onAddress(listener: () => void): () => void {
  window.addEventListener('hashchange', listener);
  window.addEventListener('popstate', listener);
  return () => {
    window.removeEventListener('hashchange', listener);
    window.removeEventListener('popstate', listener);
  };
}

/** Takes the view from the address now and whenever that changes, and puts each new view into it. */
export function keepAddress(): void {
  const take = () => {
    const { view } = readAddress();
    const before = readState().view;
    update((app) => ({ view: { ...app.view, ...view } }));
    // An address that says the same in another way stays: a new one in its place would lead whoever goes back here again.
    written = readState().view;
    const isOther = view.range !== before.range || view.from !== before.from || view.to !== before.to;
    if (isOther && readState().page.aggregates !== null) void refreshAggregates();
  };
  take();
  onAddress(take);
  listen(writeView);
  document.addEventListener('click', openHere);
}

/** A plain click on the link of a call opens it without leaving the view. */
function openHere(event: MouseEvent): void {
  const { target, button, defaultPrevented } = event;
  if (button !== 0 || defaultPrevented || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey)
    return;
  const href = target instanceof Element ? target.closest('a')?.getAttribute('href') : undefined;
  if (href == null || !href.startsWith(PREFIX)) return;
  event.preventDefault();
  showCall(fromAddress(href.slice(1)).open?.callId ?? null);
}

/** Takes the token out of the address bar and the history of the browser. */
export function stripToken(): void {
  const address = new URL(location.href);
  if (!address.searchParams.has('token')) return;
  address.searchParams.delete('token');
  history.replaceState(null, '', address);
}
