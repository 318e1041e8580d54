// The thread in which recordings are made of tapes, so that no call's audio waits for that. It ends with what it was asked.
import { parentPort } from 'node:worker_threads';
import { encode, type EncodeJob } from './encode.js';

const port = parentPort;
if (port === null) throw new Error('this file runs in a worker thread only');

port.on('message', (job: EncodeJob) => port.postMessage(encode(job)));
port.postMessage('ready');
