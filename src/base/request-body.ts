// Bodies of requests: read up to a limit, and not a byte further than is needed. One that nobody reads is not let in either.
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { RequestError } from './errors.js';

/** What is left of a shorter body is read off after the answer, so that its connection can be used again. */
const SMALL_BYTES = 64 * 1024;
/** An answer before the end of a body may be cut off with its connection: the client has so long to read it, by the real time of its network. */
const LINGER_MS = 1000;

/**
 * Reads a whole body. @throws RequestError REQUEST_TOO_LARGE as soon as it says, or turns out, to be over the limit;
 * REQUEST_INVALID for one that is compressed or ends too early. To be answered within `answerEarly`.
 */
export async function readBody(
  request: IncomingMessage,
  response: ServerResponse,
  maxBytes: number,
): Promise<Buffer> {
  const { 'content-length': length = '0', 'content-encoding': encoding = 'identity' } = request.headers;
  const tooLarge = () =>
    new RequestError('REQUEST_TOO_LARGE', `The body is larger than ${maxBytes} bytes: send less at a time.`);
  if (Number(length) > maxBytes) throw tooLarge();
  if (encoding.toLowerCase() !== 'identity')
    throw new RequestError('REQUEST_INVALID', 'The body must not be compressed.');
  if (waitsForGo(request)) response.writeContinue();
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    let isWhole = false;
    const take = (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= maxBytes) {
        chunks.push(chunk);
        return;
      }
      chunks.length = 0;
      request.off('data', take).pause();
      reject(tooLarge());
    };
    request.on('data', take);
    request.on('end', () => {
      isWhole = true;
      const [only] = chunks;
      // Nearly every body comes in one piece.
      resolve(only !== undefined && chunks.length === 1 ? only : Buffer.concat(chunks));
    });
    request.on('error', reject);
    request.on('close', () => {
      if (!isWhole) reject(new RequestError('REQUEST_INVALID', 'The body ended too early.'));
    });
  });
}

/**
 * Has `listener` answer requests before their bodies have come. Left alone, Node reads off whatever a body still brings once its request is
 * answered; here a long one ends with its connection. For `request` and `checkContinue` of a server alike.
 */
export function answerEarly(listener: RequestListener): RequestListener {
  return (request, response) => {
    if (mayBeLong(request)) endWithConnection(request, response);
    listener(request, response);
  };
}

function waitsForGo({ headers }: IncomingMessage): boolean {
  return headers.expect?.toLowerCase() === '100-continue';
}

function mayBeLong(request: IncomingMessage): boolean {
  const { 'content-length': length = '0', 'transfer-encoding': coding } = request.headers;
  return coding !== undefined || Number(length) > SMALL_BYTES || waitsForGo(request);
}

/** The answer goes out whole, and its end, with which Node reads on, follows in a moment, with that of the connection. */
function endWithConnection(request: IncomingMessage, response: ServerResponse): void {
  const end = response.end.bind(response) as (...rest: unknown[]) => ServerResponse;
  response.end = ((...rest: unknown[]) => {
    if (request.complete) return end(...rest);
    if (response.headersSent) {
      response.once('finish', () => request.destroy());
      return end(...rest);
    }
    const [chunk, encoding] = rest;
    const hasBody = typeof chunk === 'string' || chunk instanceof Uint8Array;
    const isPlain = !response.hasHeader('Content-Length') && !response.hasHeader('Transfer-Encoding');
    const coding = typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8';
    if (isPlain) response.setHeader('Content-Length', hasBody ? Buffer.byteLength(chunk, coding) : 0);
    response.setHeader('Connection', 'close');
    if (hasBody) response.write(chunk, coding);
    else response.flushHeaders();
    const timer = setTimeout(() => end(), LINGER_MS);
    response.once('close', () => clearTimeout(timer));
    return response;
  }) as ServerResponse['end'];
}
