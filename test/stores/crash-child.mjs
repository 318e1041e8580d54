// Lives through made-up calls on a bus with a disk store, as a server does, until it is killed. Prints every record that `onCallEnd`
// is given, one in a line.
import { setTimeout as pause } from 'node:timers/promises';

const built = (/** @type {string} */ path) => new URL(`../../dist/${path}`, import.meta.url).href;
/** @type {typeof import('../../src/stores/index.js')} */
const { DiskStore } = await import(built('stores/index.js'));
/** @type {typeof import('../../src/events/bus.js')} */
const { EventBus } = await import(built('events/bus.js'));
/** @type {typeof import('../../src/calls/facts/callbacks.js')} */
const { attachCallbacks } = await import(built('calls/facts/callbacks.js'));
/** @type {typeof import('../../src/client/take-over.js')} */
const { takeOver } = await import(built('client/take-over.js'));
/** @type {typeof import('../../src/base/log.js')} */
const { silentLogger: logger } = await import(built('base/log.js'));

const [, , folder = '', round = ''] = process.argv;
const CALLERS = 40;

const store = await DiskStore.open({ folder, size: 1_000_000 });
const bus = new EventBus(logger);
bus.subscribeDurable((event) => store.append(event));
const callbacks = attachCallbacks(bus, {
  callbacks: { onCallEnd: (record) => void process.stdout.write(`${JSON.stringify(record)}\n`) },
  logger,
});
await takeOver(store, {
  nodeId: `node-${round}`,
  bus,
  callbacks,
  desk: { recall() {}, mayBeUp: () => false },
  logger,
});
process.stdout.write('ready\n');

/** One call after the other. @param {number} caller */
async function ring(caller) {
  for (let index = 0; ; index += 1) {
    const callId = `call-${round}-${caller}-${index}`;
    let seq = 0;
    const say = (/** @type {import('../../src/contract/call-event.js').CallFact} */ fact) => {
      seq += 1;
      bus.publish({ callId, nodeId: `node-${round}`, term: 1, seq, at: Date.now(), ...fact });
    };
    const speak = (/** @type {number} */ turnIndex, /** @type {boolean} */ final) =>
      say({
        type: 'transcript.segment',
        entry: {
          id: `entry-${turnIndex}`,
          turnIndex,
          role: 'user',
          text: `${final ? 'final' : 'partial'} words of turn ${turnIndex}`,
          at: Date.now(),
          final,
        },
      });
    say({
      type: 'call.started',
      mode: 'pipeline',
      provider: { engine: null, stt: null, llm: null, tts: null },
      carrierCallId: `carrier-${callId}`,
      carrier: 'carrier-a',
      direction: 'inbound',
      caller: '+15550111',
      callee: '+15550100',
    });
    for (let turnIndex = 0; turnIndex < 4; turnIndex += 1) {
      say({ type: 'turn.started', turnIndex });
      for (let part = 0; part < 3; part += 1) {
        speak(turnIndex, false);
        await pause(Math.random() * 12);
      }
      // The last words are still partial when some calls end.
      if (turnIndex < 3 || caller % 2 === 0) speak(turnIndex, true);
    }
    say({
      type: 'call.ended',
      endReason: 'caller-hangup',
      outcome: 'answered',
      error: null,
      media: { framesReceived: index, framesSent: 0, unexpectedMessages: 0, clears: 0 },
    });
  }
}

await Promise.all(Array.from({ length: CALLERS }, (_, caller) => ring(caller)));
