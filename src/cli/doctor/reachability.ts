// Whether a server of ours answers where carriers would ask for it, and whether this machine's clock is right.
import { ANSWER_TIMEOUT_MS, type CheckResult, failureReason, type Network } from './check.js';

/** Carriers refuse, or are refused, from here on: signatures count for five minutes. */
const MAX_SKEW_MS = 300_000;
const NOTABLE_SKEW_MS = 30_000;

/** Asks `<origin>/health`. `isPublic`: it is the host that carriers use. */
export async function checkHealth(
  origin: string,
  network: Network,
  { isPublic }: { isPublic: boolean },
): Promise<CheckResult> {
  const name = isPublic ? 'webhook-host' : 'url';
  const url = `${origin}/health`;
  const failed = (message: string): CheckResult => ({ name, status: 'failed', message, details: { url } });
  let response: Response;
  let text: string;
  try {
    response = await network.fetch(url, {
      redirect: 'manual',
      signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
    });
    text = await response.text();
  } catch (error) {
    const hint = isPublic
      ? 'Is the server running, and the tunnel or proxy in front of it?'
      : 'Is the server running?';
    return failed(`${url} cannot be reached (${failureReason(error)}). ${hint}`);
  }
  if (response.status !== 200 || !isHealthy(text)) {
    return failed(
      `${url} is answered by something else (HTTP ${response.status}): the host does not lead to a server of ours.`,
    );
  }
  return { name, status: 'ok', message: `${url} answers`, details: { url } };
}

function isHealthy(text: string): boolean {
  try {
    const { status } = (JSON.parse(text) ?? {}) as { status?: unknown };
    return status === 'ok' || status === 'handing-over';
  } catch {
    return false;
  }
}

/** Compares this machine's clock with the one of the carrier's API, by the Date of any answer. No credentials are sent. */
export async function checkClock(carrier: string, api: string, network: Network): Promise<CheckResult> {
  const name = `${carrier}.clock`;
  const before = network.now();
  let date: string | null;
  try {
    const options = {
      method: 'HEAD',
      redirect: 'manual',
      signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
    } as const;
    date = (await network.fetch(api, options)).headers.get('date');
  } catch (error) {
    const message = `${carrier}: its API cannot be reached from here (${failureReason(error)}), so calls cannot be steered, and the clock was not compared.`;
    return { name, status: 'warning', message };
  }
  const theirs = Date.parse(date ?? '');
  if (Number.isNaN(theirs)) {
    return {
      name,
      status: 'skipped',
      message: `${carrier}: its API names no date, so the clock was not compared.`,
    };
  }
  // Their date is cut to the second: half of one is as likely as any.
  const skewMs = Math.round((before + network.now()) / 2 - (theirs + 500));
  const details = { skewMs };
  const said = `this machine's clock is ${(Math.abs(skewMs) / 1000).toFixed(1)} s ${skewMs < 0 ? 'behind' : 'ahead of'} the one of ${carrier}`;
  if (Math.abs(skewMs) <= NOTABLE_SKEW_MS) return { name, status: 'ok', message: said, details };
  const status = Math.abs(skewMs) < MAX_SKEW_MS ? 'warning' : 'failed';
  const message = `${said}: signatures with a date count for five minutes only. Set the clock, with NTP for example.`;
  return { name, status, message, details };
}
