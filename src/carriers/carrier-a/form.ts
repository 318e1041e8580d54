// Form bodies and queries of carrier A: decoded once, the same way for the signature and for the reader.

/** True for `application/x-www-form-urlencoded`, with any parameters. */
export function isForm(contentType: string): boolean {
  return /^application\/x-www-form-urlencoded\s*(;|$)/i.test(contentType.trim());
}

/** Decodes a form body or a query. Order, empty values, blanks and repeated names are kept. */
export function decodeForm(form: Uint8Array | string): URLSearchParams {
  const text = typeof form === 'string' ? form : Buffer.from(form).toString('utf8');
  // URLSearchParams drops a leading question mark, which belongs to the first name here. An empty pair it ignores.
  return new URLSearchParams(`&${text}`);
}

/** The raw query of a URL or a request target. A fragment is no part of it: the signature does not cover one. */
export function queryOf(url: string): string {
  const [text = ''] = url.split('#', 1);
  const start = text.indexOf('?');
  return start < 0 ? '' : text.slice(start + 1);
}
