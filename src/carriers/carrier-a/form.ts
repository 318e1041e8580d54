// Form bodies and queries of carrier A: decoded once, the same way for the signature and for the reader.

/** True for `application/x-www-form-urlencoded`, with any parameters. */
export function isForm(contentType: string): boolean {
  return /^application\/x-www-form-urlencoded\s*(;|$)/i.test(contentType.trim());
}

/** Bodies that were decoded already: a webhook is read for its signature, and then for what it says. */
const bodies = new WeakMap<Uint8Array, URLSearchParams>();

/** Decodes a form body or a query. Order, empty values, blanks and repeated names are kept. */
export function decodeForm(form: Uint8Array | string): URLSearchParams {
  if (typeof form === 'string') return decodeText(form);
  let decoded = bodies.get(form);
  if (decoded === undefined) {
    decoded = decodeText(Buffer.from(form.buffer, form.byteOffset, form.byteLength).toString('utf8'));
    bodies.set(form, decoded);
  }
  return decoded;
}

function decodeText(text: string): URLSearchParams {
  // URLSearchParams drops a leading question mark, which belongs to the first name here. An empty pair it ignores.
  return new URLSearchParams(`&${text}`);
}

/** The raw query of a URL or a request target. A fragment is no part of it: the signature does not cover one. */
export function queryOf(url: string): string {
  const start = url.indexOf('?');
  if (start < 0) return '';
  const end = url.indexOf('#');
  if (end < 0) return url.slice(start + 1);
  return start < end ? url.slice(start + 1, end) : '';
}
