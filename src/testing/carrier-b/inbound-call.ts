// An inbound call from the bell to the report.
import { writeFile } from 'node:fs/promises';
import type { PreparedStep } from '../caller-script.js';
import { CALLER_RATE_HZ } from '../caller-speech.js';
import type { LineConditions } from '../line-conditions.js';
import type { CallAnswerReport, CallReport } from '../report.js';
import { writeWav } from '../wav.js';
import { fileErrorCode } from '../writable.js';
import { ENDS } from './events.js';
import type { Exchange } from './exchange.js';
import { Leg } from './leg.js';
import type { PreparedCallee } from './prepared-callee.js';
import type { Switchboard } from './switchboard.js';
import type { Delivery } from './webhook-sender.js';

export interface PreparedCall {
  from: string;
  to: string;
  steps: readonly PreparedStep[];
  maxDurationMs: number;
  recordTo: string | undefined;
  transferTo: PreparedCallee | undefined;
  line: LineConditions | undefined;
  signal: AbortSignal | undefined;
}

/** Why a call had no stream. */
function explain(leg: Leg, told: Delivery, { target, api }: Exchange): CallAnswerReport {
  const known = {
    status: told.status,
    webhookMs: null,
    upgradeMs: null,
    answeredAfterMs: null,
  };
  if (leg.rejectedAs !== undefined) {
    return { ...known, outcome: leg.rejectedAs, reason: `the server answered "${leg.rejectedAs}"` };
  }
  if (told.outcome === 'refused') {
    const hint = told.status === 403 ? ': the signature was not accepted (public key)' : '';
    return { ...known, outcome: 'refused', reason: `the webhook was answered with ${told.status}${hint}` };
  }
  if (told.outcome === 'lost') {
    const { code, status } = told;
    const sentence =
      code === 'ECONNREFUSED' ? `nobody listens at ${target.host}` : 'the webhook was not answered in time';
    const reason =
      status === null ? sentence : `the webhook was answered with ${status}, to the last repetition`;
    return { ...known, outcome: 'failed', reason };
  }
  const { refusal } = leg.streams;
  if (refusal !== undefined) {
    const { status, sentence } = refusal;
    const outcome = status === null ? 'failed' : 'refused';
    return { ...known, outcome, status, reason: status === null ? sentence : `${sentence} with ${status}` };
  }
  if (leg.isAnswered)
    return { ...known, outcome: 'hung-up', reason: 'the call was answered, and no stream opened' };
  const { hangupCause } = leg;
  if (hangupCause === ENDS.ringTimeout.cause && !leg.isSteered) {
    const reason =
      api.strangers > 0
        ? 'the commands of the server came with another API key: give the carrier of the server the apiKey of this one'
        : `the webhook was taken and no command came: give the carrier of the server the baseUrl ${api.url} and the apiKey of this one`;
    return { ...known, outcome: 'failed', reason };
  }
  return hangupCause === ENDS.rejected.cause
    ? { ...known, outcome: 'hung-up', reason: 'the server hung up' }
    : { ...known, outcome: 'failed', reason: 'the call ended before it was answered' };
}

async function writeRecording(leg: Leg, path: string): Promise<string | null> {
  const { person, agent } = leg.line.render(leg.record.firstStreamMs ?? 0);
  try {
    await writeFile(path, writeWav({ sampleRateHz: CALLER_RATE_HZ, channels: [person, agent] }));
    return null;
  } catch (error) {
    return fileErrorCode(error);
  }
}

/** Rings, and resolves with the report when the call is over and the server knows it. */
export async function callIn(switchboard: Switchboard, call: PreparedCall): Promise<CallReport> {
  const { exchange } = switchboard;
  const { application } = exchange;
  const leg = new Leg(exchange, { direction: 'inbound', from: call.from, to: call.to });
  leg.person = { steps: call.steps, startsWith: 'stream' };
  leg.transferTo = call.transferTo;
  if (call.recordTo !== undefined) leg.line.keepAudio();
  if (call.line !== undefined) leg.line.impair(call.line);
  switchboard.add(leg);

  const giveUp = (how: 'aborted' | 'time-limit') => {
    const end = leg.isAnswered ? ENDS.callerGone : ENDS.cancelled;
    leg.end({ ...end, by: 'caller', how });
  };
  leg.after(call.maxDurationMs, () => giveUp('time-limit'));
  const abort = () => giveUp('aborted');
  call.signal?.addEventListener('abort', abort, { once: true });
  if (application.first_command_timeout) {
    leg.after(application.first_command_timeout_secs * 1000, () => {
      if (!leg.isSteered) leg.end({ ...ENDS.ringTimeout, by: 'network', how: 'hang-up' });
    });
  }

  const ringing = leg.initiate();
  if (call.signal?.aborted === true) abort();
  const told = await ringing;
  if (told.outcome === 'taken') leg.webhookMs = told.afterMs;
  // A server that does not take the bell will not answer: this caller does not wait for it.
  else if (!leg.isAnswered) leg.hangUp();
  await leg.settled;
  call.signal?.removeEventListener('abort', abort);

  const notes: string[] = [];
  let recording: string | null = null;
  if (call.recordTo !== undefined && leg.record.firstStreamMs !== undefined) {
    const failure = await writeRecording(leg, call.recordTo);
    if (failure === null) recording = call.recordTo;
    else notes.push(`The recording could not be written (${failure}).`);
  }
  const answer = explain(leg, told, exchange);
  return leg.record.report({ answer, webhookMs: leg.webhookMs, notes, recording });
}
