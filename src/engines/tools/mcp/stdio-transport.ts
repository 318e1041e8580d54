// An MCP server that is a program: started with nothing in its environment but what was named, read with a bound, and ended with all it has started.
// The SDK has a transport of its own, which hands on variables of ours, and ends one process.
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import type { Clock } from '../../../base/clock.js';
import { pause } from '../../../base/pause.js';
import { McpFailure } from './failure.js';
import { MAX_MESSAGE_BYTES } from './http-fetch.js';
import type { McpProgram } from './options.js';
import { ReadAllowance } from './read-allowance.js';

/** How long it has to end once its standard input is closed, and again after each signal, in milliseconds. */
const GRACE_MS = 500;

/** How long what it wrote last may take to arrive once it is gone, in milliseconds: a program that it started can hold the pipe open. */
const LAST_WORDS_MS = 200;

export interface StdioTransportOptions extends McpProgram {
  readonly clock: Clock;
  /** Told each line of its standard error. */
  wrote(line: string): void;
  /** @throws for what is no message of the protocol */
  parse(value: unknown): JSONRPCMessage;
}

export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  /** By these two the SDK knows a program, which may say nothing to a question that it does not know. */
  readonly stderr = null;
  readonly pid = null;
  readonly #options: StdioTransportOptions;
  #child: ChildProcessByStdio<Writable, Readable, Readable> | undefined;
  /** Why it is given up; undefined while it is not. */
  failure: McpFailure | undefined;
  #gone: Promise<void> = Promise.resolve();
  #isGone = true;
  #isOver = false;
  readonly #allowance: ReadAllowance;
  #closing: Promise<void> | undefined;

  constructor(options: StdioTransportOptions) {
    this.#options = options;
    this.#allowance = new ReadAllowance(options.clock.now());
  }

  /** @throws McpFailure when it cannot be started */
  async start(): Promise<void> {
    const { command, args, cwd, env, clock, wrote } = this.#options;
    const child = spawn(command, args, {
      cwd,
      env,
      stdio: ['pipe', 'pipe', 'pipe'],
      // A process group of its own: an interrupt at the terminal is ours to handle, and what it starts is ended with it.
      detached: process.platform !== 'win32',
      windowsHide: true,
    });
    this.#child = child;
    this.#isGone = false;
    // Who has ended reads nothing, and says so by its exit.
    child.stdin.on('error', () => {});
    this.#gone = new Promise((resolve) => {
      const gone = () => {
        this.#isGone = true;
        resolve();
        this.#over();
      };
      child.once('close', gone);
      child.once('exit', () => {
        // What it has started has nobody to work for any more.
        kill(child, 'SIGKILL');
        clock.after(LAST_WORDS_MS, () => {
          child.stdout.destroy();
          child.stderr.destroy();
        });
      });
    });
    readLines(child.stdout, (line) => this.#read(line), {
      read: (bytes) => this.#count(bytes),
      tooLong: () => this.#fail(),
    });
    readLines(child.stderr, wrote);
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', (cause) => reject(new McpFailure('unreachable', { cause })));
    });
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const child = this.#child;
    if (child === undefined || this.#isGone || this.failure !== undefined)
      throw this.failure ?? new McpFailure('ended');
    this.#allowance.owe();
    child.stdin.write(`${JSON.stringify(message)}\n`);
  }

  /** Resolves when the program is gone, and what it has started. Idempotent, never rejects. */
  close(): Promise<void> {
    // The handle of a process is closed a turn of the loop behind its last word.
    this.#closing ??= this.#end().then(() => nextTurn());
    return this.#closing;
  }

  async #end(): Promise<void> {
    const child = this.#child;
    if (child === undefined || this.#isGone) return;
    child.stdin.end();
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      const waiting = new AbortController();
      await Promise.race([this.#gone, pause(this.#options.clock, GRACE_MS, waiting.signal)]);
      waiting.abort();
      if (this.#isGone) return;
      kill(child, signal);
    }
    await this.#gone;
  }

  #count(bytes: number): void {
    if (!this.#allowance.take(bytes, this.#options.clock.now())) this.#fail();
  }

  /** It writes more than anybody reads. */
  #fail(): void {
    if (this.failure !== undefined) return;
    this.failure = new McpFailure('too-large');
    this.#child?.stdout.destroy();
    void this.close();
    this.#over();
  }

  /** Nobody waits any more for what is under way. */
  #over(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.onclose?.();
  }

  /** What is no message is some print of the program's, and goes nowhere. */
  #read(line: string): void {
    let value: unknown;
    try {
      value = JSON.parse(line);
      this.onmessage?.(this.#options.parse(value));
    } catch {
      const id: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, 'id') : undefined;
      if (typeof id === 'number') this.onmessage?.(new McpFailure('unreadable').toAnswer(id));
    }
  }
}

/** Hands on whole lines, of those that are too long no more than the beginning. With `bounds`, what comes behind the last line break is none. */
function readLines(
  from: Readable,
  text: (line: string) => void,
  bounds?: { read(bytes: number): void; tooLong(): void },
): void {
  const decoder = new StringDecoder('utf8');
  let parts: string[] = [];
  let chars = 0;
  from.on('error', () => {});
  from.on('data', (chunk: Buffer) => {
    bounds?.read(chunk.length);
    const [rest = '', ...others] = decoder.write(chunk).split('\n');
    chars += rest.length;
    if (chars <= MAX_MESSAGE_BYTES) parts.push(rest);
    else bounds?.tooLong();
    for (const next of others) {
      if (from.destroyed) return;
      const line = parts.join('');
      parts = [next];
      chars = next.length;
      if (line.trim() !== '') text(line);
    }
  });
  if (bounds !== undefined) return;
  from.on('end', () => {
    const line = parts.join('');
    if (line.trim() !== '') text(line);
  });
}

/** Its whole process group, where there are such. */
function kill(
  child: { readonly pid?: number | undefined; kill(signal: NodeJS.Signals): boolean },
  signal: NodeJS.Signals,
): void {
  try {
    if (child.pid === undefined || process.platform === 'win32') child.kill(signal);
    else process.kill(-child.pid, signal);
  } catch {
    // It is gone already.
  }
}
