// Google's Live API on loopback: hears by a script, answers by a script, and closes the connection where the vendor would.
import { systemClock } from '../../base/clock.js';
import { checkEmulatorOptions } from './emulator-options.js';
import { LiveConnection } from './gemini-live-connection.js';
import type { EmulateGeminiLiveOptions, GeminiLiveConnection } from './gemini-live-script.js';
import { LiveSessions } from './gemini-live-sessions.js';
import { dealRealtimeScript } from './realtime-script.js';
import type { EmulatorRequest, VendorPeer } from './vendor-peer.js';
import {
  type Emulator,
  type EmulatorOptions,
  type PeerHandler,
  type Refusal,
  unknownAddress,
  VendorServer,
} from './vendor-server.js';

export interface GeminiLiveEmulator extends Emulator {
  readonly connections: readonly GeminiLiveConnection[];
  /** Tells every connection that it will be closed. */
  goAway(timeLeft?: string): void;
  /** From now on no session can be resumed by a handle that was given before. */
  forgetSessions(): void;
}

const OPTION_NAMES: Readonly<Record<Exclude<keyof EmulateGeminiLiveOptions, keyof EmulatorOptions>, true>> = {
  utterances: true,
  replies: true,
  msPerCharacter: true,
  chunkBytes: true,
  voice: true,
  transcriptAfterMs: true,
  marksFinished: true,
  waitsForPlayback: true,
  resumable: true,
};

/** The versions that clients use; one of them doubles the slash before it. */
const PATH =
  /(?<!\/)\/+ws\/google\.ai\.generativelanguage\.v1(alpha|beta)?\.GenerativeService\.BidiGenerateContent$/;

export async function emulateGeminiLive(options: EmulateGeminiLiveOptions = {}): Promise<GeminiLiveEmulator> {
  checkEmulatorOptions(options, OPTION_NAMES, 'emulateGeminiLive()');
  const connections: LiveConnection[] = [];
  const sessions = new LiveSessions(options.clock ?? systemClock);
  const deal = dealRealtimeScript(options);
  const isTaken = (session: string) => connections.some(({ sessionId }) => sessionId === session);
  const server = new VendorServer(options, (owner) => ({
    refuse,
    connect(peer) {
      if (keyOf(peer.request) !== owner.apiKey) return turnAway(peer, owner);
      const connection = new LiveConnection(peer, owner, {
        ...options,
        ...deal(peer.request),
        sessions,
        isTaken,
      });
      connections.push(connection);
      return connection;
    },
  }));
  await server.listen(options.port);
  return Object.assign(server, {
    connections,
    goAway: (timeLeft = '10s') => server.sendAll(JSON.stringify({ goAway: { timeLeft } })),
    forgetSessions: () => sessions.forget(),
  });
}

function refuse(request: EmulatorRequest): Refusal | undefined {
  return PATH.test(request.url.pathname) ? undefined : unknownAddress(request);
}

function keyOf({ url, headers }: EmulatorRequest): string | undefined {
  const header = headers['x-goog-api-key'];
  return url.searchParams.get('key') ?? (typeof header === 'string' ? header : undefined);
}

/** The vendor looks at the key behind the handshake. */
function turnAway(peer: VendorPeer, server: VendorServer): PeerHandler {
  server.complain('the API key was refused: the emulator takes its apiKey, by default test-key');
  const [code, reason] =
    keyOf(peer.request) === undefined
      ? [1008, "Method doesn't allow unregistered callers. Please use API Key."]
      : [1007, 'API key not valid. Please pass a valid API key.'];
  peer.close(code, reason);
  return { text() {}, binary() {}, closed() {} };
}
