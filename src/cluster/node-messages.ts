// Messages between nodes, past the broker: sealed with the secret of the cluster, for one receiver, each taken once. Over HTTP or HTTPS, to the address of
// the receiver; the server there gives what comes to `receive`.
import { Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import type { Clock } from '../base/clock.js';
import { ClusterError, type ErrorCode, OffhookError } from '../base/errors.js';
import type { AnswerNode, ClusterNode, NodeMessage } from './coordinator.js';
import { ReplayWindow } from './replay-window.js';
import type { ClusterSeal, SealedAbout } from './seal.js';

/** Where a node takes messages of others. */
export const NODE_PATH = '/cluster';
/** Longest message or answer, in bytes: the facts of a call of hours. */
export const MAX_NODE_MESSAGE_BYTES = 16 * 1024 * 1024;
const MAX_HEAD_BYTES = 1024;

/** What stands before the sealed part, for the receiver to know the key. All of it is bound to that part. */
interface Head {
  readonly from: string;
  readonly to: string;
  /** Counted up by the sender: none is taken twice. */
  readonly number: number;
  readonly type: string;
  readonly callId: string | null;
}

/** An answer as HTTP carries it. */
export interface NodeAnswer {
  readonly status: number;
  readonly body: Buffer;
}

/** What is sealed in an answer. */
type Answered =
  | { readonly body: string }
  | { readonly error: { readonly code: ErrorCode; readonly message: string } };

export interface NodeMessagesParts {
  readonly nodeId: string;
  readonly seal: ClusterSeal;
  readonly clock: Clock;
}

const REFUSED = { malformed: 400, foreign: 403, again: 409, elsewhere: 421 } as const;

export class NodeMessages {
  readonly #parts: NodeMessagesParts;
  readonly #window = new ReplayWindow();
  readonly #http = new HttpAgent({ keepAlive: true });
  readonly #https = new HttpsAgent({ keepAlive: true });
  readonly #closing = new AbortController();
  #number = 0;

  constructor(parts: NodeMessagesParts) {
    this.#parts = parts;
  }

  /** Rejects with what the other node throws, and with ClusterError where it is not reached, does not answer in time or is another one by now. */
  async send(to: ClusterNode, { type, callId, body }: NodeMessage, timeoutMs: number): Promise<string> {
    const { nodeId, seal, clock } = this.#parts;
    this.#number += 1;
    const head: Head = { from: nodeId, to: to.nodeId, number: this.#number, type, callId };
    const sealed = seal.seal(aboutMessage(head), Buffer.from(body, 'utf8'), clock.wallNow());
    const { status, body: answer } = await this.#exchange(to.address, withHead(head, sealed), timeoutMs);
    const opened = status === 200 ? seal.open(aboutAnswer(head), answer) : undefined;
    if (opened === undefined)
      throw new ClusterError(`The node ${to.nodeId} did not take the message (status ${status}).`);
    const said = JSON.parse(opened.plain.toString('utf8')) as Answered;
    if ('error' in said) throw new OffhookError(said.error.code, said.error.message);
    return said.body;
  }

  /** Answers what has come to the address of this node, from anybody. Never rejects. */
  async receive(bytes: Uint8Array, answer: AnswerNode): Promise<NodeAnswer> {
    const { nodeId, seal, clock } = this.#parts;
    const parted = partHead(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    if (parted === undefined) return refusal('malformed');
    const { head, sealed } = parted;
    if (head.to !== nodeId) return refusal('elsewhere');
    const opened = seal.open(aboutMessage(head), sealed);
    if (opened === undefined) return refusal('foreign');
    if (!this.#window.take(head.from, head.number)) return refusal('again');
    const { type, callId, from } = head;
    const message = { type, callId, body: opened.plain.toString('utf8') };
    const said = await answer(message, from).then(
      (body): Answered => ({ body }),
      (error: unknown): Answered => ({ error: toSaid(error) }),
    );
    const plain = Buffer.from(JSON.stringify(said), 'utf8');
    return { status: 200, body: seal.seal(aboutAnswer(head), plain, clock.wallNow()) };
  }

  /** Idempotent. What is under way is given up. */
  close(): void {
    this.#closing.abort();
    this.#http.destroy();
    this.#https.destroy();
  }

  #exchange(address: string, message: Buffer, timeoutMs: number): Promise<NodeAnswer> {
    const { clock } = this.#parts;
    const url = new URL(NODE_PATH, address);
    const isSecure = url.protocol === 'https:';
    return new Promise((resolve, reject) => {
      const fail = (cause: unknown) => {
        timer.cancel();
        reject(new ClusterError('The other node did not answer.', { cause }));
      };
      const options = {
        method: 'POST',
        agent: isSecure ? this.#https : this.#http,
        headers: { 'content-type': 'application/octet-stream', 'content-length': message.length },
        signal: this.#closing.signal,
      };
      const request = (isSecure ? requestHttps : requestHttp)(url, options, (response) => {
        readAll(response).then((body) => {
          timer.cancel();
          resolve({ status: response.statusCode ?? 0, body });
        }, fail);
      });
      const timer = clock.after(timeoutMs, () => request.destroy(new Error('no answer in time')));
      request.on('error', fail);
      request.end(message);
    });
  }
}

function aboutMessage({ from, to, number, type, callId }: Head): SealedAbout {
  return { type: JSON.stringify(['message', from, to, type]), call: callId ?? '', term: number };
}

/** To this message, and no other. */
function aboutAnswer({ from, to, number, callId }: Head): SealedAbout {
  return { type: JSON.stringify(['answer', from, to]), call: callId ?? '', term: number };
}

function withHead(head: Head, sealed: Buffer): Buffer {
  const text = Buffer.from(JSON.stringify(head), 'utf8');
  const length = Buffer.alloc(2);
  length.writeUInt16BE(text.length);
  return Buffer.concat([length, text, sealed]);
}

/** Undefined for what is no message. */
function partHead(bytes: Buffer): { head: Head; sealed: Buffer } | undefined {
  if (bytes.length < 2) return undefined;
  const length = bytes.readUInt16BE();
  if (length > MAX_HEAD_BYTES || bytes.length < 2 + length) return undefined;
  try {
    const head: unknown = JSON.parse(bytes.subarray(2, 2 + length).toString('utf8'));
    return isHead(head) ? { head, sealed: bytes.subarray(2 + length) } : undefined;
  } catch {
    return undefined;
  }
}

function isHead(value: unknown): value is Head {
  if (typeof value !== 'object' || value === null) return false;
  const { from, to, number, type, callId } = value as Partial<Record<keyof Head, unknown>>;
  const isText = [from, to, type].every((each) => typeof each === 'string');
  return isText && Number.isSafeInteger(number) && (callId === null || typeof callId === 'string');
}

function toSaid(error: unknown): { code: ErrorCode; message: string } {
  if (OffhookError.isInstance(error)) return { code: error.code, message: error.message };
  return { code: 'INTERNAL', message: 'The other node failed.' };
}

function refusal(why: keyof typeof REFUSED): NodeAnswer {
  return { status: REFUSED[why], body: Buffer.alloc(0) };
}

async function readAll(response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_NODE_MESSAGE_BYTES) throw new Error('the answer is too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
