// What became of a request that failed. One that has not left may be sent again without a second thought.

/** True when a request failed on the way to the other side: a host not found, a connection not made, a certificate that is not right. */
export function wasNeverSent(error: unknown): boolean {
  return causesOf(error).some(isBeforeSending);
}

/** Where it was sent and why that failed, as the end of a sentence: ` (api.example.com, ECONNREFUSED)`. */
export function whereAndWhy(url: string, error: unknown): string {
  const codes = causesOf(error).map(({ code }) => code);
  // Node's own names; an AbortError has a number.
  const code = codes.find((code) => typeof code === 'string' && /^[A-Z][A-Z\d_]+$/.test(code));
  return ` (${[new URL(url).host, ...(code === undefined ? [] : [code])].join(', ')})`;
}

type Fields = Readonly<Record<string, unknown>>;

/** The error and what it wraps: it may stand for one per address of the host. */
function causesOf(error: unknown): Fields[] {
  if (typeof error !== 'object' || error === null) return [];
  const { cause, errors } = error as Fields;
  return [error as Fields, ...[cause, ...(Array.isArray(errors) ? errors : [])].flatMap(causesOf)];
}

function isBeforeSending({ syscall, code }: Fields): boolean {
  if (syscall === 'connect' || syscall === 'getaddrinfo') return true;
  return /^(CERT_|ERR_TLS_CERT|SELF_SIGNED_|DEPTH_ZERO_|UNABLE_TO_)/.test(String(code));
}
