// The carriers' webhooks: verified, read by the carrier, handed to the desk, answered in the carrier's words. Nothing here waits
// but for the application's decision on a call that rings, and for a neighbor while calls go from one process to the next.
import type { IncomingMessage } from 'node:http';
import type { Clock } from '../base/clock.js';
import { OffhookError, RequestError, SignatureError } from '../base/errors.js';
import { describeError, type Logger } from '../base/log.js';
import type { Meters } from '../base/meters.js';
import { readBody } from '../base/request-body.js';
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
import { type CallMessage, Deliveries } from './deliveries.js';
import { callIdOf, type FindRoom, IncomingCalls } from './incoming-calls.js';
import { isPassed, type Neighbor, NOT_HERE, type WebhookSubject } from './neighbor.js';
import { resolvePublicHost } from './public-host.js';
import { RefusalLog } from './refusal-log.js';
import { jsonAnswer, pathOf, type Route, type Routes, type WholeAnswer } from './routes.js';
import { Seldom } from './seldom.js';
import { toWebhookRequest } from './webhook-request.js';

/** Longest webhook, in bytes. */
const MAX_WEBHOOK_BYTES = 64 * 1024;
const NO_BODY = new Uint8Array();

/** What the webhook routes work with. */
export interface WebhookOptions {
  readonly carrier: Carrier;
  readonly otherDoors: readonly WebhookDoor[];
  readonly desk: CallDesk;
  publicHost(): string | undefined;
  readonly capacity: Capacity;
  /** Undefined while this process is alone. */
  neighbor(): Neighbor | undefined;
  /** As in `PhoneServerOptions`. */
  findRoom?: FindRoom | undefined;
  readonly logger: Logger;
  readonly meters: Meters;
  readonly clock: Clock;
}

/** Answers a webhook whose signature was right. `since`: as in `WebhookSubject`, for one that has waited. */
type Responder = (
  route: WebhookRoute,
  message: CarrierMessage,
  about: { readonly host: string; readonly since?: number | undefined },
) => WebhookReply | Promise<WebhookReply>;

/** A webhook that another node of the cluster has verified, and passes on. */
export interface PassedWebhook {
  readonly webhook: WebhookRequest;
  /** Public host that it came to. */
  readonly host: string;
}

/** The carriers' webhooks. */
export interface WebhookDoors {
  /** The routes of every carrier: `/webhooks/<carrier>/<route>`. */
  readonly routes: Routes;
  /** Answers what another node has passed on; undefined where it is about no call of this process. `isOwn`: true for a call that is about to begin here. */
  answerHere(passed: PassedWebhook, isOwn: (callId: string) => boolean): Promise<WholeAnswer | undefined>;
}

export function createWebhookRoutes(options: WebhookOptions): WebhookDoors {
  const routes = new Map<string, Route>();
  const refusals = new RefusalLog(options);
  const mount = (door: WebhookDoor, respond: Responder) => {
    for (const route of door.webhooks.routes) {
      const answer = async (request: IncomingMessage, webhook: WebhookRequest): Promise<WholeAnswer> => {
        const host = resolvePublicHost(options.publicHost(), webhook.headers.host);
        verify(door, webhook, host, refusals);
        const message = read(door, route, webhook, options.logger);
        const here = async (since?: number) => toWhole(await respond(route, message, { host, since }));
        const neighbor = door === options.carrier ? options.neighbor() : undefined;
        if (neighbor === undefined || isHere(message, options.desk)) return here();
        if (isPassed(request) && !neighbor.takesNew) return here();
        const subject = { ...subjectOf(message, options.carrier.id), host };
        const { desk, clock } = options;
        const { webhooks } = options.carrier;
        return answerElsewhere(neighbor, { request, webhook, message, subject, webhooks, desk, clock, here });
      };
      const path = `/webhooks/${door.id}/${route}`;
      routes.set(`GET ${path}`, (request) => answer(request, toWebhookRequest(request, NO_BODY)));
      routes.set(`POST ${path}`, async (request, response) =>
        answer(request, toWebhookRequest(request, await readBody(request, response, MAX_WEBHOOK_BYTES))),
      );
    }
  };
  // A carrier that is not the configured one: what it sends is read and acknowledged, and never makes a call.
  const strays = new Seldom(options.clock);
  for (const door of options.otherDoors) {
    mount(door, (route, message) => {
      const sinceLast = message.type === 'incoming-call' ? strays.count(door.id) : undefined;
      if (sinceLast !== undefined) {
        options.logger.warn(
          { carrier: door.id, configured: options.carrier.id, sinceLast },
          'call not answered: this server is configured for another carrier',
        );
      }
      return door.webhooks.acknowledge(route);
    });
  }
  // Its routes come first.
  const responder = new DeskResponder(options);
  mount(options.carrier, (...webhook) => responder.respond(...webhook));
  const answerHere: WebhookDoors['answerHere'] = async ({ webhook, host }, isOwn) => {
    const { carrier, desk, logger } = options;
    const route = carrier.webhooks.routes.find((each) => routeOf(webhook.target) === each);
    if (route === undefined) return undefined;
    const message = read(carrier, route, webhook, logger);
    if (!isHere(message, desk) && !isOwn(subjectOf(message, carrier.id).callId)) return undefined;
    return toWhole(await responder.respond(route, message, { host }));
  };
  return { routes, answerHere };
}

