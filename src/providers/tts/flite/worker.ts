// The thread in which Flite speaks: one sentence after the other, so that synthesis never holds up a call's audio.
import { readFile } from 'node:fs/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { compileFlite, type FliteModule, runFlite } from './wasi.js';

/** What the thread is asked. */
export interface FliteRequest {
  readonly id: number;
  readonly voice: string;
  readonly text: string;
}

/** What it is started with: the path of the synthesizer, or what an earlier thread has compiled. */
export type FliteStart = string | FliteModule;

/** What it answers. `compiled` is for later threads: compiling takes much longer than all else that a thread begins with. After `failed` its owner ends it: a trapped instance proves nothing about the next. */
export type FliteReply =
  | { type: 'ready'; compiled: FliteModule }
  | { type: 'spoken'; id: number; pcm: Int16Array<ArrayBuffer>; sampleRateHz: number }
  | { type: 'failed'; id: number; why: string };

const port = parentPort;
if (port === null) throw new Error('this file runs in a worker thread only');

const start = workerData as FliteStart;
const module = typeof start === 'string' ? await compileFlite(await readFile(start)) : start;

port.on('message', ({ id, voice, text }: FliteRequest) => {
  try {
    const { pcm, sampleRateHz } = runFlite(module, voice, text);
    const owned = new Int16Array(pcm);
    const reply: FliteReply = { type: 'spoken', id, pcm: owned, sampleRateHz };
    port.postMessage(reply, [owned.buffer]);
  } catch (error) {
    // As text: not every error can be sent.
    const reply: FliteReply = { type: 'failed', id, why: String(error) };
    port.postMessage(reply);
  }
});
const ready: FliteReply = { type: 'ready', compiled: module };
port.postMessage(ready);
