// The carriers' webhooks: verified, read by the carrier, answered in its words. What a call is, the desk knows.
import { createHash } from 'node:crypto';
import { type RequestHandler, Router } from 'express';
import type { Clock } from '../base/clock.js';
import { OffhookError } from '../base/errors.js';
import { describeError, type Logger } from '../base/log.js';
import { maskPhone } from '../base/redact.js';
import type { CallDesk, RefusedCall } from '../calls/call-desk.js';
import type {
  CallAnswer,
  Carrier,
  CarrierMessage,
  WebhookDoor,
  WebhookReply,
  WebhookRequest,
  WebhookRoute,
} from '../carriers/carrier.js';
import { AnswerMemory } from './answer-memory.js';
import { PromisedCalls } from './promised-calls.js';
import { resolvePublicHost } from './public-host.js';
import { captureRawBody, toWebhookRequest } from './raw-body.js';
import { issueStreamToken } from './stream-token.js';

/** What the webhook routes work with. */
export interface WebhookOptions {
  readonly carrier: Carrier;
  readonly otherDoors: readonly WebhookDoor[];
  readonly desk: CallDesk;
  publicHost(): string | undefined;
  /** True while a further call gets the busy answer. `promised` calls have their answer and no session yet. */
  isFull(promised: number): boolean;
  readonly logger: Logger;
  readonly clock: Clock;
}

/** Answers a webhook whose signature was right. */
type Responder = (route: WebhookRoute, request: WebhookRequest, host: string) => WebhookReply;

/** The routes of every carrier, to be mounted at `/webhooks`. */
export function createWebhookRouter(options: WebhookOptions): Router {
  const router = Router({ caseSensitive: true, strict: true });
  addRoutes(router, options.carrier, createResponder(options), options);
  for (const door of options.otherDoors) addRoutes(router, door, createDecliner(door), options);
  return router;
}

function addRoutes(router: Router, door: WebhookDoor, respond: Responder, options: WebhookOptions): void {
  for (const route of door.webhooks.routes) {
    const handle: RequestHandler = (request, response) => {
      const webhook = toWebhookRequest(request);
      const host = resolvePublicHost(options.publicHost(), webhook.headers.host);
      verify(door, webhook, host, options.logger);
      const reply = respond(route, webhook, host);
      response.status(reply.status).set('Content-Type', reply.contentType);
      response.set('Cache-Control', 'no-store').end(reply.body);
    };
    router.get(`/${door.id}/${route}`, handle);
    router.post(`/${door.id}/${route}`, captureRawBody, handle);
  }
}

function verify(door: WebhookDoor, webhook: WebhookRequest, host: string, logger: Logger): void {
  try {
    door.verify(webhook, host);
  } catch (error) {
    const code = OffhookError.isInstance(error) ? error.code : 'INTERNAL';
    logger.warn({ carrier: door.id, code }, 'webhook refused: its signature is not right');
    throw error;
  }
}

/** A carrier that is not the configured one: what it sends is read and acknowledged, and never makes a call. */
function createDecliner(door: WebhookDoor): Responder {
  return (route, request) => {
    door.webhooks.parse(route, request);
    return door.webhooks.acknowledge(route);
  };
}

function createResponder(options: WebhookOptions): Responder {
  const { carrier, desk, logger } = options;
  const answerCall = createAnswerer(options);
  return (route, request, host) => {
    const message = carrier.webhooks.parse(route, request);
    if (message.type === 'incoming-call') return answerCall(message, host);
    if (message.type === 'status') {
      const { carrierCallId, status, outcome } = message;
      runGuarded(logger, () => desk.report(carrierCallId, status, outcome));
    }
    return carrier.webhooks.acknowledge(route);
  };
}

type IncomingCall = Extract<CarrierMessage, { type: 'incoming-call' }>;

/**
 * Answers a call that rings. The same delivery again gets the same bytes again and acts once; after the call's end
 * it gets hang-up, so that a replayed webhook opens nothing.
 */
function createAnswerer(options: WebhookOptions): (message: IncomingCall, host: string) => WebhookReply {
  const { carrier, desk, clock, logger } = options;
  const memory = new AnswerMemory(clock);
  const promises = new PromisedCalls(clock);

  return (message, host) => {
    const call = toCall(carrier, message);
    const known = memory.find(message.carrierCallId, message.deliveryId);
    if (known?.type !== 'busy' && desk.hasEnded(call.callId)) {
      return carrier.webhooks.answer({ type: 'hang-up' });
    }
    if (known !== undefined) return known.reply;
    const isSettled = (id: string) => id === call.callId || desk.isLive(id) || desk.hasEnded(id);
    const isFull = options.isFull(promises.count(isSettled));
    const answer = isFull ? BUSY : streamAnswer(carrier, call, { host, nowMs: clock.wallNow() });
    if (answer.type === 'stream') promises.add(call.callId);
    const reply = carrier.webhooks.answer(answer);
    memory.keep(message.carrierCallId, message.deliveryId, { type: answer.type, reply });
    if (answer.type === 'busy') runGuarded(logger, () => desk.refuse(call));
    const parties = { caller: maskPhone(call.caller), callee: maskPhone(call.callee) };
    logger.info({ callId: call.callId, answer: answer.type, ...parties }, 'call answered at the bell');
    return reply;
  };
}

const BUSY: CallAnswer = { type: 'busy' };

/** Our id of a call follows from the carrier's, so a repeated webhook names the same call on every process. */
function toCall(carrier: Carrier, message: IncomingCall): RefusedCall {
  const { carrierCallId, caller, callee, direction } = message;
  const hash = createHash('sha256').update(`${carrier.id}:${carrierCallId}`).digest();
  const callId = hash.subarray(0, 16).toString('base64url');
  return { callId, carrierCallId, caller, callee, direction };
}

function streamAnswer(carrier: Carrier, call: RefusedCall, at: { host: string; nowMs: number }): CallAnswer {
  const key = carrier.streamTokenKey;
  const token = key === undefined ? '' : `/${issueStreamToken(key, call, at.nowMs)}`;
  const query = `caller=${encodeValue(call.caller)}&callee=${encodeValue(call.callee)}`;
  return {
    type: 'stream',
    url: `wss://${at.host}/ws/stream/${call.callId}${token}?${query}`,
    parameters: { caller: call.caller, callee: call.callee },
  };
}

/** Percent-encodes any text; half a surrogate pair, which has no encoding, becomes the replacement character. */
function encodeValue(value: string): string {
  return encodeURIComponent(Buffer.from(value).toString('utf8'));
}

/** The carrier is answered whatever becomes of the report. */
function runGuarded(logger: Logger, task: () => void): void {
  try {
    task();
  } catch (error) {
    logger.error(describeError(error), 'call desk failed on a webhook');
  }
}
