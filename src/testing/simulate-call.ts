// Calls a phone server as a carrier would: rings, is answered, talks by a script, listens, hangs up, and reports what was heard.
import { writeFile } from 'node:fs/promises';
import type { WebSocket } from 'ws';
import { systemClock, type Clock } from '../base/clock.js';
import { isE164 } from '../base/e164.js';
import { ConfigError } from '../base/errors.js';
import { maskPhone } from '../base/redact.js';
import { CALLER_RATE_HZ, prepareScript, type CallerStep, type OpenVoice } from './caller-script.js';
import { openEmbeddedVoice } from './caller-voice.js';
import { CallerTrack } from './caller-track.js';
import { createId } from './carrier-a/ids.js';
import { readMarkup, type MarkupAnswer } from './carrier-a/markup.js';
import type { CarrierARestServer } from './carrier-a/rest-server.js';
import { signRequest } from './carrier-a/signing.js';
import { CarrierAStream, openMediaSocket } from './carrier-a/stream.js';
import {
  postWebhook,
  statusParameters,
  voiceParameters,
  type CallFacts,
  type WebhookTarget,
} from './carrier-a/voice-webhook.js';
import {
  isInOrder,
  measureCall,
  renderAgent,
  UNHEARD_CALL,
  type CallAnswerReport,
  type CallReport,
} from './report.js';
import type { Violation } from './stream-end.js';
import { writeWav } from './wav.js';
import { fileErrorCode, requireWritable } from './writable.js';

export interface SimulateCallOptions {
  /** Address of the server, for example `http://127.0.0.1:8000`. Its host is dialled, for the webhook and for the stream. */
  url: string;
  /** @default 'carrier-a' */
  carrier?: 'carrier-a';
  /** Public host of the server, as the carrier knows it; part of what is signed. @default the host of `url` */
  webhookHost?: string | undefined;
  /** Signs webhooks and upgrade. Nothing is signed without it. */
  authToken?: string | undefined;
  /** @default a random id */
  accountSid?: string | undefined;
  /** Who calls. Also `anonymous` and other words that carriers use. @default '+15005550020' */
  from?: string | undefined;
  /** The called number. @default '+15005550010' */
  to?: string | undefined;
  /** What the caller does. */
  script: readonly CallerStep[];
  /** Speaks the `say` steps. @default the embedded voice */
  openVoice?: OpenVoice;
  /** The caller hangs up after this time, 1,000 to 3,600,000. @default 120000 */
  maxDurationMs?: number | undefined;
  /** Path of a stereo WAV file to write: the caller left, the agent right as it was really played, 8 kHz. */
  recordTo?: string | undefined;
  /** A REST API that the server under test uses: it can then end and transfer this call. */
  restServer?: CarrierARestServer;
  /** Post the number's status callback after the call. @default true */
  statusCallback?: boolean | undefined;
  /** Calls the simulation off: the call ends at once, and the report says so. */
  signal?: AbortSignal;
  /** @default the real clock */
  clock?: Clock;
}

interface Caller {
  readonly options: SimulateCallOptions;
  readonly target: WebhookTarget;
  readonly facts: CallFacts;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

function readTarget(options: SimulateCallOptions): WebhookTarget {
  const url = URL.canParse(options.url) ? new URL(options.url) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol)) {
    throw new ConfigError(
      'CONFIG_INVALID',
      'The address of the server is an http or https URL, like http://127.0.0.1:8000.',
    );
  }
  const webhookHost = options.webhookHost ?? url.host;
  if (!/^[\w.-]+(:\d+)?$|^\[[0-9a-f:]+\](:\d+)?$/i.test(webhookHost)) {
    throw new ConfigError(
      'CONFIG_INVALID',
      'The webhook host is a host with an optional port, without scheme and path.',
    );
  }
  return { url, webhookHost, authToken: options.authToken };
}

function readCaller(options: SimulateCallOptions): Caller {
  const { from = '+15005550020', to = '+15005550010', maxDurationMs = 120_000 } = options;
  if (!isE164(to)) throw new ConfigError('CONFIG_INVALID', 'The called number is in the form +15005550010.');
  if (!(maxDurationMs >= 1000 && maxDurationMs <= 3_600_000)) {
    throw new ConfigError('CONFIG_INVALID', 'The longest duration is 1,000 to 3,600,000 ms.');
  }
  return {
    options,
    target: readTarget(options),
    facts: { callSid: createId('CA'), accountSid: options.accountSid ?? createId('AC'), from, to },
    clock: options.clock ?? systemClock,
    signal: options.signal ?? new AbortController().signal,
  };
}

