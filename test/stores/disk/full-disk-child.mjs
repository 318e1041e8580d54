// Keeps calls in the folder of its argument, where no file may grow beyond what the shell allows: the disk is full, and then, as the
// library begins another file, it is not. Prints what its log and its records say.
import { setTimeout as pause } from 'node:timers/promises';

/** @type {typeof import('../../../src/stores/index.js')} */
const { DiskStore } = await import(new URL('../../../dist/stores/index.js', import.meta.url).href);
/** @type {typeof import('../../../src/base/clock.js')} */
const { systemClock } = await import(new URL('../../../dist/base/clock.js', import.meta.url).href);

const [, , folder = ''] = process.argv;
const CALLS = 60;
/** @type {string[]} */
const lines = [];
const log = (/** @type {string} */ level) => (/** @type {unknown} */ _, /** @type {string} */ sentence) =>
  lines.push(`${level} ${sentence}`);
const logger = { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') };
const clock = {
  ...systemClock,
  after: (/** @type {number} */ delayMs, /** @type {() => void} */ task) =>
    systemClock.after(delayMs / 100, task),
};

const store = await DiskStore.open({ folder, logger, clock });
for (let index = 0; index < CALLS; index += 1) {
  const envelope = { callId: `call-${index}`, nodeId: 'node', term: 1, at: 1000 + index };
  await store.append({
    ...envelope,
    seq: 1,
    type: 'call.started',
    mode: 'pipeline',
    provider: { engine: null, stt: null, llm: null, tts: null },
    carrierCallId: `carrier-${index}`,
    carrier: 'carrier-a',
    direction: 'inbound',
    caller: '+15550111',
    callee: '+15550100',
  });
  const entry = { id: 'a', turnIndex: 0, role: /** @type {const} */ ('user'), at: 1000, final: true };
  await store.append({
    ...envelope,
    seq: 2,
    type: 'transcript.segment',
    entry: { ...entry, text: 'x'.repeat(1500) },
  });
  await store.append({
    ...envelope,
    seq: 3,
    type: 'call.ended',
    endReason: 'caller-hangup',
    outcome: 'answered',
    error: null,
    media: { framesReceived: 0, framesSent: 0, unexpectedMessages: 0, clears: 0 },
  });
  await pause(10);
}
for (let wait = 0; wait < 3000 && !lines.at(-1)?.startsWith('info'); wait += 1) await pause(20);
const before = JSON.stringify(await store.list({ limit: 500 }));
await store.close();
const again = await DiskStore.open({ folder });
const { calls } = await again.list({ limit: 500 });
const isTheSame = JSON.stringify(await again.list({ limit: 500 })) === before;
await again.close();
console.log(JSON.stringify({ calls: calls.length, lines, isTheSame }));
