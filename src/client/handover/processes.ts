// The servers of a data folder that are alive, by their control sockets.
import { lstat, rm } from 'node:fs/promises';
import { controlSocketsIn } from '../../base/control-socket.js';
import { Peer } from '../../server/peer.js';

const STATUS_MS = 2000;
/** A socket that is younger may be about to listen, in milliseconds. */
const YOUNG_MS = 5000;

/** `serving`: takes new calls. `draining`: only finishes those that are up. `handing-over`: another process takes them. */
export type ProcessState = 'serving' | 'draining' | 'handing-over';

export interface ProcessStatus {
  readonly nodeId: string;
  readonly pid: number;
  /** Of the package. */
  readonly version: string;
  /** Null on a server of the application's. */
  readonly port: number | null;
  readonly state: ProcessState;
  /** Calls that are up. */
  readonly calls: number;
  /** Epoch milliseconds. */
  readonly startedAt: number;
}

export interface FoundProcess {
  readonly path: string;
  readonly peer: Peer;
  readonly status: ProcessStatus;
}

export interface FoundProcesses {
  /** Longest in service first. */
  readonly found: readonly FoundProcess[];
  /** How many more listen, and say nothing in time: they stand still, or are too busy. */
  readonly silent: number;
}

/** Takes away what dead processes left. Never rejects. */
export async function findProcesses(
  dataDir: string,
  { timeoutMs = STATUS_MS } = {},
): Promise<FoundProcesses> {
  const paths = await controlSocketsIn(dataDir);
  const answers = await Promise.all(paths.map((path) => find(path, timeoutMs)));
  const found = answers.filter((each) => typeof each === 'object');
  return {
    found: found.sort((a, b) => a.status.startedAt - b.status.startedAt),
    silent: answers.filter((each) => each === 'silent').length,
  };
}

async function find(path: string, timeoutMs: number): Promise<FoundProcess | 'silent' | 'gone'> {
  const peer = new Peer(path);
  try {
    const { body } = await peer.ask('/status', { method: 'GET', timeoutMs });
    return { path, peer, status: JSON.parse(body) as ProcessStatus };
  } catch (error) {
    peer.close();
    const { code } = error as NodeJS.ErrnoException;
    // A socket file outlives its process.
    if (code === 'ECONNREFUSED') await removeOld(path).catch(() => {});
    return code === 'ABORT_ERR' ? 'silent' : 'gone';
  }
}

async function removeOld(path: string): Promise<void> {
  const { mtimeMs } = await lstat(path);
  // By the clock of the system, which dates files.
  if (Date.now() - mtimeMs > YOUNG_MS) await rm(path, { force: true });
}