type Ring =
  | { answer: Extract<MarkupAnswer, { type: 'stream' }>; webhookMs: number; violations: Violation[] }
  | { refused: CallAnswerReport; violations: Violation[] };

const UNANSWERED = { status: null, webhookMs: null, upgradeMs: null, answeredAfterMs: null };

function describeFailure(error: unknown, subject: string): string {
  const code = (error as { code?: unknown }).code;
  if (code === 'ECONNREFUSED') return `nobody listens at ${subject}`;
  if (error instanceof Error && (error.name === 'TimeoutError' || error.name === 'AbortError')) {
    return error.name === 'TimeoutError'
      ? 'the webhook was not answered within 15 s'
      : 'the simulation was called off';
  }
  return typeof code === 'string' ? `the webhook failed (${code})` : 'the webhook failed';
}

/** Rings the bell: posts the voice webhook and reads the answer. */
async function ring({ target, facts, clock, signal }: Caller): Promise<Ring> {
  const path = '/webhooks/carrier-a/voice';
  let reply: Awaited<ReturnType<typeof postWebhook>>;
  try {
    reply = await postWebhook(target, { path, parameters: voiceParameters(facts), clock, signal });
  } catch (error) {
    return {
      refused: { ...UNANSWERED, outcome: 'failed', reason: describeFailure(error, target.url.host) },
      violations: [],
    };
  }
  const webhookMs = Math.round(reply.afterMs);
  const known = { ...UNANSWERED, status: reply.status, webhookMs };
  if (reply.status < 200 || reply.status > 299) {
    const hint = reply.status === 403 ? ': the signature was not accepted (auth token or webhook host)' : '';
    const reason = `the voice webhook answered ${reply.status}${hint}`;
    return { refused: { ...known, outcome: 'refused', reason }, violations: [] };
  }
  const { answer, violations: sentences } = readMarkup(reply.body);
  if (!/^(text|application)\/xml\b|^text\/html\b/i.test(reply.contentType)) {
    sentences.push('the answer has a content type that is no XML');
  }
  const violations = sentences.map((sentence) => ({ atMs: 0, sentence, count: 1 }));
  if (answer?.type === 'stream') return { answer, webhookMs, violations };
  if (answer?.type === 'reject') {
    const outcome = answer.reason === 'busy' ? 'busy' : 'rejected';
    return { refused: { ...known, outcome, reason: `the server answered "${outcome}"` }, violations };
  }
  const [outcome, reason] =
    answer === null
      ? (['failed', 'the answer of the voice webhook cannot be used'] as const)
      : (['hung-up', 'the answer opens no stream'] as const);
  return { refused: { ...known, outcome, reason }, violations };
}

/** Dials the stream URL of the answer at the address of the server, without its query, as the carrier does. */
async function openStream({ target, signal }: Caller, streamUrl: string) {
  const { pathname, host } = new URL(streamUrl);
  const scheme = target.url.protocol === 'https:' ? 'wss:' : 'ws:';
  const headers: Record<string, string> = { host };
  if (target.authToken !== undefined) {
    headers['x-twilio-signature'] = signRequest(target.authToken, {
      url: `wss://${host}${pathname}`,
      parameters: [],
    });
  }
  return openMediaSocket({ url: `${scheme}//${target.url.host}${pathname}`, headers, signal });
}

interface TalkInput {
  socket: WebSocket;
  parameters: Record<string, string>;
  steps: Awaited<ReturnType<typeof prepareScript>>;
}

/** The conversation, from `start` to the end of the stream. */
async function talk({ options, facts, clock, signal }: Caller, { socket, parameters, steps }: TalkInput) {
  let track: CallerTrack | undefined;
  const stream = new CarrierAStream({
    clock,
    socket,
    callSid: facts.callSid,
    accountSid: facts.accountSid,
    streamSid: createId('MZ'),
    customParameters: parameters,
    createCaller(playback) {
      track = new CallerTrack(steps, playback);
      return track;
    },
  });
  const unregister = options.restServer?.register(facts.callSid, {
    from: facts.from,
    to: facts.to,
    hangUp: () => stream.end('hang-up', { by: 'agent' }),
    redirect: (to) => stream.end(to === null ? 'hang-up' : 'transfer', { by: 'agent' }),
  });
  const limit = clock.after(options.maxDurationMs ?? 120_000, () =>
    stream.end('time-limit', { by: 'caller' }),
  );
  const abort = () => stream.end('aborted', { by: 'caller' });
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  const end = await stream.ended;
  signal.removeEventListener('abort', abort);
  limit.cancel();
  unregister?.();
  return { stream, end, speech: track?.utterances ?? [], notes: track?.notes ?? [] };
}

