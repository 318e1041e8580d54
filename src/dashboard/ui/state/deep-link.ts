// The call that is open, in the address: `#call=<id>`. Links, the back button and a copied address all work.
import { useEffect, useState } from 'preact/hooks';

const PREFIX = '#call=';

export function linkTo(callId: string): string {
  return `${PREFIX}${encodeURIComponent(callId)}`;
}

function readLink(): string | null {
  if (!location.hash.startsWith(PREFIX)) return null;
  try {
    return decodeURIComponent(location.hash.slice(PREFIX.length)) || null;
  } catch {
    return null;
  }
}

/** Closes the open call, leaving no empty `#` in the address. */
export function closeLink(): void {
  history.pushState(null, '', `${location.pathname}${location.search}`);
  window.dispatchEvent(new HashChangeEvent('hashchange'));
}

/** The id of the open call, or null. */
export function useOpenCall(): string | null {
  const [callId, setCallId] = useState(readLink);
  useEffect(() => {
    const listener = () => setCallId(readLink());
    window.addEventListener('hashchange', listener);
    window.addEventListener('popstate', listener);
    return () => {
      window.removeEventListener('hashchange', listener);
      window.removeEventListener('popstate', listener);
    };
  }, []);
  return callId;
}

/** Takes the token out of the address bar and the history of the browser. */
export function stripToken(): void {
  const address = new URL(location.href);
  if (!address.searchParams.has('token')) return;
  address.searchParams.delete('token');
  history.replaceState(null, '', address);
}
