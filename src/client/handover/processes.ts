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

/** Longest in service first. Takes away what dead processes left. Never rejects. */
export async function findProcesses(dataDir: string): Promise<FoundProcess[]> {
  const found = await Promise.all((await controlSocketsIn(dataDir)).map(find));
  return found.filter((each) => each !== undefined).sort((a, b) => a.status.startedAt - b.status.startedAt);
}

async function find(path: string): Promise<FoundProcess | undefined> {
  const peer = new Peer(path);
  try {
    const { body } = await peer.ask('/status', { method: 'GET', timeoutMs: STATUS_MS });
    return { path, peer, status: JSON.parse(body) as ProcessStatus };
  } catch (error) {
    peer.close();
    // A socket file outlives its process.
    if ((error as NodeJS.ErrnoException).code === 'ECONNREFUSED') await removeOld(path).catch(() => {});
    return undefined;
  }
}

async function removeOld(path: string): Promise<void> {
  const { mtimeMs } = await lstat(path);
  // By the clock of the system, which dates files.
  if (Date.now() - mtimeMs > YOUNG_MS) await rm(path, { force: true });
}