async function postStatus(caller: Caller, ended: { status: string; durationMs: number }): Promise<string[]> {
  const { target, facts, clock } = caller;
  const path = '/webhooks/carrier-a/status';
  const { signal } = new AbortController();
  try {
    const parameters = statusParameters(facts, ended);
    const { status } = await postWebhook(target, { path, parameters, clock, signal });
    return status >= 200 && status <= 299 ? [] : [`The status callback was answered with ${status}.`];
  } catch {
    return ['The status callback could not be delivered.'];
  }
}

/**
 * Makes one call and resolves with its report when it is over, also when the server refuses it. Speech is synthesised
 * before the bell rings.
 * @throws ConfigError for options that cannot work, ProviderError when the caller's voice fails.
 */
export async function simulateCall(options: SimulateCallOptions): Promise<CallReport> {
  const caller = readCaller(options);
  // Neither the clock's timers nor the voice's thread keep a process alive; a call that is being made must.
  const keptAlive = setInterval(() => {}, 60_000);
  try {
    return await makeCall(caller);
  } finally {
    clearInterval(keptAlive);
  }
}

async function makeCall(caller: Caller): Promise<CallReport> {
  const { options } = caller;
  if (options.recordTo !== undefined) await requireWritable(options.recordTo);
  const { facts, clock, signal } = caller;
  const steps = await prepareScript(options.script, {
    openVoice: options.openVoice ?? openEmbeddedVoice,
    signal,
  });
  const base = {
    carrier: 'carrier-a' as const,
    carrierCallId: facts.callSid,
    caller: maskPhone(facts.from),
    callee: maskPhone(facts.to),
    startedAt: clock.wallNow(),
  };
  const unanswered = (answer: CallAnswerReport, protocolErrors: Violation[]): CallReport => ({
    ok: false,
    ...base,
    ...UNHEARD_CALL,
    answer,
    protocolErrors,
    notes: [],
    end: null,
    recording: null,
  });

  const rung = await ring(caller);
  if ('refused' in rung) return unanswered(rung.refused, rung.violations);
  const { webhookMs } = rung;
  const dialledMs = clock.now();
  const opened = await openStream(caller, rung.answer.url);
  if (!('socket' in opened)) {
    const outcome = opened.status === null ? 'failed' : 'refused';
    const reason = opened.status === null ? opened.sentence : `${opened.sentence} with ${opened.status}`;
    return unanswered({ ...UNANSWERED, outcome, status: opened.status, webhookMs, reason }, rung.violations);
  }
  const upgradeMs = Math.round(clock.now() - dialledMs);
  const { parameters } = rung.answer;
  const { stream, end, speech, notes } = await talk(caller, { socket: opened.socket, parameters, steps });

  const { durationMs, callerAudio, framesSent, framesReceived, playback } = stream;
  const timeline = {
    playback: playback.log,
    callerSpeech: speech,
    durationMs,
    framesSent,
    framesReceived,
  };
  let recording = options.recordTo ?? null;
  if (recording !== null) {
    const channels = [callerAudio, renderAgent(playback.log, durationMs)];
    try {
      await writeFile(recording, writeWav({ sampleRateHz: CALLER_RATE_HZ, channels }));
    } catch (error) {
      notes.push(`The recording could not be written (${fileErrorCode(error)}).`);
      recording = null;
    }
  }
  const statusNotes =
    options.statusCallback === false ? [] : await postStatus(caller, { status: 'completed', durationMs });
  const answeredAfterMs = webhookMs + upgradeMs;
  const report: CallReport = {
    ok: false,
    ...base,
    ...measureCall(timeline),
    answer: { outcome: 'answered', status: 200, webhookMs, upgradeMs, answeredAfterMs, reason: null },
    protocolErrors: [...rung.violations, ...stream.violations],
    notes: [...notes, ...statusNotes],
    end,
    recording,
  };
  return { ...report, ok: isInOrder(report) };
}
