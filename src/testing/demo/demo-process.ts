// The demo's server in a process of its own, which `mortal-server.ts` starts, tells what to do, and kills.
import { OffhookError } from '../../base/errors.js';
import { type DemoServer, type DemoServerSettings, serveDemo } from './demo-server.js';

/** What the process is told. */
export type DemoOrder =
  | { readonly type: 'serve'; readonly settings: DemoServerSettings }
  | { readonly type: 'drain' | 'disconnect' };

/** What it tells. */
export type DemoNews =
  | { readonly type: 'serving'; readonly url: string; readonly dashboardUrl: string }
  | { readonly type: 'failed'; readonly message: string };

let server: DemoServer | undefined;
let keepsNothing = false;

const tell = (news: DemoNews): void => void process.send?.(news);

async function obey(order: DemoOrder): Promise<void> {
  if (order.type === 'serve') {
    keepsNothing = order.settings.cluster !== undefined;
    server = await serveDemo(order.settings);
    tell({ type: 'serving', url: server.url, dashboardUrl: server.dashboardUrl });
    return;
  }
  await (order.type === 'drain' ? server?.drain() : server?.disconnect());
  process.disconnect();
}

process.on('message', (order: DemoOrder) => {
  obey(order).catch((error: unknown) => {
    tell({ type: 'failed', message: OffhookError.isInstance(error) ? error.message : String(error) });
    process.disconnect();
  });
});

// A terminal signals all of its processes: what follows from that, the parent says.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {});

// Its parent had the carrier and the broker: calls and callers are gone with it. A hang-up would fail, and the log would send somebody to a carrier that is not there. What is kept in a folder says how its calls ended.
process.on('disconnect', () => {
  if (keepsNothing) process.exit();
  void server?.disconnect();
});
