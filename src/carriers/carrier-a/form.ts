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
