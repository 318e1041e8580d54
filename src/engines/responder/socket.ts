// onMessage as a WebSocket: one connection per call, one message per turn, and the answer in pieces.
import type { WebSocket } from 'ws';
import { require } from '../../base/commonjs.js';
import { ProviderError } from '../../base/errors.js';
import type { MessageData } from './responder.js';

/** An answer is a few sentences: whoever sends more at once, or more than is taken, means something else. */
const MAX_MESSAGE_BYTES = 64 * 1024;
const MAX_WAITING_CHARS = 256 * 1024;

const HANDSHAKE_TIMEOUT_MS = 5000;

/** The answer to one message, while it is waited for. */
class Answer {
  #pieces: string[] = [];
  #waitingChars = 0;
  #isStarted = false;
  #isDone = false;
  #failure: ProviderError | undefined;
  #wake: () => void = () => {};

  get isOver(): boolean {
    return this.#isDone || this.#failure !== undefined;
  }

  delta(text: string): void {
    if (this.isOver || text === '') return;
    this.#isStarted = true;
    this.#pieces.push(text);
    this.#waitingChars += text.length;
    if (this.#waitingChars > MAX_WAITING_CHARS) this.fail('gave an answer that is too long');
    this.#wake();
  }

  /** `text` is the whole answer where no piece of it came before. */
  done(text: string): void {
    if (!this.#isStarted) this.delta(text);
    this.#isDone = true;
    this.#wake();
  }

  fail(sentence: string): void {
    if (!this.isOver) this.#failure = failure(sentence);
    this.#wake();
  }

  /** Ends the reading without a failure. */
  drop(): void {
    this.#pieces = [];
    this.#isDone = true;
    this.#wake();
  }

  /** @throws ProviderError */
  async *read(): AsyncGenerator<string> {
    for (;;) {
      const pieces = this.#pieces;
      this.#pieces = [];
      this.#waitingChars = 0;
      yield* pieces;
      if (this.#pieces.length > 0) continue;
      if (this.#failure !== undefined) throw this.#failure;
      if (this.#isDone) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}

export class ResponderSocket {
  readonly #url: URL;
  readonly #answers = new Map<string, Answer>();
  #socket: Promise<WebSocket> | undefined;
  #count = 0;
  #isClosed = false;

  constructor(url: URL) {
    this.#url = url;
  }

  /** Connects already, so that the first message does not wait. */
  warmUp(): void {
    this.#connect().catch(() => {
      // The first message tries again, and says what is wrong.
    });
  }

  /** Sends `{ type: 'message', id, … }` and gives what comes for it. An abort sends `{ type: 'cancel', id }`. @throws ProviderError */
  async *ask({ signal, ...data }: MessageData): AsyncGenerator<string> {
    const socket = await this.#connect();
    if (signal.aborted) return;
    this.#count += 1;
    const id = String(this.#count);
    const answer = new Answer();
    const cancel = () => {
      if (answer.isOver) return;
      // What comes late for it finds nobody.
      this.#answers.delete(id);
      send(socket, { type: 'cancel', id });
      answer.drop();
    };
    this.#answers.set(id, answer);
    signal.addEventListener('abort', cancel, { once: true });
    try {
      send(socket, { type: 'message', id, ...data });
      yield* answer.read();
    } finally {
      signal.removeEventListener('abort', cancel);
      cancel();
      this.#answers.delete(id);
    }
  }

  /** The call is over. Idempotent. */
  close(): void {
    this.#isClosed = true;
    const socket = this.#socket;
    this.#socket = undefined;
    socket?.then(
      (open) => open.close(1000),
      () => {},
    );
  }

  /** The connection that is up or coming up; a new one when it broke. @throws ProviderError */
  #connect(): Promise<WebSocket> {
    if (this.#isClosed) return Promise.reject(failure('was asked after the call'));
    this.#socket ??= this.#open();
    return this.#socket;
  }

  #open(): Promise<WebSocket> {
    const ws = require('ws') as typeof import('ws');
    const socket = new ws.WebSocket(this.#url, {
      handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
      maxPayload: MAX_MESSAGE_BYTES,
      perMessageDeflate: false,
      followRedirects: false,
    });
    const opening = new Promise<WebSocket>((resolve, reject) => {
      socket.on('open', () => resolve(socket));
      socket.on('error', () => {
        // The socket closes next, which is where it counts.
      });
      socket.on('close', () => {
        reject(failure(`at ${this.#url.host} could not be reached`));
        if (this.#socket === opening) this.#socket = undefined;
        for (const answer of this.#answers.values()) answer.fail('broke its connection off');
      });
      socket.on('message', (message, isBinary) => {
        if (!isBinary) this.#received(String(message));
      });
    });
    opening.catch(() => {});
    return opening;
  }

  /** What cannot be read, or is for nobody, is left aside. */
  #received(text: string): void {
    let message: unknown;
    try {
      message = JSON.parse(text);
    } catch {
      return;
    }
    if (typeof message !== 'object' || message === null) return;
    const { type, id, text: piece } = message as { type?: unknown; id?: unknown; text?: unknown };
    const answer = this.#answers.get(String(id));
    if (type === 'delta') answer?.delta(typeof piece === 'string' ? piece : '');
    else if (type === 'done' && (typeof piece === 'string' || piece === undefined)) answer?.done(piece ?? '');
    else if (type === 'done') answer?.fail('gave an answer that is not text');
    else if (type === 'error') answer?.fail('said that it failed');
  }
}

function send(socket: WebSocket, message: object): void {
  if (socket.readyState === socket.OPEN) socket.send(JSON.stringify(message), () => {});
}

function failure(sentence: string): ProviderError {
  return new ProviderError(`onMessage ${sentence}`, { status: null, retryable: true });
}
