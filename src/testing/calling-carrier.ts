// A carrier of either kind that calls one phone server: what a caller needs of a simulator, and no more.
import type { Clock } from '../base/clock.js';
import { ConfigError } from '../base/errors.js';
import { checkOptions } from '../base/option-checks.js';
import type { SimulatedCarrier } from '../contract/call-record.js';
import type { OpenVoice } from './caller-script.js';
import { Exchange } from './carrier-a/exchange.js';
import { createId } from './carrier-a/ids.js';
import { startCarrierBSimulator } from './carrier-b/simulator.js';
import type { CallReport } from './report.js';
import type { InboundCall, SimulatorOptions } from './simulator.js';

/** Where the phone server is, and how the carrier proves who it is. */
export interface CallingCarrierOptions {
  /** Address of the server, for example `http://127.0.0.1:8000`. Its host is dialed, for webhooks and streams. */
  url: string;
  /** @default 'carrier-a' */
  carrier?: SimulatedCarrier | undefined;
  /** Public host of the server, as the carrier knows it; part of what carrier A signs. @default the host of `url` */
  webhookHost?: string | undefined;
  /** Carrier A: signs webhooks and upgrade. Nothing is signed without it. */
  authToken?: string | undefined;
  /** Carrier A. @default a random id */
  accountSid?: string | undefined;
  /** Carrier B: the key that the server sends to the REST API. @default 'simulated' */
  apiKey?: string | undefined;
  /** Carrier B: the application that the number belongs to. @default 'simulated' */
  connectionId?: string | undefined;
  /** Carrier B: 32 bytes in base64 that the key pair of its signatures is made of. @default a random key pair */
  privateKey?: string | undefined;
  /** Carrier B: port of 127.0.0.1 on which its REST API answers; part of the `baseUrl` of the server's carrier. @default a free one */
  apiPort?: number | undefined;
  /** Carrier A: post the number's status callback after a call. @default true */
  statusCallback?: boolean | undefined;
  /** Speaks the `say` steps. @default the embedded voice */
  openVoice?: OpenVoice | undefined;
  /** @default the real clock */
  clock?: Clock | undefined;
}

/** Names of the options. */
export const CALLING_CARRIER_OPTIONS: Readonly<Record<keyof CallingCarrierOptions, true>> = {
  url: true,
  carrier: true,
  webhookHost: true,
  authToken: true,
  accountSid: true,
  apiKey: true,
  connectionId: true,
  privateKey: true,
  apiPort: true,
  statusCallback: true,
  openVoice: true,
  clock: true,
};

export interface CallingCarrier {
  /** Carrier B: with which its webhooks are verified, in base64; null for a carrier with another kind of signature. */
  readonly publicKey: string | null;
  call(call: InboundCall): Promise<CallReport>;
  close(): Promise<void>;
}

const OPEN = 'openCallingCarrier()';
const KEY_BYTES = 32;
const SIMULATED = 'simulated';
const FIRST_COMMAND_SECONDS = 10;

function common(options: CallingCarrierOptions): SimulatorOptions {
  const { url, webhookHost, openVoice, clock } = options;
  return {
    url,
    ...(webhookHost === undefined ? {} : { webhookHost }),
    ...(openVoice === undefined ? {} : { openVoice }),
    ...(clock === undefined ? {} : { clock }),
  };
}

/** Instructions travel in the answers of the server, so that no REST API is needed. */
function openCarrierA(options: CallingCarrierOptions): CallingCarrier {
  const exchange = new Exchange({
    ...common(options),
    accountSid: options.accountSid ?? createId('AC'),
    authToken: options.authToken,
    reportsEnd: options.statusCallback !== false,
  });
  return {
    publicKey: null,
    call: (call) => exchange.call(call),
    close: async () => exchange.close(),
  };
}

function readPrivateKey(text: string): Uint8Array {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length === KEY_BYTES) return bytes;
  throw new ConfigError('CONFIG_INVALID', 'The private key of carrier B must be 32 bytes in base64.');
}

/** The server commands this carrier through its REST API, which therefore has to be there. */
async function openCarrierB(options: CallingCarrierOptions): Promise<CallingCarrier> {
  const { apiKey = SIMULATED, connectionId = SIMULATED, privateKey, apiPort } = options;
  const privateKeySeed = privateKey === undefined ? undefined : readPrivateKey(privateKey);
  const simulator = await startCarrierBSimulator({
    ...common(options),
    apiKey,
    connectionId,
    // A server that does not command this carrier never will: that is to be told before the caller's patience is over.
    application: { first_command_timeout: true, first_command_timeout_secs: FIRST_COMMAND_SECONDS },
    ...(apiPort === undefined ? {} : { port: apiPort }),
    ...(privateKeySeed === undefined ? {} : { privateKeySeed }),
  });
  return {
    publicKey: simulator.publicKey,
    call: (call) => simulator.call(call),
    close: () => simulator.close(),
  };
}

/** Opens a carrier that calls the server. @throws ConfigError for options that cannot work. */
export async function openCallingCarrier(options: CallingCarrierOptions): Promise<CallingCarrier> {
  const known = Object.keys(CALLING_CARRIER_OPTIONS);
  checkOptions(options, { known, needed: ['url'] }, OPEN);
  const { carrier = 'carrier-a' } = options;
  if (carrier === 'carrier-a') return openCarrierA(options);
  if (carrier === 'carrier-b') return openCarrierB(options);
  throw new ConfigError('CONFIG_INVALID', 'The carrier must be carrier-a or carrier-b.');
}
