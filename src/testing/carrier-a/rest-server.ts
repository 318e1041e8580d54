// Carrier A's REST API on loopback, as far as a phone server needs it: reading, ending and redirecting calls, and the number's webhooks.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createId } from './ids.js';
import { readMarkup } from './markup.js';

/** A simulated call that the API may act on. */
export interface RestCall {
  from: string;
  to: string;
  hangUp(): void;
  /** `to` is the number that the new instructions dial, null when they dial none. */
  redirect(to: string | null): void;
}

export interface RestServerOptions {
  accountSid: string;
  authToken: string;
  /** Numbers of the account, E.164. */
  phoneNumbers?: readonly string[];
  /** `accept`: an unknown call counts as one that is over and may be ended again, for callers in other processes. @default 'not-found' */
  unknownCalls?: 'accept' | 'not-found';
}

/** What a server asked of the API, for assertions. */
export interface RestRequest {
  method: string;
  path: string;
  parameters: Record<string, string>;
}

export interface NumberSettings {
  sid: string;
  phoneNumber: string;
  voiceUrl: string;
  statusCallback: string;
}

export interface CarrierARestServer {
  /** `http://127.0.0.1:<port>`: the `baseUrl` of the server under test. */
  readonly url: string;
  readonly requests: readonly RestRequest[];
  readonly numbers: readonly NumberSettings[];
  /** Makes a call known. The returned function says that it is over. */
  register(callSid: string, call: RestCall): () => void;
  close(): Promise<void>;
}

const MAX_BODY_BYTES = 65_536;
const KEPT_REQUESTS = 1000;
/** Calls that are over and still answered for. */
const KEPT_CALLS = 1000;

class ApiFault extends Error {
  readonly status: number;
  readonly code: number;
  constructor(status: number, code: number, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

async function readForm(request: IncomingMessage): Promise<Record<string, string>> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += (chunk as Buffer).length;
    if (size > MAX_BODY_BYTES) throw new ApiFault(413, 20413, 'The body is too large.');
    chunks.push(chunk as Buffer);
  }
  if (size === 0) return {};
  if (!(request.headers['content-type'] ?? '').startsWith('application/x-www-form-urlencoded')) {
    throw new ApiFault(415, 20415, 'The body is no form.');
  }
  return Object.fromEntries(new URLSearchParams(Buffer.concat(chunks).toString('utf8')));
}

/** The API of one account: `answer` returns the body of a 200. */
class CarrierAccount {
  readonly requests: RestRequest[] = [];
  readonly numbers: NumberSettings[];
  readonly #options: RestServerOptions;
  readonly #live = new Map<string, RestCall>();
  readonly #over = new Map<string, RestCall>();

  constructor(options: RestServerOptions) {
    this.#options = options;
    this.numbers = (options.phoneNumbers ?? []).map((phoneNumber) => ({
      sid: createId('PN'),
      phoneNumber,
      voiceUrl: '',
      statusCallback: '',
    }));
  }

  register(callSid: string, call: RestCall): () => void {
    this.#live.set(callSid, call);
    return () => {
      if (!this.#live.delete(callSid)) return;
      this.#over.set(callSid, call);
      const [oldest] = this.#over.keys();
      if (this.#over.size > KEPT_CALLS && oldest !== undefined) this.#over.delete(oldest);
    };
  }

  checkCredentials(header: string | undefined): void {
    const expected = Buffer.from(`${this.#options.accountSid}:${this.#options.authToken}`).toString('base64');
    if (header !== `Basic ${expected}`) throw new ApiFault(401, 20003, 'Authenticate');
  }

  answer(method: string, url: URL, form: Record<string, string>): object {
    const path = url.pathname.replace(/^\/2010-04-01/, '');
    this.requests.push({ method, path, parameters: { ...Object.fromEntries(url.searchParams), ...form } });
    if (this.requests.length > KEPT_REQUESTS) this.requests.shift();
    const found = /^\/Accounts\/(\w+)\/(Calls|IncomingPhoneNumbers)(?:\/(\w+))?\.json$/.exec(path);
    const [, account, kind, id] = found ?? [];
    if (account !== this.#options.accountSid) throw this.#notFound();
    if (kind === 'Calls' && id !== undefined) {
      return method === 'POST' ? this.#updateCall(id, form) : this.#callResource(id);
    }
    if (kind === 'IncomingPhoneNumbers' && id === undefined && method === 'GET') {
      const prefix = url.searchParams.get('PhoneNumber') ?? '';
      const matches = this.numbers.filter(({ phoneNumber }) => phoneNumber.includes(prefix));
      return { incoming_phone_numbers: matches.map(numberResource), page: 0, page_size: 50 };
    }
    if (kind === 'IncomingPhoneNumbers' && id !== undefined) {
      const number = this.numbers.find(({ sid }) => sid === id);
      if (number === undefined) throw this.#notFound();
      if (method === 'POST') {
        number.voiceUrl = form.VoiceUrl ?? number.voiceUrl;
        number.statusCallback = form.StatusCallback ?? number.statusCallback;
      }
      return numberResource(number);
    }
    throw this.#notFound();
  }

  #updateCall(id: string, form: Record<string, string>): object {
    const call = this.#live.get(id);
    if (call === undefined) {
      if (!this.#over.has(id)) return this.#callResource(id);
      throw new ApiFault(400, 21220, 'Call is not in-progress. Cannot redirect.');
    }
    if (form.Status === 'completed') call.hangUp();
    else if (form.Twiml !== undefined) {
      const { answer } = readMarkup(form.Twiml);
      if (answer === null) throw new ApiFault(400, 12100, 'The instructions are no well-formed markup.');
      call.redirect(answer.type === 'dial' ? answer.number : null);
    } else if (form.Status !== 'canceled') {
      throw new ApiFault(400, 21204, 'Nothing that can be changed.');
    }
    return this.#callResource(id);
  }

  #callResource(id: string): object {
    const live = this.#live.get(id);
    const call = live ?? this.#over.get(id);
    if (call === undefined && this.#options.unknownCalls !== 'accept') throw this.#notFound();
    return {
      sid: id,
      account_sid: this.#options.accountSid,
      status: live === undefined ? 'completed' : 'in-progress',
      direction: 'inbound',
      from: call?.from ?? '',
      to: call?.to ?? '',
    };
  }

  #notFound(): ApiFault {
    return new ApiFault(404, 20404, 'The requested resource was not found.');
  }
}

function numberResource(number: NumberSettings): object {
  return {
    sid: number.sid,
    phone_number: number.phoneNumber,
    voice_url: number.voiceUrl,
    voice_method: 'POST',
    voice_fallback_url: null,
    status_callback: number.statusCallback,
    status_callback_method: 'POST',
    voice_application_sid: null,
    trunk_sid: null,
  };
}

function reply(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

/** Starts the API on a free port of 127.0.0.1. */
export async function startRestServer(options: RestServerOptions): Promise<CarrierARestServer> {
  const account = new CarrierAccount(options);
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    try {
      account.checkCredentials(request.headers.authorization);
      const form = await readForm(request);
      const url = new URL(request.url ?? '/', 'http://127.0.0.1');
      reply(response, 200, account.answer(request.method ?? 'GET', url, form));
    } catch (error) {
      const fault = error instanceof ApiFault ? error : new ApiFault(500, 20500, 'Something went wrong.');
      const { status, code, message } = fault;
      reply(response, status, { code, message, more_info: '', status });
    }
  };
  const server = createServer((request, response) => void handle(request, response));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests: account.requests,
    numbers: account.numbers,
    register: (callSid, call) => account.register(callSid, call),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
