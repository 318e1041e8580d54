// Carrier A on loopback: the exchange behind an HTTP server that speaks its REST API, with the disturbances that were asked for.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { checkNames, requireObject, requireText } from '../../base/option-checks.js';
import { requireSecret } from '../credentials.js';
import { pause } from '../../base/pause.js';
import { listenOnLoopback } from '../loopback.js';
import { checkDisturbances } from '../call-checks.js';
import type { CarrierSimulator, Disturbances, InboundCall, RestPurpose, SeenRequest } from '../simulator.js';
import type { CallReport } from '../report.js';
import { createSharedAbort } from '../../base/shared-abort.js';
import { CarrierAApi, purposeOf, type ApiAnswer, type ApiRequest } from './api.js';
import { ApiFault, faultBody } from './api-fault.js';
import { Exchange, type ExchangeOptions } from './exchange.js';
import type { Leg } from './leg.js';
import type { NumberSettings } from './numbers.js';
import type { OutgoingWebhook, WebhookAnswer } from './webhook-post.js';

export interface CarrierASimulatorOptions extends ExchangeOptions {
  authToken: string;
  /** `accept`: an unknown call counts as one that is over and may be ended again, for callers in other processes. @default 'not-found' */
  unknownCalls?: 'accept' | 'not-found';
}

/** Carrier A, with what only it has. */
export interface CarrierASimulator extends CarrierSimulator {
  readonly carrier: 'carrier-a';
  readonly legs: readonly Leg[];
  readonly numbers: readonly NumberSettings[];
  /** Delivers a webhook of your own making, undisturbed: unsigned, wrongly signed, repeated, as JSON. */
  send(webhook: OutgoingWebhook): Promise<WebhookAnswer>;
}

const MAX_BODY_BYTES = 65_536;
const KEPT_REQUESTS = 10_000;
const VERSION_PATH = '/2010-04-01';
const START = 'startCarrierASimulator()';
const OPTION_NAMES = [
  'url',
  'webhookHost',
  'callees',
  'disturbances',
  'port',
  'openVoice',
  'clock',
  'accountSid',
  'authToken',
  'phoneNumbers',
  'reportsEnd',
  'extraParameters',
  'streamNoise',
  'unknownCalls',
] as const satisfies readonly (keyof CarrierASimulatorOptions)[];

/** Codes of failures that are made on demand. */
const DEMANDED_CODES: Readonly<Record<number, number>> = { 401: 20_003, 404: 20_404, 429: 20_429 };

async function readForm(request: IncomingMessage): Promise<URLSearchParams> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += (chunk as Buffer).length;
    if (size > MAX_BODY_BYTES) throw new ApiFault(20_413);
    chunks.push(chunk as Buffer);
  }
  if (size === 0) return new URLSearchParams();
  if (!(request.headers['content-type'] ?? '').startsWith('application/x-www-form-urlencoded')) {
    throw new ApiFault(20_415);
  }
  return new URLSearchParams(Buffer.concat(chunks).toString('utf8'));
}

/** Names with their values; repeated ones as a list. */
function toFields(...sources: readonly URLSearchParams[]): Record<string, string | string[]> {
  const fields: Record<string, string | string[]> = {};
  for (const source of sources) {
    for (const name of new Set(source.keys())) {
      const values = source.getAll(name);
      fields[name] = values.length === 1 ? (values[0] ?? '') : values;
    }
  }
  return fields;
}

/** The API behind its door. */
class RestDoor {
  readonly requests: SeenRequest[] = [];
  readonly #api: CarrierAApi;
  readonly #exchange: Exchange;
  readonly #closing: AbortSignal;
  #failures: { purpose: RestPurpose; status: number; times: number }[] = [];

  constructor(exchange: Exchange, input: { api: CarrierAApi; closing: AbortSignal }) {
    this.#exchange = exchange;
    this.#api = input.api;
    this.#closing = input.closing;
    this.disturb(exchange.disturbances);
  }

  disturb(disturbances: Disturbances): void {
    this.#failures = (disturbances.restFailures ?? []).map((failure) => ({ ...failure }));
  }

