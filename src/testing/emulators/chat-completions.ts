// A Chat Completions server on loopback: refuses what the vendor would refuse, and streams scripted replies in the ways that
// the many servers of the dialect differ in.
import type { ServerResponse } from 'node:http';
import { checkChatRequest, type ChatRequestBody } from './chat-request-checks.js';
import { type EmulatedReply, encodeReply } from './chat-reply-encoding.js';
import { checkEmulatorOptions, queueReplies, REPLY_PACE } from './emulator-options.js';
import { streamChunks } from './reply-stream.js';
import {
  asksForModels,
  type Emulator,
  type EmulatorOptions,
  type Refusal,
  unknownAddress,
  VendorServer,
} from './vendor-server.js';

export interface EmulateChatCompletionsOptions extends EmulatorOptions {
  /** The replies in order, or one for each request. @default repeats what the user said */
  readonly replies?: readonly EmulatedReply[] | ((body: ChatRequestBody) => EmulatedReply);
  /** `openai` takes the newest fields only; `common` those that older servers know, without a key, too. @default 'openai' */
  readonly dialect?: 'openai' | 'common';
  /** Fields that this server does not know: it answers 400 and names them. */
  readonly unknownFields?: readonly string[];
}

export interface ChatExchange {
  readonly body: ChatRequestBody;
  /** The request as it came, byte for byte. */
  readonly text: string;
  /** The client closed the connection before the end. */
  aborted: boolean;
}

export interface ChatCompletionsEmulator extends Emulator {
  /** Requests that were accepted. */
  readonly exchanges: readonly ChatExchange[];
}

const OPTION_NAMES: Readonly<
  Record<Exclude<keyof EmulateChatCompletionsOptions, keyof EmulatorOptions>, true>
> = {
  replies: true,
  dialect: true,
  unknownFields: true,
};

const REPLY_NAMES: Readonly<Record<keyof EmulatedReply, true>> = {
  ...REPLY_PACE,
  text: true,
  toolCalls: true,
  finishReason: true,
  usage: true,
  error: true,
  usagePlacement: true,
  toolCallStyle: true,
  lineEnd: true,
  withoutDone: true,
  noise: true,
};

export async function emulateChatCompletions(
  options: EmulateChatCompletionsOptions = {},
): Promise<ChatCompletionsEmulator> {
  checkEmulatorOptions(options, OPTION_NAMES, 'emulateChatCompletions()');
  const exchanges: ChatExchange[] = [];
  const queue = queueReplies(options.replies, REPLY_NAMES);
  const nextReply = (body: ChatRequestBody): EmulatedReply => {
    if (typeof options.replies === 'function') return options.replies(body);
    return queue.shift() ?? { text: `You said: ${lastUserText(body)}` };
  };
  const server = new VendorServer(options, (owner) => ({
    refuse(request) {
      const { url, headers } = request;
      if (!/\/v1\/(models|chat\/completions)$/.test(url.pathname)) return unknownAddress(request);
      const keyless = options.dialect === 'common' && headers.authorization === undefined;
      if (keyless || headers.authorization === `Bearer ${owner.apiKey}`) return undefined;
      return errorBody(401, { message: 'Incorrect API key provided', code: 'invalid_api_key' });
    },
    isWarmUp: asksForModels,
    http(request, text, response) {
      if (asksForModels(request)) {
        response.writeHead(200, { 'content-type': 'application/json' }).end('{"object":"list","data":[]}');
        return;
      }
      const { body, problem } = checkChatRequest(text, {
        dialect: options.dialect ?? 'openai',
        unknownFields: options.unknownFields ?? [],
      });
      if (request.method !== 'POST' || problem !== undefined) {
        owner.complain(problem ?? 'chat completions are asked for by POST');
        send(response, errorBody(400, { message: problem, type: 'invalid_request_error' }));
        return;
      }
      const exchange: ChatExchange = { body, text, aborted: false };
      exchanges.push(exchange);
      response.on('close', () => {
        exchange.aborted = !response.writableFinished;
      });
      stream(response, { ...nextReply(body), model: body.model }, owner);
    },
  }));
  await server.listen(options.port);
  return Object.assign(server, { exchanges });
}

function stream(
  response: ServerResponse,
  { model, ...reply }: EmulatedReply & { readonly model: string },
  owner: VendorServer,
): void {
  const failure = Buffer.from(`data: ${JSON.stringify({ error: reply.error ?? SERVER_ERROR })}\n\n`);
  streamChunks(response, { ...reply, chunks: encodeReply(reply, model), failure }, owner);
}

const SERVER_ERROR = { message: 'The server had an error', type: 'server_error' };

function send(response: ServerResponse, { status, headers, body }: Refusal): void {
  response.writeHead(status, headers).end(body);
}

function errorBody(status: number, error: Readonly<Record<string, unknown>>): Refusal {
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify({ error }) };
}

function lastUserText({ messages }: ChatRequestBody): string {
  return messages.findLast(({ role }) => role === 'user')?.content ?? '';
}
