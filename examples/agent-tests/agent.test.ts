// Tests of an agent: a simulated caller rings, speaks and is answered, and the report says what was heard.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { simulateCall } from 'offhook/testing';
import { start } from '../minimal/server.js';

const authToken = 'any-text-without-blanks';
const port = Number(process.env.TEST_PORT ?? 8123);
let server: Awaited<ReturnType<typeof start>>;

beforeAll(async () => {
  server = await start({
    authToken,
    port,
    host: '127.0.0.1',
    dataDir: false,
    onMessage: ({ text }) => `You said: ${text}`,
  });
});
afterAll(() => server.phone.disconnect());

test('greets the caller and answers what they ask', { timeout: 60_000 }, async () => {
  const report = await simulateCall({
    url: server.url,
    authToken,
    script: [{ type: 'wait-for-agent' }, { type: 'say', text: 'Are you open?' }, { type: 'wait-for-agent' }],
  });
  expect(report.ok).toBe(true);
  const { calls } = await (await fetch(`${server.url}/api/dashboard/calls?limit=1`)).json();
  const record = await (await fetch(`${server.url}/api/dashboard/calls/${calls[0].callId}`)).json();
  const said = record.transcript.map(({ role, text }: { role: string; text: string }) => `${role}: ${text}`);
  expect(said[0]).toBe('agent: Hello, this is the bakery. How can I help?');
  expect(said.join('\n').toLowerCase()).toContain('you said: are you open?');
});
