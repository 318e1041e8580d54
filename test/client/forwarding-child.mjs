// A server as far as facts go: store on disk, forwarder to the dashboard of the same user, takeover, late facts. Lives until it is
// killed, does what messages say, and answers each once it is on disk.
const built = (/** @type {string} */ path) => new URL(`../../dist/${path}`, import.meta.url).href;
/** @type {typeof import('../../src/stores/open-store.js')} */
const { openStore } = await import(built('stores/open-store.js'));
/** @type {typeof import('../../src/events/bus.js')} */
const { EventBus } = await import(built('events/bus.js'));
/** @type {typeof import('../../src/client/dashboard-feed.js')} */
const { feedDashboard } = await import(built('client/dashboard-feed.js'));
/** @type {typeof import('../../src/client/take-over.js')} */
const { takeOver } = await import(built('client/take-over.js'));
/** @type {typeof import('../../src/calls/ending/recalled-call.js')} */
const { recallCall } = await import(built('calls/ending/recalled-call.js'));
/** @type {typeof import('../../src/base/clock.js')} */
const { systemClock: clock } = await import(built('base/clock.js'));
/** @type {typeof import('../../src/base/log.js')} */
const { silentLogger: logger } = await import(built('base/log.js'));

/**
 * @typedef {{ publish: import('../../src/contract/call-event.js').CallEvent[] }
 *   | { report: import('../../src/calls/call-desk.js').CallReport, callId: string } | { list: true }} Order
 */

const [, , dataDir = '', nodeId = ''] = process.argv;
const store = await openStore({ dataDir, role: 'server' }, { logger, clock });
const bus = new EventBus(logger);
bus.subscribeDurable((event) => store.append(event));
feedDashboard({ kind: 'automatic' }, { bus, store, nodeId, logger });
/** @type {Map<string, ReturnType<typeof recallCall>>} */
const recalled = new Map();
const environment = /** @type {import('../../src/calls/call-environment.js').CallEnvironment} */ (
  /** @type {unknown} */ ({
    bus,
    clock,
    nodeId,
    carrier: { supports: { callCostCoversStream: true } },
  })
);
/** @param {import('../../src/contract/call-record.js').CallRecord} record */
const recall = (record) => void recalled.set(record.callId, recallCall(record, environment));
await takeOver(store, {
  nodeId,
  bus,
  callbacks: { adopt: () => () => {} },
  desk: { recall, mayBeUp: () => false },
  logger,
});

process.on('message', async (message) => {
  const order = /** @type {Order} */ (message);
  if ('publish' in order) for (const event of order.publish) bus.publish(event);
  if ('report' in order) recalled.get(order.callId)?.hear(order.report);
  await bus.settled();
  const { calls } = await store.list({ limit: 500 });
  // Facts are read from the disk once they are on it.
  for (const { callId } of calls) await store.events?.(callId);
  process.send?.(calls);
});
process.send?.('ready');
