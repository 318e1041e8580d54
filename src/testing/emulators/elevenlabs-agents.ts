// ElevenLabs Agents on loopback: hears by a script, answers by a script, and complains as the vendor would.
import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { AgentsConnection } from './elevenlabs-agents-connection.js';
import type {
  ElevenLabsAgentsConnection,
  EmulateElevenLabsAgentsOptions,
} from './elevenlabs-agents-script.js';
import { checkEmulatorOptions } from './emulator-options.js';
import { dealRealtimeScript } from './realtime-script.js';
import type { EmulatorRequest } from './vendor-peer.js';
import {
  type Emulator,
  type EmulatorOptions,
  type Refusal,
  unknownAddress,
  VendorServer,
} from './vendor-server.js';

export interface ElevenLabsAgentsEmulator extends Emulator {
  readonly connections: readonly ElevenLabsAgentsConnection[];
}

const OPTION_NAMES: Readonly<
  Record<Exclude<keyof EmulateElevenLabsAgentsOptions, keyof EmulatorOptions>, true>
> = {
  utterances: true,
  replies: true,
  msPerCharacter: true,
  chunkBytes: true,
  voice: true,
  agentId: true,
  isPrivate: true,
  signedUrlMs: true,
  inputFormat: true,
  outputFormat: true,
  allowedOverrides: true,
  firstMessage: true,
  variables: true,
  end: true,
  vadScores: true,
  tentative: true,
  expectsResults: true,
  pingEveryMs: true,
  pongWithinMs: true,
};

const CONVERSATION = '/v1/convai/conversation';
const SIGNED_URL = `${CONVERSATION}/get-signed-url`;
const SIGNED_URL_MS = 15 * 60_000;
const SIGNATURE = 'conversation_signature';

export async function emulateElevenLabsAgents(
  options: EmulateElevenLabsAgentsOptions = {},
): Promise<ElevenLabsAgentsEmulator> {
  checkEmulatorOptions(options, OPTION_NAMES, 'emulateElevenLabsAgents()');
  const connections: AgentsConnection[] = [];
  const part = dealRealtimeScript(options);
  const server = new VendorServer(options, (owner) => {
    const addresses = new SignedAddresses(owner, options);
    return {
      refuse: (request) =>
        request.url.pathname === SIGNED_URL ? addresses.refuseKey(request) : addresses.refuseSocket(request),
      http: (request, _body, response) => addresses.give(request, response),
      connect(peer) {
        const script = { ...options, ...part(peer.request), number: connections.length + 1 };
        const connection = new AgentsConnection(peer, owner, script);
        connections.push(connection);
        return connection;
      },
    };
  });
  await server.listen(options.port);
  return Object.assign(server, { connections });
}

/** Addresses that were signed, each for one conversation and for a while. */
class SignedAddresses {
  readonly #server: VendorServer;
  readonly #agentId: string;
  readonly #isPrivate: boolean;
  readonly #lastsMs: number;
  readonly #untilBySignature = new Map<string, number>();

  constructor(server: VendorServer, options: EmulateElevenLabsAgentsOptions) {
    this.#server = server;
    this.#agentId = options.agentId ?? 'agent-1';
    this.#isPrivate = options.isPrivate ?? false;
    this.#lastsMs = options.signedUrlMs ?? SIGNED_URL_MS;
  }

  refuseKey({ method, url, headers }: EmulatorRequest): Refusal | undefined {
    if (method !== 'GET') return { status: 405 };
    if (headers['xi-api-key'] !== this.#server.apiKey) return bad(401, 'invalid_api_key');
    return url.searchParams.get('agent_id') === this.#agentId ? undefined : bad(404, 'agent_not_found');
  }

  refuseSocket(request: EmulatorRequest): Refusal | undefined {
    const { url } = request;
    if (url.pathname !== CONVERSATION) return unknownAddress(request);
    if (url.searchParams.get('agent_id') !== this.#agentId) return bad(404, 'agent_not_found');
    const signature = url.searchParams.get(SIGNATURE);
    if (signature === null) return this.#isPrivate ? bad(403, 'signed_url_required') : undefined;
    const until = this.#untilBySignature.get(signature);
    this.#untilBySignature.delete(signature);
    if (until !== undefined && this.#server.clock.now() < until) return undefined;
    this.#server.complain('a signed address that is used up, or too old');
    return bad(403, 'signed_url_invalid');
  }

  give(_request: EmulatorRequest, response: ServerResponse): void {
    const signature = randomUUID();
    this.#untilBySignature.set(signature, this.#server.clock.now() + this.#lastsMs);
    const address = new URL(this.#server.url.replace(/^http/, 'ws'));
    address.pathname = CONVERSATION;
    address.search = new URLSearchParams({ agent_id: this.#agentId, [SIGNATURE]: signature }).toString();
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ signed_url: address.href }));
  }
}

function bad(status: number, code: string): Refusal {
  return {
    status,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ detail: { status: code, message: code } }),
  };
}
