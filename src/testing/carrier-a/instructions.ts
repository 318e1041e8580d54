// Fetches the instructions of a call, and asks the fallback when they cannot be had.
import type { CallAnswerReport } from '../report.js';
import type { Leg } from './leg.js';
import type { Callback } from './markup-verbs.js';
import { voiceParameters, type Parameters } from './parameters.js';
import type { Switchboard } from './switchboard.js';
import { describeFailure } from './webhook-post.js';

/** A document, and what its relative URLs refer to. */
export interface Instructions {
  readonly source: string;
  readonly url: string;
  /** How long the server took; null when the instructions came otherwise. */
  readonly webhookMs: number | null;
}

export type Fetched = { instructions: Instructions } | { failed: CallAnswerReport };

/** Source: the carrier's error catalog, HTTP failure. */
const CODE_HTTP_FAILURE = '11200';

/** Why a server refuses its carrier, and what the command line has against it. */
const hintOfRefusal = (authToken: string | undefined) =>
  authToken === undefined
    ? 'the request was not signed (set --auth-token to the server’s token)'
    : 'the signature was not accepted (set --auth-token to the server’s own token, and --webhook-host to its public host)';

async function fetchOnce(
  leg: Leg,
  request: Callback & { parameters: Parameters },
  switchboard: Switchboard,
): Promise<Fetched> {
  const { webhooks } = switchboard;
  const unanswered = { status: null, webhookMs: null, upgradeMs: null, answeredAfterMs: null };
  const parameters = [...voiceParameters(leg.facts, leg.status), ...request.parameters];
  try {
    const { url, method } = request;
    // What is reported of a call that is over is not called off with it.
    const signal = leg.isOver ? new AbortController().signal : leg.signal;
    const answer = await webhooks.request({ url, method, parameters }, signal);
    const webhookMs = Math.round(answer.afterMs);
    if (answer.status < 200 || answer.status > 299) {
      const hint = answer.status === 403 ? `: ${hintOfRefusal(webhooks.target.authToken)}` : '';
      const reason = `the voice webhook answered ${answer.status}${hint}`;
      return { failed: { ...unanswered, outcome: 'refused', status: answer.status, webhookMs, reason } };
    }
    if (!/^(text|application)\/xml\b|^text\/html\b/i.test(answer.contentType)) {
      leg.violate('the answer has a content type that is not XML');
    }
    return { instructions: { source: answer.body, url, webhookMs } };
  } catch (error) {
    const reason = describeFailure(error, webhooks.target.url.host);
    return { failed: { ...unanswered, outcome: 'failed', reason } };
  }
}

/** Asks a URL for instructions, then the leg's fallback. */
export async function fetchInstructions(
  leg: Leg,
  request: Callback & { parameters?: Parameters },
  switchboard: Switchboard,
): Promise<Fetched> {
  const { parameters = [], ...callback } = request;
  checkCallback(leg, callback.url, switchboard);
  const fetched = await fetchOnce(leg, { ...callback, parameters }, switchboard);
  const { fallback } = leg;
  if (!('failed' in fetched) || fallback === undefined || leg.isOver) return fetched;
  const trouble: Parameters = [...parameters, ['ErrorCode', CODE_HTTP_FAILURE], ['ErrorUrl', callback.url]];
  return fetchOnce(leg, { ...fallback, parameters: trouble }, switchboard);
}

/** A URL of a document, which may be relative to the one that holds it. */
export function resolveUrl(url: string, documentUrl: string): string {
  return URL.canParse(url) || !URL.canParse(url, documentUrl) ? url : new URL(url, documentUrl).href;
}

/** Every callback of a call goes to the server under test; a foreign host would be another one. */
export function checkCallback(leg: Leg, url: string, switchboard: Switchboard): void {
  const host = URL.canParse(url) ? new URL(url).host : '';
  if (host !== new URL(`https://${switchboard.webhooks.target.webhookHost}`).host) {
    leg.violate('a callback URL names another host than the webhooks');
  }
}