/** The route of a webhook, by its target. */
function routeOf(target: string): string | undefined {
  return /^\/webhooks\/[^/]+\/([^/]+)/.exec(pathOf(target))?.[1];
}

/** A message about a call that is at the neighbor, on its way, or new. One that has been passed on is not passed back. */
async function answerElsewhere(
  neighbor: Neighbor,
  about: {
    readonly request: IncomingMessage;
    readonly webhook: WebhookRequest;
    readonly message: CarrierMessage;
    readonly subject: Omit<WebhookSubject, 'since'>;
    readonly webhooks: Pick<Carrier['webhooks'], 'answer'>;
    readonly desk: CallDesk;
    readonly clock: Clock;
    here(since?: number): Promise<WholeAnswer>;
  },
): Promise<WholeAnswer> {
  const { request, webhook, message, subject, webhooks, desk, clock, here } = about;
  await neighbor.settled(idsOf(message));
  if (isHere(message, desk)) return here();
  if (isPassed(request)) return notHere();
  const since = clock.now();
  const answer = await neighbor.answer(webhook, { ...subject, since });
  if (answer === undefined) return here(since);
  return 'type' in answer ? toWhole(webhooks.answer(answer)) : answer;
}

function toWhole({ status, contentType, body }: WebhookReply): WholeAnswer {
  return { status, headers: { 'Content-Type': contentType, 'Cache-Control': 'no-store' }, body };
}

function notHere(): WholeAnswer {
  return jsonAnswer(NOT_HERE.status, {}, { [NOT_HERE.header]: 'true' });
}

/** False for a message about a call that this process does not have. One that has ended here is told what comes late. */
function isHere(message: CarrierMessage, desk: CallDesk): boolean {
  if (message.type === 'acknowledged') return true;
  const isKnown = (id: string) =>
    desk.isLive(id) || desk.isChoosing(id) || desk.isInvited(id) || desk.hasEnded(id);
  return idsOf(message).some((id) => typeof id === 'string' && isKnown(id));
}

/** An inbound call's claim to an ID of ours is not listened to. */
function subjectOf(message: CarrierMessage, carrierId: string): Omit<WebhookSubject, 'host' | 'since'> {
  const { callId = null, carrierCallId = '' } = message.type === 'acknowledged' ? {} : message;
  const rings = message.type === 'incoming-call' && message.direction === 'inbound';
  const own = rings ? null : callId;
  const asks = ['incoming-call', 'resume', 'transfer'].includes(message.type);
  const nextStream = message.type === 'resume' ? message.number : undefined;
  return {
    callId: own ?? callIdOf(carrierId, carrierCallId),
    carrierCallId,
    begins: rings,
    asks,
    nextStream,
  };
}

function idsOf(message: CarrierMessage): (string | null | undefined)[] {
  return message.type === 'acknowledged' ? [] : [message.callId, message.carrierCallId];
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
    throw new RequestError('REQUEST_INVALID', 'The webhook is invalid.', { cause });
  }
}

/** What the desk says to a message; undefined where it has nothing to say. */
interface Outcome {
  readonly answer: CallAnswer | undefined;
  readonly failed?: boolean;
}

/** Hands messages to the desk, each delivery once. */
class DeskResponder {
  readonly #options: WebhookOptions;
  readonly #deliveries: Deliveries;
  readonly #incoming: IncomingCalls;

  constructor(options: WebhookOptions) {
    const { carrier, desk, capacity, findRoom, logger, clock } = options;
    this.#options = options;
    this.#deliveries = new Deliveries(clock, desk);
    this.#incoming = new IncomingCalls({ carrierId: carrier.id, desk, capacity, findRoom, logger });
  }

  async respond(
    route: WebhookRoute,
    message: CarrierMessage,
    { host, since }: Parameters<Responder>[2],
  ): Promise<WebhookReply> {
    if (message.type === 'acknowledged') return this.#reply(route, undefined);
    const kept = this.#deliveries.find(route, message);
    if (message.type === 'resume' && this.#options.desk.hasEnded(message.carrierCallId))
      return this.#reply(route, { type: 'hang-up' });
    if (message.type !== 'incoming-call')
      return kept?.reply ?? this.#settle(route, message, this.#report(message, host));
    const callId = this.#incoming.toCallId(message);
    // A stream that was offered once is not offered again when the call is over, or a replayed webhook would open it.
    const isFresh = kept === undefined || kept.answer === 'stream';
    if (isFresh && this.#options.desk.isOver(callId)) return this.#reply(route, { type: 'hang-up' });
    return (
      kept?.reply ??
      this.#settle(route, message, await this.#incoming.answer(message, callId, { host, since }))
    );
  }

  /** What failed is not remembered: it is tried when it comes again. */
  #settle(route: WebhookRoute, message: CallMessage, { answer, failed = false }: Outcome): WebhookReply {
    const reply = this.#reply(route, answer ?? answerToOver(route, message));
    if (!failed) this.#deliveries.keep(route, message, { reply, answer: answer?.type });
    return reply;
  }

  /** The carrier is answered whatever becomes of the report. */
  #report(report: CallReport, host: string): Outcome {
    try {
      return { answer: this.#options.desk.report(report, host) };
    } catch (error) {
      const fields = { callId: report.callId, report: report.type, ...describeError(error) };
      this.#options.logger.error(fields, 'failed to handle a webhook');
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
