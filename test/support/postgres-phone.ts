// The example of a store on PostgreSQL as its README says, with a carrier that calls it.
import { vi } from 'vitest';
import { start as startExample } from '../../examples/postgres-store/server.js';
import type { CallRecord } from '../../src/contract/call-record.js';
import type { CarrierId } from '../../src/index.js';
import { type CallerStep, openToneVoice } from '../../src/testing/index.js';
import { startCarrier } from './carrier-phone.js';
import { closedAfterTest } from './closed-after-test.js';
import { freePort } from './free-port.js';
import { RecordedLogger } from './recorded-logger.js';

const HOST = 'voice.example.com';
export const GREETING = 'agent: Hello, this is the bakery. How can I help?';
export const WAIT: CallerStep = { type: 'wait-for-agent' };

export const transcript = ({ transcript: entries }: CallRecord) =>
  entries.map(({ role, text }) => `${role}: ${text}`);

/** A phone that keeps its calls in the database at `databaseUrl`. Whoever asks for it unstubs the environment. */
export async function startPostgresPhone(id: CarrierId, databaseUrl: string) {
  const logger = new RecordedLogger();
  const told: CallRecord[] = [];
  const port = await freePort();
  const { simulator, carrier } = await startCarrier(id, {
    url: `http://127.0.0.1:${port}`,
    webhookHost: HOST,
    openVoice: openToneVoice,
  });
  closedAfterTest(simulator);
  vi.stubEnv('DATABASE_URL', databaseUrl);
  vi.stubEnv('WEBHOOK_HOST', HOST);
  const { url, close } = await startExample({
    ...{ carrier, port, host: '127.0.0.1', manageWebhook: false, logger },
    onCallEnd: (record) => void told.push(record),
  });
  closedAfterTest({ close });
  return {
    ...{ simulator, logger, told, close },
    ask: (path: string) => fetch(`${url}${path}`),
    async read<Body>(path: string): Promise<Body> {
      const response = await fetch(`${url}/api/dashboard/${path}`);
      if (response.status !== 200) throw new Error(`${path} answered ${response.status}`);
      return JSON.parse(await response.text());
    },
  };
}
