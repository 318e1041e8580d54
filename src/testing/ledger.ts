// What a task has opened and not closed: timers, sockets, requests, workers, processes. Counts whatever a task begins, however late and
// whether or not it keeps the process alive; what others open meanwhile, like emulators in the same process, it leaves out.
import { AsyncResource, createHook, executionAsyncId } from 'node:async_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Something that is open. */
export interface LedgerEntry {
  readonly kind: 'timer' | 'socket' | 'server' | 'request' | 'worker' | 'process' | 'watcher';
  /** Its name in Node. */
  readonly type: string;
  /** The stack that opened it; empty for a connection that was accepted. */
  readonly openedAt: string;
}

export interface Ledger extends Disposable {
  /** Runs a task. What it and all that follows from it open is on the ledger. */
  run<T>(task: () => T): T;
  /** What is open now. Gives the event loop the turn in which Node reports what was just closed. */
  read(): Promise<readonly LedgerEntry[]>;
  /** Stops counting. Idempotent. */
  close(): void;
}

/**
 * Names of Node. Not among them is what cannot be cut, and ends by itself: a look-up of a name, a read of a file. A TLS connection is its
 * TCP socket.
 */
const KINDS: Readonly<Record<string, LedgerEntry['kind']>> = {
  Timeout: 'timer',
  TCPWRAP: 'socket',
  PIPEWRAP: 'socket',
  UDPWRAP: 'socket',
  TCPSERVERWRAP: 'server',
  PIPESERVERWRAP: 'server',
  TCPCONNECTWRAP: 'request',
  PIPECONNECTWRAP: 'request',
  HTTPCLIENTREQUEST: 'request',
  HTTPINCOMINGMESSAGE: 'request',
  WORKER: 'worker',
  PROCESSWRAP: 'process',
  FSEVENTWRAP: 'watcher',
  STATWATCHER: 'watcher',
  SIGNALWRAP: 'watcher',
};

/** The date in the headers of answers is Node's own, and one for the process: it is kept for up to a second. */
const DATE_OF_NODE = 'at utcDate (node:internal/http';

/** Turns of the loop after which handles that were closed in this one are reported: theirs, that of the report, and one to spare. */
const REPORT_TURNS = 3;

/** Counts from now on. While one is open promises are slower: not for production. */
export function openLedger(): Ledger {
  return new HookLedger();
}

class HookLedger implements Ledger {
  /** Ids of all that the tasks have begun: whatever is begun from one of these is theirs, too. */
  readonly #family = new Set<number>();
  readonly #open = new Map<number, LedgerEntry>();
  readonly #hook = createHook({
    init: (id, type, triggerId) => this.#opened(id, type, triggerId),
    destroy: (id) => {
      this.#open.delete(id);
      this.#family.delete(id);
    },
  }).enable();

  run<T>(task: () => T): T {
    const root = new AsyncResource('OffhookLedger', { requireManualDestroy: true });
    this.#family.add(root.asyncId());
    return root.runInAsyncScope(task);
  }

  async read(): Promise<readonly LedgerEntry[]> {
    for (let turn = 0; turn < REPORT_TURNS; turn += 1) await nextTurn();
    return [...this.#open.values()];
  }

  close(): void {
    this.#hook.disable();
    this.#open.clear();
    this.#family.clear();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  #opened(id: number, type: string, triggerId: number): void {
    // What opens an accepted connection is no code, but its server. Elsewhere code counts: a promise that many wait for is not theirs.
    if (!this.#family.has(executionAsyncId() || triggerId)) return;
    this.#family.add(id);
    const kind = KINDS[type];
    if (kind === undefined) return;
    const { stack = '' } = new Error();
    if (stack.includes(DATE_OF_NODE)) return;
    // Without the first line, and those of this file and of the hook.
    this.#open.set(id, { kind, type, openedAt: stack.split('\n').slice(3).join('\n') });
  }
}
