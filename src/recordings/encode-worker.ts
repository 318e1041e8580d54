// The thread in which recordings are made of tapes, so that no call's audio waits for that. `Encoder` says when it ends.
import { readlinkSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { basename } from 'node:path';
import { parentPort } from 'node:worker_threads';
import { encode, type EncodeJob } from './encode.js';

const port = parentPort;
if (port === null) throw new Error('this file runs in a worker thread only');

/** Calls come first where there is not enough for all. On Linux a thread has a priority of its own; elsewhere only the process has one. */
function yieldToCalls(): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(Number(basename(readlinkSync('/proc/thread-self'))), constants.priority.PRIORITY_LOW);
  } catch {
    // Without /proc it is a thread like the others.
  }
}

yieldToCalls();
port.on('message', (job: EncodeJob) => port.postMessage(encode(job)));
port.postMessage('ready');
