import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type {
  AgentOptions,
  Carrier,
  CarrierId,
  PhoneNumberOptions,
  RunningServer,
  ServeOptions,
} from '../../src/index.js';
import { CarrierA, CarrierB, Offhook } from '../../src/index.js';
import { systemClock } from '../../src/base/clock.js';
import { silentLogger } from '../../src/base/log.js';
import type { CallRecord } from '../../src/contract/call-record.js';
import {
  type CarrierBSimulatorOptions,
  type CarrierSimulator,
  type Ledger,
  type SimulatorOptions,
  startCarrierASimulator,
  startCarrierBSimulator,
} from '../../src/testing/index.js';
import { freePort } from './free-port.js';

export const OWN_NUMBER = '+15005550010';
export const PUBLIC_HOST = 'voice.example.com';
const ACCOUNT_SID = `AC${'0a'.repeat(16)}`;
const AUTH_TOKEN = '0f1e2d3c4b5a69788796a5b4c3d2e1f0';
const API_KEY = 'KEY0123456789';
const CONNECTION_ID = '1700000000000000001';

/** A phone server with the local stack, and a whole carrier that it works with. */
export interface CarrierPhone extends AsyncDisposable {
  readonly phone: Offhook;
  readonly server: RunningServer;
  readonly simulator: CarrierSimulator;
  /** Every record that `onCallEnd` was given. */
  readonly records: readonly CallRecord[];
  /** A path of the API, with the token of the server. */
  ask(path: string, headers?: { readonly [name: string]: string }): Promise<Response>;
  /** Records of calls that are over, newest first, as the API shows them. */
  history(): Promise<CallRecord[]>;
  /** Resolves with the record, as the API shows it, when it is over and `isReady` holds. */
  record(callId: string, isReady?: (record: CallRecord) => boolean): Promise<CallRecord>;
  /** Resolves with the active calls when there are that many and `isReady` holds for each. */
  active(count: number, isReady?: (record: CallRecord) => boolean): Promise<CallRecord[]>;
}

/** Looks again and again, by the clock of the calls, until `look` finds something. Bounded, so that a test says what it waited for. */
export async function eventually<T>(
  what: string,
  look: () => Promise<T | undefined> | T | undefined,
  timeoutMs = 15_000,
): Promise<T> {
  const deadline = systemClock.now() + timeoutMs;
  while (systemClock.now() < deadline) {
    const found = await look();
    if (found !== undefined) return found;
    await new Promise<void>((resolve) => void systemClock.after(40, resolve));
  }
  throw new Error(`waited in vain for ${what}`);
}

/** Resolves when no live call is kept in the data folder any more: a file goes behind the end that callbacks are told of. */
export const nothingIsKept = (dataDir: string) =>
  eventually('the end of what is kept', async () => {
    const names = await readdir(join(dataDir, 'live'));
    return names.length === 1 && names[0] === 'alive' ? true : undefined;
  });

/** What a carrier object is made of for a simulated carrier, as plain data. */
export function carrierCredentials(simulator: CarrierSimulator): object {
  const { url: baseUrl } = simulator;
  if (!('publicKey' in simulator)) return { accountSid: ACCOUNT_SID, authToken: AUTH_TOKEN, baseUrl };
  return { apiKey: API_KEY, connectionId: CONNECTION_ID, publicKey: simulator.publicKey, baseUrl };
}

/** A carrier on loopback, and the object that a server needs to work with it. */
export async function startCarrier(
  id: CarrierId,
  {
    carrierB,
    phoneNumbers,
    ...options
  }: SimulatorOptions & {
    carrierB?: Partial<CarrierBSimulatorOptions> | undefined;
    phoneNumbers?: readonly string[] | undefined;
  },
): Promise<{ simulator: CarrierSimulator; carrier: Carrier }> {
  if (id === 'carrier-a') {
    const credentials = { accountSid: ACCOUNT_SID, authToken: AUTH_TOKEN };
    const simulator = await startCarrierASimulator({
      ...options,
      ...credentials,
      phoneNumbers: phoneNumbers ?? [OWN_NUMBER],
    });
    return { simulator, carrier: new CarrierA({ ...credentials, baseUrl: simulator.url }) };
  }
  const credentials = { apiKey: API_KEY, connectionId: CONNECTION_ID };
  const simulator = await startCarrierBSimulator({
    ...options,
    ...credentials,
    ...(phoneNumbers && { phoneNumbers }),
    ...carrierB,
  });
  const { publicKey, url: baseUrl } = simulator;
  const l16ByteOrder = carrierB?.l16ByteOrder;
  return { simulator, carrier: new CarrierB({ ...credentials, publicKey, baseUrl, l16ByteOrder }) };
}

