// OpenAI's Realtime socket (GA) on loopback: hears by a script, answers by a script, and complains as the vendor would.
import { RealtimeConnection, type RealtimeScript } from './openai-realtime-connection.js';
import type { EmulatedRealtimeReply } from './openai-realtime-reply.js';
import type { EmulatorRequest } from './vendor-peer.js';
import { type Emulator, type EmulatorOptions, type Refusal, VendorServer } from './vendor-server.js';

/** What the model is asked with. */
export interface RealtimeAsk {
  /** What the caller has said since the last response; '' when nothing. */
  readonly heard: string;
  /** What it was told to say, word for word. */
  readonly say: string | undefined;
  /** The conversation: texts, calls and results, in order. */
  readonly items: readonly EmulatedItem[];
}

/** An item of the conversation as the server has it. */
export interface EmulatedItem {
  readonly id: string;
  readonly kind: 'message' | 'function_call' | 'function_call_output';
  readonly role: string;
  /** Text; of speech what the server takes for said, which truncating takes away. */
  readonly text: string;
  /** Audio of it, in milliseconds; 0 for text. */
  readonly audioMs: number;
  readonly isTruncated: boolean;
}

export interface EmulateOpenAIRealtimeOptions extends EmulatorOptions {
  /** What is heard: one text for each stretch of sound. A list is worked off by all connections together. */
  readonly utterances?: readonly string[] | ((request: EmulatorRequest) => readonly string[]);
  /** The answers in order, or one for each time that the model is asked. What it is told to say it says. @default repeats what the caller said */
  readonly replies?: readonly EmulatedRealtimeReply[] | ((ask: RealtimeAsk) => EmulatedRealtimeReply);
  /** Length of the audio, in milliseconds per character. @default 60 */
  readonly msPerCharacter?: number;
  /** Bytes of a piece of audio. An odd number cuts samples in half. @default 4800 */
  readonly chunkBytes?: number;
  /** Leaves out the padding of base64. @default false */
  readonly withoutPadding?: boolean;
  /** How long after the caller's turn the text of it comes; null: never. @default 0 */
  readonly transcriptAfterMs?: number | null;
  /** `full` is the vendor; `subset` leaves out whatever servers of this wire leave out. @default 'full' */
  readonly dialect?: 'full' | 'subset';
  /** Length of a session, in milliseconds: then it expires. @default an hour */
  readonly sessionMs?: number;
}

/** What one connection was sent, and made of it. */
export interface OpenAIRealtimeConnection {
  readonly url: URL;
  /** The session as it is now. */
  readonly session: Readonly<Record<string, unknown>>;
  readonly events: readonly Readonly<Record<string, unknown>>[];
  readonly items: readonly EmulatedItem[];
  /** Audio of the caller, in milliseconds. */
  readonly audioMs: number;
  /** Codes of the errors that were told. */
  readonly errors: readonly string[];
}

export interface OpenAIRealtimeEmulator extends Emulator {
  readonly connections: readonly OpenAIRealtimeConnection[];
}

export async function emulateOpenAIRealtime(
  options: EmulateOpenAIRealtimeOptions = {},
): Promise<OpenAIRealtimeEmulator> {
  const connections: RealtimeConnection[] = [];
  const { utterances = [], replies } = options;
  const shared = typeof utterances === 'function' ? [] : [...utterances];
  const queue = typeof replies === 'object' ? [...replies] : [];
  const answer = (ask: RealtimeAsk): EmulatedRealtimeReply => {
    if (ask.say !== undefined) return { text: ask.say };
    if (typeof replies === 'function') return replies(ask);
    return queue.shift() ?? { text: `You said: ${ask.heard}` };
  };
  const server = new VendorServer(options, (owner) => ({
    refuse: (request) => refuse(request, owner.apiKey),
    connect(peer) {
      const own = typeof utterances === 'function' ? [...utterances(peer.request)] : shared;
      const script: RealtimeScript = { ...options, hear: () => own.shift() ?? '', answer };
      const number = connections.length + 1;
      const connection = new RealtimeConnection(peer, owner, { ...script, number });
      connections.push(connection);
      return connection;
    },
  }));
  await server.listen(options.port);
  return Object.assign(server, { connections });
}

/** What the vendor answers to a bad handshake. */
function refuse({ url, headers }: EmulatorRequest, apiKey: string): Refusal | undefined {
  const bad = (status: number, code: string): Refusal => ({
    status,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ error: { code } }),
  });
  if (!url.pathname.endsWith('/realtime')) return { status: 404 };
  if (headers.authorization !== `Bearer ${apiKey}` && headers['api-key'] !== apiKey)
    return bad(401, 'invalid_api_key');
  if (headers['openai-beta'] !== undefined) return bad(400, 'beta_api_shape_disabled');
  const model = url.searchParams.get('model');
  if (model === null) return bad(400, 'missing_model');
  return model === 'no-such-model' ? bad(404, 'model_not_found') : undefined;
}
