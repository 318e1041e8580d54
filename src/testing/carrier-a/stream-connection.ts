// Opens the media stream of a leg where the markup says, and stays until it is over.
import { pause } from '../../base/pause.js';
import { createId } from './ids.js';
import { checkCallback, resolveUrl } from './instructions.js';
import type { Leg } from './leg.js';
import type { StreamVerb } from './markup-verbs.js';
import type { Parameters } from './parameters.js';
import { signRequest } from './signing.js';
import { CarrierAStream, openMediaSocket } from './stream.js';
import type { Switchboard } from './switchboard.js';

export interface StreamConnection {
  readonly verb: StreamVerb;
  readonly webhookMs: number | null;
  readonly documentUrl: string;
  readonly signal: AbortSignal;
}

/** Dials the stream URL at the address of the server, without its query, as the carrier does. */
function openSocket(connection: StreamConnection, switchboard: Switchboard) {
  const { url, authToken } = switchboard.webhooks.target;
  const { pathname, host } = new URL(connection.verb.url);
  const scheme = url.protocol === 'https:' ? 'wss:' : 'ws:';
  const headers: Record<string, string> = { host };
  if (authToken !== undefined) {
    const signed = { url: `wss://${host}${pathname}`, parameters: [] };
    headers['x-twilio-signature'] = signRequest(authToken, signed);
  }
  return openMediaSocket({
    url: `${scheme}//${url.host}${pathname}`,
    headers,
    signal: connection.signal,
  });
}

/** Connects the leg with a stream. Resolves when the stream is over, or could not be opened. */
export async function connectStream(
  leg: Leg,
  connection: StreamConnection,
  switchboard: Switchboard,
): Promise<void> {
  const { verb, webhookMs } = connection;
  const { clock, accountSid } = switchboard;
  const streamSid = createId('MZ');
  const report = (event: string, error?: string): void => {
    reportStream(
      leg,
      { connection, streamSid, event, ...(error === undefined ? {} : { error }) },
      switchboard,
    );
  };
  const { streamDelayMs = 0 } = switchboard.webhooks.disturbances;
  if (streamDelayMs > 0) await pause(clock, streamDelayMs, connection.signal);
  const dialedMs = clock.now();
  const opened = await openSocket(connection, switchboard);
  if (connection.signal.aborted) {
    if ('socket' in opened) opened.socket.terminate();
    return;
  }
  if (!('socket' in opened)) {
    const { status, sentence } = opened;
    const reason = status === null ? sentence : `${sentence} with ${status}`;
    leg.answerReport ??= {
      outcome: status === null ? 'failed' : 'refused',
      status,
      webhookMs,
      upgradeMs: null,
      answeredAfterMs: null,
      reason,
    };
    leg.notes.push(`31920: ${reason}`);
    report('stream-error', reason);
    return;
  }
  const upgradeMs = Math.round(clock.now() - dialedMs);
  const facts = { streamSid, callSid: leg.carrierCallId, accountSid };
  const noise = switchboard.streamNoise?.(facts);
  const stream = new CarrierAStream({
    ...facts,
    clock,
    socket: opened.socket,
    path: new URL(verb.url).pathname,
    customParameters: verb.parameters,
    ...(noise === undefined ? {} : { noise }),
  });
  leg.addStream(stream, {
    outcome: 'answered',
    status: 200,
    webhookMs,
    upgradeMs,
    answeredAfterMs: (webhookMs ?? 0) + upgradeMs,
    reason: null,
  });
  report('stream-started');
  await stream.ended;
  report('stream-stopped');
}

function reportStream(
  leg: Leg,
  input: { connection: StreamConnection; streamSid: string; event: string; error?: string },
  switchboard: Switchboard,
): void {
  const { connection, streamSid, event, error } = input;
  const { statusCallback } = connection.verb;
  if (statusCallback === undefined) return;
  const url = resolveUrl(statusCallback.url, connection.documentUrl);
  checkCallback(leg, url, switchboard);
  const parameters: Parameters = [
    ['AccountSid', switchboard.accountSid],
    ['CallSid', leg.carrierCallId],
    ['StreamSid', streamSid],
    ['StreamName', streamSid],
    ['StreamEvent', event],
    ...(error === undefined ? [] : [['StreamError', error] as const]),
    ['Timestamp', new Date(switchboard.wallNow()).toISOString()],
  ];
  switchboard.webhooks.watch(switchboard.webhooks.report(leg, { ...statusCallback, url, parameters }));
}