export async function startCarrierPhone(
  id: CarrierId,
  agent: AgentOptions = {},
  options: {
    serve?: Partial<ServeOptions>;
    simulator?: Partial<SimulatorOptions>;
    carrierB?: Partial<CarrierBSimulatorOptions>;
    /** The server begins in it. */
    ledger?: Ledger;
    /** In place of one number. */
    phoneNumbers?: readonly (string | PhoneNumberOptions)[];
    /** Makes agents of the client, before it serves. */
    agents?: (phone: Offhook) => Partial<ServeOptions>;
  } = {},
): Promise<CarrierPhone> {
  const port = await freePort();
  const { simulator, carrier } = await startCarrier(id, {
    url: `http://127.0.0.1:${port}`,
    webhookHost: PUBLIC_HOST,
    ...options.simulator,
    carrierB: options.carrierB,
    phoneNumbers: options.phoneNumbers?.map((each) => (typeof each === 'string' ? each : each.number)),
  });
  const records: CallRecord[] = [];
  const { phoneNumbers } = options;
  const numbers = phoneNumbers === undefined ? { phoneNumber: OWN_NUMBER } : { phoneNumbers };
  const phone = new Offhook({ carrier, ...numbers, webhookUrl: PUBLIC_HOST });
  const serving: ServeOptions = {
    agent: phone.agent({ systemPrompt: 'You help.', firstMessage: 'Hello, how can I help you?', ...agent }),
    port,
    host: '127.0.0.1',
    manageWebhook: false,
    logger: silentLogger,
    drainSeconds: 3,
    dataDir: false,
    ...options.serve,
    ...options.agents?.(phone),
    onCallEnd: (record) => {
      records.push(record);
      return options.serve?.onCallEnd?.(record);
    },
  };
  const server = await (options.ledger?.run(() => phone.serve(serving)) ?? phone.serve(serving));

  const { dashboardToken } = options.serve ?? {};
  const ask: CarrierPhone['ask'] = (path, headers = {}) =>
    fetch(`${server.url}/api/dashboard${path}`, {
      headers: { ...(dashboardToken && { authorization: `Bearer ${dashboardToken}` }), ...headers },
    });
  // What is waited for is looked at without HTTP: each look would be a request, and most of what a call costs.
  const get = async <T>(path: string): Promise<T> => {
    const response = await ask(path);
    if (!response.ok) throw new Error(`${path} was answered with ${response.status}`);
    return (await response.json()) as T;
  };
  const history = async () => {
    const { calls } = await get<{ calls: { callId: string; status: string }[] }>('/calls?limit=500');
    const over = calls.filter(({ status }) => status === 'completed');
    return Promise.all(over.map(({ callId }) => get<CallRecord>(`/calls/${callId}`)));
  };
  return {
    phone,
    server,
    simulator,
    records,
    ask,
    history,
    record: (callId, isReady = () => true) =>
      eventually(`the end of call ${callId}`, async () => {
        const found = await server.calls.get(callId).catch(() => undefined);
        if (found?.status !== 'completed' || !isReady(found)) return undefined;
        return await get<CallRecord>(`/calls/${callId}`).catch(() => undefined);
      }),
    active: (count, isReady = () => true) =>
      eventually(`${count} active calls`, async () => {
        const calls = await server.calls.active();
        return calls.length === count && calls.every(isReady) ? calls : undefined;
      }),
    async [Symbol.asyncDispose]() {
      await phone.disconnect();
      await simulator.close();
    },
  };
}

/** A server with these agents of one client, the first of which takes the calls. */
export function startAgentsPhone(
  id: CarrierId,
  agents: readonly AgentOptions[],
  simulator: Partial<SimulatorOptions> = {},
): Promise<CarrierPhone> {
  return startCarrierPhone(
    id,
    {},
    {
      simulator,
      agents: (phone) => {
        const [agent] = agents.map((options) => phone.agent(options));
        if (agent === undefined) throw new Error('no agent');
        return { agent };
      },
    },
  );
}
