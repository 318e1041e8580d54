// What the doors cost: a signed webhook beside a server of node:http alone that verifies the same signature, the import of the package,
// and a server that waits. `npm run bench -- webhook [FOLDER]` prints the report, and writes webhook.md into the folder where one is named.
import { fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { toTable } from './table.mjs';
import { HOST, RingingCarrier, SECRET } from './webhook/carrier.mjs';

/** @typedef {import('./webhook/figures.mjs').Figures} Figures */
/** @typedef {{ name: string, script: string, mode: string }} Subject */

const ROUNDS = 7;
/** Webhooks of a round, and what a server is warmed up with. */
const RINGS = 3000;
const WARM_UP = 6000;
const IMPORTS = 9;
const IDLE_ROUNDS = 3;
/** A server that has just started still has work to do. */
const SETTLE_MS = 4000;

/** @type {readonly { name: string, isRepeated: boolean }[]} */
const SHAPES = [
  { name: 'one delivery, repeated', isRepeated: true },
  { name: 'each another call', isRepeated: false },
];

/** @type {Subject} */
const PLAIN = { name: 'node:http', script: 'plain.mjs', mode: '' };
/** @type {Subject} */
const OFFHOOK = { name: 'offhook', script: 'served.mjs', mode: 'pipeline' };

/** @param {readonly number[]} values */
function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? Number.NaN;
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  server.close();
  await once(server, 'close');
  return port;
}

/** A server in a process of its own, listening. @param {Subject} subject */
async function start({ script, mode }) {
  const port = await freePort();
  const place = fileURLToPath(new URL(`webhook/${script}`, import.meta.url));
  const child = fork(place, [String(port), SECRET, HOST, mode], { execArgv: [] });
  const read = () =>
    new Promise((/** @type {(figures: Figures) => void} */ resolve, reject) => {
      const failed = (/** @type {number | null} */ code) =>
        reject(new Error(`${script} ended with ${code}.`));
      child.once('exit', failed);
      child.once('message', (figures) => {
        child.off('exit', failed);
        resolve(/** @type {Figures} */ (figures));
      });
    });
  await read();
  return {
    port,
    figures() {
      child.send('figures');
      return read();
    },
    async stop() {
      if (child.exitCode !== null) return;
      const exit = once(child, 'exit');
      child.disconnect();
      await exit;
    },
  };
}

/** Microseconds of the server's processor time for a webhook, by round: the two servers take turns. @param {{ isRepeated: boolean }} shape */
async function measureWebhooks(shape) {
  /** @type {{ server: Awaited<ReturnType<typeof start>>, carrier: RingingCarrier, cpuUs: number[] }[]} */
  const servers = [];
  try {
    for (const subject of [PLAIN, OFFHOOK]) {
      const server = await start(subject);
      const carrier = new RingingCarrier(server.port);
      servers.push({ server, carrier, cpuUs: [] });
      await carrier.forge();
      await carrier.ring(WARM_UP, shape);
    }
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const { server, carrier, cpuUs } of servers) {
        const before = await server.figures();
        await carrier.ring(RINGS, shape);
        const after = await server.figures();
        cpuUs.push((after.cpuUs - before.cpuUs) / RINGS);
      }
    }
    const [plain = [], offhook = []] = servers.map(({ cpuUs }) => cpuUs);
    const ratio = median(offhook.map((own, round) => own / (plain[round] ?? Number.NaN)));
    return { plainUs: median(plain), offhookUs: median(offhook), ratio };
  } finally {
    for (const { server, carrier } of servers) {
      carrier.close();
      await server.stop();
    }
  }
}

/** Milliseconds of processor time for `import 'offhook'`, over a process that imports nothing. */
function measureImport() {
  const entry = new URL('../../dist/index.js', import.meta.url).href;
  const cpuMs = (/** @type {string} */ code) => {
    const tell = 'const { user, system } = process.cpuUsage(); console.log((user + system) / 1000);';
    const script = ['--input-type=module', '--eval', `${code}\n${tell}`];
    const { stdout, stderr, status } = spawnSync(process.execPath, script, { encoding: 'utf8' });
    if (status !== 0) throw new Error(stderr);
    return Number(stdout);
  };
  return median(
    Array.from({ length: IMPORTS }, () => {
      const bare = cpuMs('');
      return cpuMs(`await import(${JSON.stringify(entry)});`) - bare;
    }),
  );
}

/** Memory of a server that nobody calls, in MB. @param {Subject} subject */
async function measureIdle(subject) {
  const rss = [];
  for (let round = 0; round < IDLE_ROUNDS; round += 1) {
    const server = await start(subject);
    try {
      await pause(SETTLE_MS);
      rss.push((await server.figures()).rssBytes / 2 ** 20);
    } finally {
      await server.stop();
    }
  }
  return median(rss);
}

/** @param {string} [folder] where the report is written; without one it is only printed */
export async function run(folder) {
  const load = loadavg()[0]?.toFixed(2);
  const webhooks = [];
  for (const shape of SHAPES) {
    const { plainUs, offhookUs, ratio } = await measureWebhooks(shape);
    webhooks.push([shape.name, plainUs.toFixed(1), offhookUs.toFixed(1), ratio.toFixed(2)]);
  }
  const importMs = measureImport();
  const idle = [];
  for (const subject of [PLAIN, OFFHOOK, { ...OFFHOOK, name: 'offhook, realtime', mode: 'realtime' }]) {
    idle.push([subject.name, (await measureIdle(subject)).toFixed(0)]);
  }
  const report = [
    '# Bench of the doors',
    `Written by \`npm run bench -- webhook docs/bench\` with Node ${process.version}. Load average before the run: ${load}. What is compared with is a server of \`node:http\` alone that reads the form, verifies the same HMAC-SHA1 and answers with a stream (\`test/bench/webhook/plain.mjs\`). It has no memory of deliveries, no signed stream token, no limits.`,
    `A webhook of carrier A, in µs of the server’s processor time: medians of ${ROUNDS} rounds of ${RINGS} webhooks each, in which the two servers take turns.`,
    toTable(['webhook', 'node:http', 'offhook', 'ratio'], webhooks, { numbersFrom: 1 }),
    `\`import 'offhook'\` takes ${importMs.toFixed(0)} ms of processor time, over a process that imports nothing.`,
    'Memory of a server that nobody calls, in MB:',
    toTable(['server', 'RSS, MB'], idle, { numbersFrom: 1 }),
  ].join('\n\n');
  console.log(report);
  if (folder === undefined) return;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'webhook.md'), `${report}\n`);
}
