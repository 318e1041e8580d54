import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { platformNames } from '../../src/transcoder/native.js';
import { noise, subjects } from './support.js';

const native = subjects.find(({ title }) => title === 'native');
const folder = fileURLToPath(new URL('../../crates/transcoder-napi/', import.meta.url));

/** A thread with the addon and nothing else: it leaves a resampler behind, and so unloads the addon while it is held. */
const BODY = `
  const { parentPort, workerData } = require('node:worker_threads');
  const { existsSync } = require('node:fs');
  const addon = require(workerData.places.find(existsSync));
  const before = addon.resamplerCount();
  const handle = addon.resamplerCreate(8000, 16000, 0xffff);
  let stale = '';
  try { addon.resamplerReset(workerData.handle + handle); } catch (error) { stale = error.message; }
  const output = new Int16Array(workerData.input.length * 2);
  for (let turn = 0; turn < 200; turn++) addon.resamplerProcess(handle, workerData.input, output);
  addon.resamplerReset(handle);
  addon.resamplerProcess(handle, workerData.input, output);
  parentPort.postMessage({ before, stale, output });
`;

describe.skipIf(native === undefined)('the addon in several threads', () => {
  it('keeps the resamplers of each thread apart, and lets threads end with resamplers in use', async () => {
    const places = platformNames().map((name) => `${folder}offhook-transcoder.${name}.node`);
    const input = noise(160);
    const expected = native!.backend.createResampler(8000, 16000).process(input);
    for (let round = 0; round < 5; round++) {
      const answers = await Promise.all(
        Array.from({ length: 3 }, async () => {
          const worker = new Worker(BODY, { eval: true, workerData: { places, input, handle: 1 } });
          const ended = once(worker, 'exit');
          const [answer] = await once(worker, 'message');
          await ended;
          return answer;
        }),
      );
      for (const answer of answers)
        expect(answer).toEqual({ before: 0, stale: 'the resampler was freed', output: expected });
    }
  });
});
