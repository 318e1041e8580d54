// A webhook that was captured as raw HTTP text: request line, headers, blank line, body. Read byte for byte.
import type { WebhookRequest } from '../../carriers/carrier.js';
import { UsageError } from '../context.js';

export interface CapturedRequest {
  readonly request: WebhookRequest;
  /** What may make the file differ from what was sent. */
  readonly notes: readonly string[];
}

/** @throws UsageError for what is no HTTP request. */
export function readCapturedRequest(file: Uint8Array): CapturedRequest {
  const text = Buffer.from(file).toString('latin1');
  const blank = /\r?\n\r?\n/.exec(text);
  const head = blank === null ? text.trimEnd() : text.slice(0, blank.index);
  const rest = blank === null ? new Uint8Array() : file.subarray(blank.index + blank[0].length);
  const [first = '', ...lines] = head.split(/\r?\n/);
  const [, method, target] = /^([A-Z]+) (\S+)(?: HTTP\/[\d.]+)?$/.exec(first.trim()) ?? [];
  if (method === undefined || target === undefined) {
    throw new UsageError(
      'The file of --request must begin with a request line, like POST /webhooks/carrier-a/voice HTTP/1.1.',
    );
  }
  const headers = readHeaders(lines);
  const { body, notes } = readBody(rest, headers);
  return { request: { method, target: toTarget(target), headers, rawBody: body }, notes };
}

function readHeaders(lines: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const [, name, value] = /^([^\s:]+):\s*(.*?)\s*$/.exec(line) ?? [];
    if (name === undefined || value === undefined) {
      throw new UsageError(
        `The file of --request has a malformed header in line ${lines.indexOf(line) + 2}.`,
      );
    }
    const known = headers[name.toLowerCase()];
    headers[name.toLowerCase()] = known === undefined ? value : `${known}, ${value}`;
  }
  return headers;
}

/** Some tools write the whole URL into the request line. */
function toTarget(target: string): string {
  return target.replace(/^https?:\/\/[^/?#]+/i, '') || '/';
}

function readBody(
  rest: Uint8Array,
  headers: Readonly<Record<string, string>>,
): { body: Uint8Array; notes: string[] } {
  const notes: string[] = [];
  if (headers['transfer-encoding'] !== undefined || headers['content-encoding'] !== undefined) {
    notes.push('the body was sent encoded (Transfer-Encoding or Content-Encoding): save it decoded');
  }
  const length = Number(headers['content-length'] ?? Number.NaN);
  if (!Number.isSafeInteger(length)) return { body: rest, notes };
  const extra = Buffer.from(rest.subarray(length)).toString('latin1');
  if (/^[\r\n]*$/.test(extra)) {
    if (rest.length < length) notes.push(lengthNote(rest.length, length));
    return { body: rest.subarray(0, length), notes };
  }
  return { body: rest, notes: [...notes, lengthNote(rest.length, length)] };
}

function lengthNote(found: number, said: number): string {
  return `the body in the file has ${found} bytes and Content-Length says ${said}: an editor may have changed it`;
}
