// The way to an MCP server for as long as somebody may need it: one session at a time, opened when it is asked for, and opened anew after it was lost,
// with a growing pause.
import type { CallToolResult } from '@modelcontextprotocol/client';
import type { Clock, Timer } from '../../../base/clock.js';
import { ToolError } from '../tool.js';
import { McpFailure, type McpTrouble } from './failure.js';
import { isForgotten, type ListedTool, type McpSession } from './session.js';

/** Before the server is asked again, after a failure and after each further one, in milliseconds. */
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 30_000;

export interface McpLinkOptions {
  /** Begins a session, once the application has said with which headers. `opening` leaves nothing behind when `signal` aborts. @throws anything */
  open(signal: AbortSignal): Promise<{ readonly opening: Promise<McpSession> }>;
  /** Longest time for that, in milliseconds. */
  readonly openWithinMs: number;
  readonly clock: Clock;
  /** Hears of each failure. `retryAfterMs`: how long the server is left alone. */
  onFailed(failure: McpLinkFailure): void;
}

export interface McpLinkFailure {
  readonly trouble: McpTrouble;
  /** Of the HTTP answer, where there was one. */
  readonly status?: number | null;
  readonly retryAfterMs: number;
}

export class McpLink {
  readonly #options: McpLinkOptions;
  #session: McpSession | undefined;
  #opening: Promise<McpSession> | undefined;
  /** Since the last answer. */
  #failures = 0;
  #retryAt = Number.NEGATIVE_INFINITY;
  readonly #over = new AbortController();
  /** Sessions that are being closed, and those that are being opened. */
  readonly #ends = new Set<Promise<void>>();

  constructor(options: McpLinkOptions) {
    this.#options = options;
  }

  /**
   * Runs a tool of the server. What `signal` aborts is given up; a server that then shows no sign of life is left, and the next call has a new session.
   * @throws ToolError
   */
  async call(tool: ListedTool, args: Record<string, unknown>, signal: AbortSignal): Promise<CallToolResult> {
    let session = await this.#ready(signal);
    try {
      try {
        return await this.#ask(session, tool, args, signal);
      } catch (error) {
        if (!isForgotten(error) || signal.aborted) throw error;
        // The server has begun anew: it has not done what it was asked for, and is asked once more.
        this.#leave(session);
        session = await this.#ready(signal);
        return await this.#ask(session, tool, args, signal);
      }
    } catch (error) {
      if (signal.aborted) void this.#doubt(session);
      else if (error instanceof McpFailure && error.trouble !== 'refused') this.#lost(session, error);
      throw error instanceof McpFailure ? error.toToolError() : error;
    }
  }

  /** The session that there is, or a new one. @throws McpFailure where there is none, ConfigError */
  async session(): Promise<McpSession> {
    if (this.#over.signal.aborted) throw new McpFailure('unreachable');
    if (this.#session !== undefined) return this.#session;
    if (this.#opening === undefined) {
      if (this.#options.clock.now() < this.#retryAt) throw new McpFailure('unreachable');
      this.#opening = this.#open().finally(() => {
        this.#opening = undefined;
      });
    }
    return this.#opening;
  }

  /** Nothing is left when it resolves. Idempotent, never rejects. */
  async close(): Promise<void> {
    this.#over.abort();
    await this.#opening?.catch(() => {});
    if (this.#session !== undefined) this.#leave(this.#session);
    await Promise.all(this.#ends);
  }

  async #ask(
    session: McpSession,
    tool: ListedTool,
    args: Record<string, unknown>,
    signal: AbortSignal,
  ): Promise<CallToolResult> {
    const result = await session.call(tool, args, signal);
    this.#failures = 0;
    return result;
  }

  /** Who is aborted does not wait; others may wait for the same session. @throws ToolError */
  async #ready(signal: AbortSignal): Promise<McpSession> {
    try {
      return await unlessAborted(this.session(), signal);
    } catch (error) {
      // Why it could not be opened is in the log. What code of the application threw is its own affair.
      throw error instanceof McpFailure ? new McpFailure('unreachable').toToolError() : error;
    }
  }

  async #open(): Promise<McpSession> {
    const { clock, openWithinMs, open } = this.#options;
    const abort = new AbortController();
    const cancel = () => abort.abort();
    this.#over.signal.addEventListener('abort', cancel, { once: true });
    const timer: Timer = clock.after(openWithinMs, cancel);
    try {
      const begun = open(abort.signal).then(({ opening }) => {
        const close = (session: McpSession) => (abort.signal.aborted ? session.close() : undefined);
        this.#track(opening.then(close, () => {}));
        return opening;
      });
      const session = await unlessAborted(begun, abort.signal);
      session.onLost = () => this.#lost(session, new McpFailure('ended'));
      this.#session = session;
      return session;
    } catch (error) {
      if (error instanceof McpFailure || error instanceof ToolError) this.#failed(error);
      throw error;
    } finally {
      timer.cancel();
      this.#over.signal.removeEventListener('abort', cancel);
    }
  }

  /** Nothing came of a request to it. */
  async #doubt(session: McpSession): Promise<void> {
    if (this.#session !== session || this.#over.signal.aborted) return;
    if (!(await session.isAlive())) this.#lost(session, new McpFailure('unreachable'));
  }

  #lost(session: McpSession, failure: McpFailure): void {
    if (this.#session !== session) return;
    this.#leave(session);
    this.#failed(failure);
  }

  #failed(error: unknown): void {
    if (this.#over.signal.aborted) return;
    const retryAfterMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** this.#failures);
    this.#failures += 1;
    this.#retryAt = this.#options.clock.now() + retryAfterMs;
    const known =
      error instanceof McpFailure
        ? { trouble: error.trouble, status: error.status }
        : ({ trouble: 'refused' } as const);
    this.#options.onFailed({ ...known, retryAfterMs });
  }

  #leave(session: McpSession): void {
    if (this.#session === session) this.#session = undefined;
    this.#track(session.close());
  }

  #track(ending: Promise<unknown>): void {
    const end: Promise<void> = ending.then(() => void this.#ends.delete(end));
    this.#ends.add(end);
  }
}

/** Whatever hangs, nobody waits for it once `signal` aborts. @throws McpFailure then */
function unlessAborted(opening: Promise<McpSession>, signal: AbortSignal): Promise<McpSession> {
  return new Promise((resolve, reject) => {
    const leave = () => reject(new McpFailure('unreachable'));
    if (signal.aborted) leave();
    signal.addEventListener('abort', leave, { once: true });
    opening
      .finally(() => signal.removeEventListener('abort', leave))
      .then((session) => (signal.aborted ? leave() : resolve(session)), reject);
  });
}
