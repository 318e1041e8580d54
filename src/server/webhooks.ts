// The carriers' webhooks: verified, read by the carrier, handed to the desk, answered in the carrier's words. Nothing here waits.
import { type RequestHandler, Router } from 'express';
import type { Clock } from '../base/clock.js';
import { OffhookError, RequestError, SignatureError } from '../base/errors.js';
import { describeError, type Logger } from '../base/log.js';
import type { Meters } from '../base/meters.js';
import type { CallDesk, CallReport } from '../calls/call-desk.js';
import type {
  CallAnswer,
  Carrier,
  CarrierMessage,
  WebhookDoor,
  WebhookReply,
  WebhookRequest,
  WebhookRoute,
} from '../carriers/carrier.js';
import type { Capacity } from './capacity.js';
import { Deliveries } from './deliveries.js';
import { Bell } from './incoming-calls.js';
import { resolvePublicHost } from './public-host.js';
import { captureRawBody, toWebhookRequest } from './raw-body.js';
import { RefusalLog } from './refusal-log.js';
import { Seldom } from './seldom.js';

/** What the webhook routes work with. */
export interface WebhookOptions {
  readonly carrier: Carrier;
  readonly otherDoors: readonly WebhookDoor[];
  readonly desk: CallDesk;
  publicHost(): string | undefined;
  readonly capacity: Capacity;
  readonly logger: Logger;
  readonly meters: Meters;
  readonly clock: Clock;
}

/** Answers a webhook whose signature was right. */
type Responder = (route: WebhookRoute, message: CarrierMessage, host: string) => WebhookReply;

/** The routes of every carrier, to be mounted at `/webhooks`. */
export function createWebhookRouter(options: WebhookOptions): Router {
  const router = Router({ caseSensitive: true, strict: true });
  const refusals = new RefusalLog(options);
  const mount = (door: WebhookDoor, respond: Responder) => {
    for (const route of door.webhooks.routes) {
      const handle: RequestHandler = (request, response) => {
        const webhook = toWebhookRequest(request);
        const host = resolvePublicHost(options.publicHost(), webhook.headers.host);
        verify(door, webhook, host, refusals);
        const reply = respond(route, read(door, route, webhook, options.logger), host);
        response.status(reply.status).set('Content-Type', reply.contentType);
        response.set('Cache-Control', 'no-store').end(reply.body);
      };
      router.get(`/${door.id}/${route}`, handle);
      router.post(`/${door.id}/${route}`, captureRawBody, handle);
    }
  };
  const responder = new DeskResponder(options);
  mount(options.carrier, (...webhook) => responder.respond(...webhook));
  // A carrier that is not the configured one: what it sends is read and acknowledged, and never makes a call.
  const strays = new Seldom(options.clock);
  for (const door of options.otherDoors) {
    mount(door, (route, message) => {
      const sinceLast = message.type === 'incoming-call' ? strays.count(door.id) : undefined;
      if (sinceLast !== undefined) {
        options.logger.warn(
          { carrier: door.id, configured: options.carrier.id, sinceLast },
          'a call of a carrier that is not configured was not answered: serve() has another carrier',
        );
      }
      return door.webhooks.acknowledge(route);
    });
  }
  return router;
}

/** @throws SignatureError, also when the check itself breaks: what cannot be verified is not let in. */
function verify(door: WebhookDoor, webhook: WebhookRequest, host: string, refusals: RefusalLog): void {
  try {
    door.verify(webhook, host);
  } catch (cause) {
    refusals.note(door, cause);
    if (OffhookError.isInstance(cause)) throw cause;
    throw new SignatureError('SIGNATURE_MISMATCH', 'The signature could not be checked.', { cause });
  }
}

/** @throws RequestError for what was signed and makes no sense. */
function read(
  door: WebhookDoor,
  route: WebhookRoute,
  webhook: WebhookRequest,
  logger: Logger,
): CarrierMessage {
  try {
    return door.webhooks.parse(route, webhook);
  } catch (cause) {
    if (OffhookError.isInstance(cause)) throw cause;
    logger.error({ carrier: door.id, route, ...describeError(cause) }, 'webhook not understood');
    throw new RequestError('REQUEST_INVALID', 'The webhook cannot be understood.', { cause });
  }
}

/** Hands messages to the desk, each delivery once. */
class DeskResponder {
  readonly #options: WebhookOptions;
  readonly #deliveries: Deliveries;
  readonly #bell: Bell;

  constructor(options: WebhookOptions) {
    const { carrier, desk, capacity, logger, clock } = options;
    this.#options = options;
    this.#deliveries = new Deliveries(clock);
    this.#bell = new Bell({ carrierId: carrier.id, desk, capacity, logger });
  }

  respond(route: WebhookRoute, message: CarrierMessage, host: string): WebhookReply {
    if (message.type === 'acknowledged') return this.#reply(route, undefined);
    const kept = this.#deliveries.find(route, message);
    if (message.type === 'incoming-call') {
      // A stream that was offered once is not offered again when the call is over, or a replayed webhook would open it.
      const isFresh = kept === undefined || kept.answer === 'stream';
      if (isFresh && this.#bell.isOver(message)) return this.#reply(route, { type: 'hang-up' });
    }
    if (kept !== undefined) return kept.reply;
    const { answer, failed = false } =
      message.type === 'incoming-call' ? this.#bell.answer(message, host) : this.#report(message, host);
    const reply = this.#reply(route, answer ?? answerToOver(route, message));
    if (!failed) this.#deliveries.keep(route, message, { reply, answer: answer?.type });
    return reply;
  }

  /** The carrier is answered whatever becomes of the report. */
  #report(report: CallReport, host: string): { answer: CallAnswer | undefined; failed?: boolean } {
    try {
      return { answer: this.#options.desk.report(report, host) };
    } catch (error) {
      const fields = { callId: report.callId, report: report.type, ...describeError(error) };
      this.#options.logger.error(fields, 'call desk failed on a webhook');
      return { answer: undefined, failed: true };
    }
  }

  #reply(route: WebhookRoute, answer: CallAnswer | undefined): WebhookReply {
    const { webhooks } = this.#options.carrier;
    return answer === undefined ? webhooks.acknowledge(route) : webhooks.answer(answer);
  }
}

/** Where instructions are asked for, a call that is over is no call to turn away. */
function answerToOver(route: WebhookRoute, message: CarrierMessage): CallAnswer | undefined {
  const isOver = message.type === 'status' && message.status === 'completed';
  return isOver && route === 'voice' ? { type: 'hang-up' } : undefined;
}
