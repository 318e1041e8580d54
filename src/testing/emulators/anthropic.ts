// Anthropic's Messages API on loopback: refuses what the vendor would refuse, and streams scripted replies event by event.
import { checkEmulatorOptions, queueReplies, REPLY_PACE } from './emulator-options.js';
import type { ServerResponse } from 'node:http';
import { type AnthropicRequestBody, checkAnthropicRequest, isVersion } from './anthropic-request-checks.js';
import { type EmulatedAnthropicReply, encodeAnthropicReply } from './anthropic-reply-encoding.js';
import { streamChunks } from './reply-stream.js';
import {
  asksForModels,
  type Emulator,
  type EmulatorOptions,
  type Refusal,
  unknownAddress,
  VendorServer,
} from './vendor-server.js';

export interface EmulateAnthropicOptions extends EmulatorOptions {
  /** The replies in order, or one for each request. @default repeats what the user said */
  readonly replies?:
    | readonly EmulatedAnthropicReply[]
    | ((body: AnthropicRequestBody) => EmulatedAnthropicReply);
}

export interface AnthropicExchange {
  readonly body: AnthropicRequestBody;
  /** The request as it came, byte for byte. */
  readonly text: string;
  /** The client closed the connection before the end. */
  aborted: boolean;
}

export interface AnthropicEmulator extends Emulator {
  /** Requests that were accepted. */
  readonly exchanges: readonly AnthropicExchange[];
}

const OPTION_NAMES: Readonly<Record<Exclude<keyof EmulateAnthropicOptions, keyof EmulatorOptions>, true>> = {
  replies: true,
};

const REPLY_NAMES: Readonly<Record<keyof EmulatedAnthropicReply, true>> = {
  ...REPLY_PACE,
  thinking: true,
  text: true,
  toolCalls: true,
  stopReason: true,
  usage: true,
  noise: true,
  error: true,
};

export async function emulateAnthropic(options: EmulateAnthropicOptions = {}): Promise<AnthropicEmulator> {
  checkEmulatorOptions(options, OPTION_NAMES, 'emulateAnthropic()');
  const exchanges: AnthropicExchange[] = [];
  const queue = queueReplies(options.replies, REPLY_NAMES);
  const nextReply = (body: AnthropicRequestBody): EmulatedAnthropicReply => {
    if (typeof options.replies === 'function') return options.replies(body);
    return queue.shift() ?? { text: `You said: ${lastUserText(body)}` };
  };
  const server = new VendorServer(options, (owner) => ({
    refuse(request) {
      const { url, headers } = request;
      if (!/\/v1\/(models|messages)$/.test(url.pathname))
        return { ...toError(404, 'not_found_error'), ...unknownAddress(request) };
      const isKnown =
        headers['x-api-key'] === owner.apiKey || headers.authorization === `Bearer ${owner.apiKey}`;
      if (!isKnown) return toError(401, 'authentication_error');
      if (isVersion(headers['anthropic-version'])) return undefined;
      owner.complain('anthropic-version: header is required');
      return toError(400, 'invalid_request_error');
    },
    isWarmUp: asksForModels,
    http(request, text, response) {
      if (asksForModels(request)) {
        response.writeHead(200, { 'content-type': 'application/json' }).end('{"data":[],"has_more":false}');
        return;
      }
      const { body, problem } = checkAnthropicRequest(text, request.headers['anthropic-version']);
      if (request.method !== 'POST' || body === undefined) {
        owner.complain(problem ?? 'messages are created by POST');
        const { status, headers, body: answer } = toError(400, 'invalid_request_error', problem);
        response.writeHead(status, headers).end(answer);
        return;
      }
      const exchange: AnthropicExchange = { body, text, aborted: false };
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
  { model, ...reply }: EmulatedAnthropicReply & { readonly model: string },
  owner: VendorServer,
): void {
  const error = reply.error ?? { type: 'api_error', message: 'Internal server error' };
  const data = JSON.stringify({ type: 'error', error });
  const failure = Buffer.from(`event: error\ndata: ${data}\n\n`);
  streamChunks(response, { ...reply, chunks: encodeAnthropicReply(reply, model), failure }, owner);
}

function toError(
  status: number,
  type: string,
  message = 'Refused by the emulator',
): Refusal & { body: string } {
  const body = JSON.stringify({ type: 'error', error: { type, message } });
  return { status, headers: { 'content-type': 'application/json' }, body };
}

function lastUserText({ messages }: AnthropicRequestBody): string {
  const last = messages.findLast(({ role }) => role === 'user');
  const blocks = typeof last?.content === 'string' ? [{ text: last.content }] : (last?.content ?? []);
  return blocks.map(({ text = '' }) => text).join(' ');
}
