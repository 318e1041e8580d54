// OpenAI's Realtime socket (GA) on loopback: hears by a script, answers by a script, and complains as the vendor would.
import { checkEmulatorOptions } from './emulator-options.js';
import { RealtimeConnection } from './openai-realtime-connection.js';
import type { EmulateOpenAIRealtimeOptions, OpenAIRealtimeConnection } from './openai-realtime-script.js';
import { dealRealtimeScript } from './realtime-script.js';
import { serveSockets } from './socket-vendor.js';
import type { EmulatorRequest } from './vendor-peer.js';
import { type Emulator, type EmulatorOptions, type Refusal, unknownAddress } from './vendor-server.js';

export interface OpenAIRealtimeEmulator extends Emulator {
  readonly connections: readonly OpenAIRealtimeConnection[];
}

const OPTION_NAMES: Readonly<
  Record<Exclude<keyof EmulateOpenAIRealtimeOptions, keyof EmulatorOptions>, true>
> = {
  utterances: true,
  replies: true,
  msPerCharacter: true,
  chunkBytes: true,
  voice: true,
  withoutPadding: true,
  transcriptAfterMs: true,
  dialect: true,
  sessionMs: true,
};

export async function emulateOpenAIRealtime(
  options: EmulateOpenAIRealtimeOptions = {},
): Promise<OpenAIRealtimeEmulator> {
  checkEmulatorOptions(options, OPTION_NAMES, 'emulateOpenAIRealtime()');
  const deal = dealRealtimeScript(options);
  return serveSockets(options, {
    refuse,
    connect(peer, server, number) {
      const script = { ...options, ...deal(peer.request), number };
      return new RealtimeConnection(peer, server, script);
    },
  });
}

/** What the vendor answers to a bad handshake. */
function refuse(request: EmulatorRequest, apiKey: string): Refusal | undefined {
  const { url, headers } = request;
  const bad = (status: number, code: string): Refusal => ({
    status,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ error: { code } }),
  });
  if (!url.pathname.endsWith('/v1/realtime')) return unknownAddress(request);
  if (headers.authorization !== `Bearer ${apiKey}` && headers['api-key'] !== apiKey)
    return bad(401, 'invalid_api_key');
  if (headers['openai-beta'] !== undefined) return bad(400, 'beta_api_shape_disabled');
  const model = url.searchParams.get('model');
  if (model === null) return bad(400, 'missing_model');
  return model === 'no-such-model' ? bad(404, 'model_not_found') : undefined;
}
