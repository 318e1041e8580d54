// Measures one side of a scenario, and what a start costs, on fresh processes.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { residentKb } from './proc.mjs';
import { pause, runToEnd, startServer } from './processes.mjs';

/** @typedef {import('./scenarios.mjs').Scenario} Scenario */

/** Until the providers of the last calls are connected, and JavaScript is compiled. */
const SETTLE_MS = 1000;
const WARM_UP_MS = 2500;
/** As long as the voice takes for a sentence: all agents begin one within it, and only one. */
export const MEASURE_MS = 5000;
/** A server that has just begun to listen is not yet idle. */
const IDLE_AFTER_MS = 1000;

/** @template T @param {(dataDir: string) => Promise<T>} task */
async function withFolder(task) {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-bench-'));
  try {
    return await task(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** One side of one scenario, on fresh processes. @param {Scenario} scenario @param {import('./scenarios.mjs').Side} side @returns {Promise<import('./scenarios.mjs').Figures>} */
export function measure({ calls, agent, baseline, callers }, side) {
  return withFolder(async (folder) => {
    const service = await startServer('service.mjs');
    try {
      const vendors = `127.0.0.1:${service.port}`;
      const server =
        side === 'ours'
          ? await startServer('offhook.mjs', [agent, folder, vendors])
          : await startServer(`${baseline}.mjs`, [`ws://${vendors}/v1/realtime`]);
      try {
        await pause(IDLE_AFTER_MS);
        /** @type {import('./carrier.mjs').CarrierPlan} */
        const plan = {
          ...{ port: server.port, calls, callers, settleMs: SETTLE_MS, warmUpMs: WARM_UP_MS },
          ...{ measureMs: MEASURE_MS, server: server.pid, helpers: [service.pid] },
        };
        return await runToEnd('carrier.mjs', [JSON.stringify(plan)]);
      } finally {
        await server.stop();
      }
    } finally {
      await service.stop();
    }
  });
}

/** Memory of a server that nobody calls, and the cost of the import, each beside Node alone. */
export async function measureStart() {
  const idle = async (/** @type {string} */ file, /** @type {readonly string[]} */ args = []) => {
    const server = await startServer(file, args);
    try {
      await pause(IDLE_AFTER_MS);
      return residentKb(server.pid) / 1024;
    } finally {
      await server.stop();
    }
  };
  return {
    idleMb: await withFolder((folder) => idle('offhook.mjs', ['realtime', folder, '127.0.0.1:9'])),
    bareMb: await idle('bare-node.mjs'),
    .../** @type {{ nodeMs: number, importMs: number }} */ (await runToEnd('import.mjs')),
  };
}

/** @typedef {Awaited<ReturnType<typeof measureStart>>} Start */
