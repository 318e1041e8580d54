// Messages between nodes, past the broker: sealed with the secret of the cluster, for one receiver, each taken once. Over HTTP or HTTPS, to the address of
// the receiver; the server there gives what comes to `receive`, which reads nothing before it knows the sender.
import { Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { certificateComplaint } from '../base/certificate-complaint.js';
import type { Clock } from '../base/clock.js';
import { ClusterError, OffhookError } from '../base/errors.js';
import { pause } from '../base/pause.js';
import { createSharedAbort } from '../base/shared-abort.js';
import { fromTold, type ToldError, toTold } from '../base/told-error.js';
import {
  type AnswerNode,
  type ClusterNode,
  NODE_PATH,
  NODE_PROOF_HEADER,
  type NodeAnswer,
  type NodeDelivery,
  type NodeMessage,
} from './coordinator.js';
import { ReplayWindow } from './replay-window.js';
import type { ClusterSeal, SealedAbout } from './seal.js';

/** Longest message or answer, in bytes: the facts of a call of hours. */
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
/** What is under way here at a time, as the heads of messages have it. Short ones, by which a node shows that it is there, do not count. */
const MAX_READING_BYTES = 4 * MAX_MESSAGE_BYTES;
const SHORT_BYTES = 64 * 1024;
/** Nodes whose numbers are remembered: all, and those of many restarts. */
const MAX_RECEIVERS = 10_000;
/** A body that has not come by then is given up, in milliseconds: whoever sends one that long does not wait for longer. */
const BODY_MS = 5000;

/** What comes before the sealed part, for the receiver to know the sender and the key. All of it but the length is bound to that part. */
interface Head {
  readonly from: string;
  readonly to: string;
  /** Counted up by the sender, for this receiver: none is taken twice. */
  readonly number: number;
  readonly type: string;
  readonly callId: string | null;
  /** Of the sealed part, in bytes. */
  readonly length: number;
}

/** As it goes to the other node. */
interface SealedMessage {
  readonly proof: string;
  readonly sealed: Buffer;
}

/** What is sealed in an answer. */
type Answered = { readonly body: string } | { readonly error: ToldError };

export interface NodeMessagesParts {
  readonly nodeId: string;
  readonly seal: ClusterSeal;
  readonly clock: Clock;
}

const REFUSED = { malformed: 400, foreign: 403, again: 409, long: 413, elsewhere: 421, busy: 503 } as const;

export class NodeMessages {
  readonly #parts: NodeMessagesParts;
  readonly #window = new ReplayWindow();
  readonly #http = new HttpAgent({ keepAlive: true });
  readonly #https = new HttpsAgent({ keepAlive: true });
  readonly #closing = createSharedAbort();
  #sent = 0;
  /** Of the last message to each node: what goes to the others moves no window on. */
  readonly #numbers = new Map<string, number>();
  /** In bytes. */
  #reading = 0;

  constructor(parts: NodeMessagesParts) {
    this.#parts = parts;
  }

  /** Rejects with what the other node throws, and with ClusterError where it is not reached, does not answer in time or is another one by now. */
  async send(to: ClusterNode, { type, callId, body }: NodeMessage, timeoutMs: number): Promise<string> {
    const { nodeId, seal, clock } = this.#parts;
    const about = { from: nodeId, to: to.nodeId, number: this.#numberTo(to.nodeId), type, callId };
    const sealed = seal.seal(aboutMessage(about), Buffer.from(body, 'utf8'), clock.wallNow());
    const head: Head = { ...about, length: sealed.length };
    const proof = provenHead(head, seal);
    const { status, body: answer } = await this.#exchange(to.address, { proof, sealed }, timeoutMs);
    const opened = status === 200 ? seal.open(aboutAnswer(head), answer) : undefined;
    if (opened === undefined) throw new ClusterError(whyNotTaken(status, to));
    const said = JSON.parse(opened.plain.toString('utf8')) as Answered;
    if ('error' in said) throw fromTold(said.error);
    return said.body;
  }

  /** Answers what has come to the address of this node, from anybody. Never rejects. */
  async receive({ proof, read }: NodeDelivery, answer: AnswerNode): Promise<NodeAnswer> {
    const { nodeId, seal, clock } = this.#parts;
    const head = readHead(proof, seal);
    if (head === undefined) return refusal('foreign');
    const { to, type, callId, from, number, length } = head;
    if (to !== nodeId) return refusal('elsewhere');
    if (length > MAX_MESSAGE_BYTES) return refusal('long');
    const isShort = length <= SHORT_BYTES;
    if (!isShort && this.#reading + length > MAX_READING_BYTES) return refusal('busy');
    // Before the body: who sees a message on its way cannot have it read again and again.
    if (!this.#window.take(from, number)) return refusal('again');
    const sealed = await this.#read(() => read(length), isShort ? 0 : length);
    const opened = sealed && seal.open(aboutMessage(head), sealed);
    if (opened === undefined) return refusal('malformed');
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

  /** None is above how many were sent, so a node that is forgotten goes on above its last one. */
  #numberTo(nodeId: string): number {
    this.#sent += 1;
    const last = this.#numbers.get(nodeId);
    const number = last === undefined ? this.#sent : last + 1;
    this.#numbers.delete(nodeId);
    this.#numbers.set(nodeId, number);
    const [oldest] = this.#numbers.keys();
    if (this.#numbers.size > MAX_RECEIVERS && oldest !== undefined) this.#numbers.delete(oldest);
    return number;
  }

  /** Undefined for a body that does not come as its head says. */
  async #read(read: () => Promise<Uint8Array>, bytes: number): Promise<Uint8Array | undefined> {
    const isRead = new AbortController();
    const late = pause(this.#parts.clock, BODY_MS, isRead.signal).then(() => undefined);
    this.#reading += bytes;
    try {
      return await Promise.race([read(), late]);
    } catch {
      return undefined;
    } finally {
      this.#reading -= bytes;
      isRead.abort();
    }
  }

  /**
   * Again on another connection where the one that was kept had just been ended: a message that was taken all the same is not taken again. Rejects with
   * ClusterError.
   */
  async #exchange(address: string, message: SealedMessage, timeoutMs: number): Promise<NodeAnswer> {
    const { clock } = this.#parts;
    const until = clock.now() + timeoutMs;
    for (;;) {
      const answer = await this.#request(address, message, until - clock.now());
      if (answer !== 'connection was over') return answer;
    }
  }

  #request(
    address: string,
    { proof, sealed }: SealedMessage,
    timeoutMs: number,
  ): Promise<NodeAnswer | 'connection was over'> {
    const { clock } = this.#parts;
    const url = new URL(NODE_PATH, address);
    const isSecure = url.protocol === 'https:';
    return new Promise((resolve, reject) => {
      const fail = (cause: unknown) => {
        timer.cancel();
        const complaint = certificateComplaint(cause);
        const message =
          complaint === undefined
            ? 'The other node did not answer.'
            : `The other node cannot be trusted. ${complaint}`;
        reject(new ClusterError(message, { cause }));
      };
      const options = {
        method: 'POST',
        agent: isSecure ? this.#https : this.#http,
        headers: {
          'content-type': 'application/octet-stream',
          'content-length': sealed.length,
          [NODE_PROOF_HEADER]: proof,
        },
        signal: this.#closing.signal,
      };
      const request = (isSecure ? requestHttps : requestHttp)(url, options, (response) => {
        readAll(response).then((body) => {
          timer.cancel();
          resolve({ status: response.statusCode ?? 0, body });
        }, fail);
      });
      const timer = clock.after(timeoutMs, () => request.destroy(new Error('no answer in time')));
      request.on('error', (cause: NodeJS.ErrnoException) => {
        if (!request.reusedSocket || !['ECONNRESET', 'EPIPE'].includes(cause.code ?? '')) fail(cause);
        else {
          timer.cancel();
          resolve('connection was over');
        }
      });
      request.end(sealed);
    });
  }
}

function aboutMessage({ from, to, number, type, callId }: Omit<Head, 'length'>): SealedAbout {
  return { type: JSON.stringify(['message', from, to, type]), call: callId ?? '', term: number };
}

/** To this message, and no other. */
function aboutAnswer({ from, to, number, callId }: Head): SealedAbout {
  return { type: JSON.stringify(['answer', from, to]), call: callId ?? '', term: number };
}

/** As the header carries it: head and proof, each as base64url. */
function provenHead(head: Head, seal: ClusterSeal): string {
  const text = Buffer.from(JSON.stringify(head), 'utf8').toString('base64url');
  return `${text}.${seal.proofOf(text)}`;
}

/** Undefined for one that nobody of this cluster has made. Only what a node has written gets as far as the parser. */
function readHead(proven: string, seal: ClusterSeal): Head | undefined {
  const [text = '', proof = ''] = proven.split('.');
  if (!seal.isProven(text, proof)) return undefined;
  return JSON.parse(Buffer.from(text, 'base64url').toString('utf8')) as Head;
}

function toSaid(error: unknown): ToldError {
  if (OffhookError.isInstance(error)) return toTold(error);
  return { code: 'INTERNAL', message: 'The other node failed.' };
}

function whyNotTaken(status: number, { nodeId, address }: ClusterNode): string {
  if (status === REFUSED.elsewhere)
    return `Another server answers at ${address}: each needs an address of its own.`;
  const isOfNode = status !== REFUSED.foreign && Object.values<number>(REFUSED).includes(status);
  if (isOfNode) return `The node ${nodeId} did not take the message (status ${status}).`;
  return `What answers at ${address} is no node of this cluster (status ${status}).`;
}

function refusal(why: keyof typeof REFUSED): NodeAnswer {
  return { status: REFUSED[why], body: Buffer.alloc(0) };
}

async function readAll(response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_MESSAGE_BYTES) throw new Error('the answer is too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
