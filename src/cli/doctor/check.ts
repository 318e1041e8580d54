// What a check of the doctor says.

/** `skipped`: not checked, and the message says why. Only `failed` makes the command fail. */
export type CheckStatus = 'ok' | 'warning' | 'failed' | 'skipped';

export interface CheckResult {
  /** Stable, for scripts: `node`, `transcoder`, `carrier-a.authToken`, … */
  readonly name: string;
  readonly status: CheckStatus;
  /** One sentence, with the fix where there is one. Never a secret. */
  readonly message: string;
  /** Figures and texts for scripts. */
  readonly details?: Readonly<Record<string, unknown>>;
}

/** What checks of the network go through. */
export interface Network {
  readonly fetch: typeof fetch;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/** How long another machine may take to answer, in milliseconds. */
export const ANSWER_TIMEOUT_MS = 10_000;

/** Why a request got no answer: a code of the system, or of TLS, where there is one. */
export function failureReason(error: unknown): string {
  if (error instanceof Error && error.name === 'TimeoutError') return 'no answer in time';
  const cause = error instanceof Error ? (error.cause as { code?: unknown } | undefined) : undefined;
  return typeof cause?.code === 'string' ? cause.code : 'no connection';
}
