// Signs as carrier A signs. Written from the wire reference and apart from the verifier of the server, so that the two check each other.
import { createHash, createHmac } from 'node:crypto';

export interface SignedRequest {
  /** The URL as the carrier requests it, scheme and query included. */
  readonly url: string;
  /** Decoded body parameters in any order; empty for a GET and for a WebSocket upgrade. */
  readonly parameters: Iterable<readonly [string, string]>;
}

/** The text that carrier A signs: the URL without port and fragment, then every name and value in code-unit order of the names. */
export function signedText(request: SignedRequest): string {
  const [withoutFragment = ''] = request.url.split('#');
  const url = withoutFragment.replace(/^([a-z]+:\/\/[^/?]*?):\d+(?=[/?]|$)/i, '$1');
  const byName = new Map<string, Set<string>>();
  for (const [name, value] of request.parameters) {
    byName.set(name, (byName.get(name) ?? new Set()).add(value));
  }
  // Without a comparison function, sort goes by code units: capitals before small letters.
  const pairs = [...byName.keys()]
    .sort()
    .flatMap((name) => [...(byName.get(name) ?? [])].sort().map((value) => name + value));
  return url + pairs.join('');
}

/** The value of the signature header: 28 characters of base64. */
export function signRequest(authToken: string, request: SignedRequest): string {
  return createHmac('sha1', authToken).update(signedText(request), 'utf8').digest('base64');
}

/**
 * A request with a JSON body, which is bound by its hash: the URL with the parameter `bodySHA256`, and the signature over that
 * URL alone.
 */
export function signJsonRequest(
  authToken: string,
  request: { readonly url: string; readonly body: string },
): { url: string; signature: string } {
  const hash = createHash('sha256').update(request.body).digest('hex');
  const url = `${request.url}${request.url.includes('?') ? '&' : '?'}bodySHA256=${hash}`;
  return { url, signature: signRequest(authToken, { url, parameters: [] }) };
}