  async handle(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(incoming.url ?? '/', 'http://127.0.0.1');
    const path = url.pathname.replace(VERSION_PATH, '');
    const { method = 'GET' } = incoming;
    const { disturbances, clock } = this.#exchange;
    let request: ApiRequest = { method, path, query: url.searchParams, form: new URLSearchParams() };
    let answer: ApiAnswer | { fault: { status: number; code: number; message: string } };
    let isLost = false;
    try {
      this.#api.checkCredentials(incoming.headers.authorization);
      request = { ...request, form: await readForm(incoming) };
      const demanded = this.#demandedFailure(purposeOf(request));
      if (demanded !== undefined) {
        const code = DEMANDED_CODES[demanded] ?? 20_500;
        answer = { fault: { status: demanded, code, message: 'Failed on demand.' } };
      } else {
        answer = this.#api.answer(request);
        const purpose = purposeOf(request);
        isLost = purpose !== undefined && (disturbances.lostAnswers ?? []).includes(purpose);
      }
    } catch (error) {
      const unexpected = { status: 500, code: 20_500, message: 'Something went wrong.' };
      answer = { fault: error instanceof ApiFault ? error : unexpected };
    }
    this.#log(request, answer);
    if (disturbances.restDelayMs !== undefined) await pause(clock, disturbances.restDelayMs, this.#closing);
    if (isLost || ('fault' in answer && answer.fault.status === 0)) incoming.socket.destroy();
    else write(response, answer);
  }

  /** The status that was demanded for the next request with this purpose. */
  #demandedFailure(purpose: RestPurpose | undefined): number | undefined {
    const failure = this.#failures.find((each) => each.purpose === purpose && each.times > 0);
    if (failure === undefined) return undefined;
    failure.times -= 1;
    return failure.status;
  }

  #log(request: ApiRequest, answer: { status: number } | { fault: { status: number } }): void {
    const { method, path, query, form } = request;
    const purpose = purposeOf(request);
    if (purpose === undefined) return;
    const status = 'fault' in answer ? answer.fault.status : answer.status;
    this.requests.push({ purpose, method, path, body: toFields(query, form), status });
    if (this.requests.length > KEPT_REQUESTS) this.requests.shift();
  }
}

function write(
  response: ServerResponse,
  answer: ApiAnswer | { fault: { status: number; code: number; message: string } },
): void {
  if ('wav' in answer) {
    response.writeHead(answer.status, { 'content-type': 'audio/x-wav' });
    response.end(answer.wav);
    return;
  }
  const status = 'fault' in answer ? answer.fault.status : answer.status;
  const body = 'fault' in answer ? faultBody(answer.fault) : 'json' in answer ? answer.json : undefined;
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(body === undefined ? undefined : JSON.stringify(body));
}

/** Starts carrier A on 127.0.0.1. @throws ConfigError for options that cannot work, or a port that is in use. */
export async function startCarrierASimulator(options: CarrierASimulatorOptions): Promise<CarrierASimulator> {
  requireObject(options, START);
  checkNames(options, OPTION_NAMES, START);
  requireText(START, 'url', options.url);
  checkDisturbances(options.disturbances ?? {});
  for (const name of ['accountSid', 'authToken'] as const) requireSecret(START, name, options[name]);
  const exchange = new Exchange(options);
  const api = new CarrierAApi(exchange, { unknownCalls: options.unknownCalls ?? 'not-found' });
  const closing = createSharedAbort();
  const door = new RestDoor(exchange, { api, closing: closing.signal });
  const server = createServer((request, response) => void door.handle(request, response));
  const port = await listenOnLoopback(server, options.port ?? 0);
  exchange.apiUrl = `http://127.0.0.1:${port}`;
  let closed: Promise<void> | undefined;
  return {
    carrier: 'carrier-a',
    url: exchange.apiUrl,
    requests: door.requests,
    webhooks: exchange.webhooks.sent,
    legs: exchange.legs,
    numbers: exchange.numbers,
    call: (call: InboundCall): Promise<CallReport> => exchange.call(call),
    disturb(disturbances) {
      checkDisturbances(disturbances);
      exchange.webhooks.disturb(disturbances);
      door.disturb(disturbances);
    },
    settled: () => exchange.settled(),
    send: (webhook) => exchange.webhooks.send(webhook),
    close() {
      closed ??= new Promise((resolve) => {
        closing.abort();
        exchange.close();
        server.close(() => resolve());
        server.closeAllConnections();
      });
      return closed;
    },
  };
}
