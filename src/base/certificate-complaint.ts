// Why the certificate of another machine does not do, and what helps.

/** By the code of the error that the TLS of Node gives. */
const UNTRUSTED = new Set([
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'CERT_UNTRUSTED',
]);
const OUTDATED = new Set(['CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID']);
const OTHER_HOST = 'ERR_TLS_CERT_ALTNAME_INVALID';

/** True where a renewed certificate, or the right time, is all that it takes: nothing of ours is wrong. */
export function isOutdated(error: unknown): boolean {
  return OUTDATED.has(String((error as { code?: unknown } | null)?.code));
}

/** A sentence of what is wrong with its certificate, and of the fix; undefined for an error of anything else. */
export function certificateComplaint(error: unknown): string | undefined {
  const { code, reason } = (error ?? {}) as { code?: unknown; reason?: unknown };
  if (typeof code !== 'string') return undefined;
  if (UNTRUSTED.has(code))
    return `Its certificate is of an authority that is not known here (${code}): start this process with NODE_EXTRA_CA_CERTS=/path/to/ca.pem, the certificate of that authority.`;
  if (OUTDATED.has(code))
    return `Its certificate has expired, or is not valid yet (${code}): renew it, and see that the clock of this machine is right.`;
  if (code === OTHER_HOST)
    return `Its certificate is not for the host in its address (${String(reason)}): use a host that the certificate names, or add that host to it.`;
  return undefined;
}
