// A connection that was to be ready for the first answer, and on which nothing comes: the answer is asked for over another one.
import { createServer, request as ask } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { AnthropicMessages, ChatCompletions } from '../../../src/providers/llm/index.js';
import { emulateAnthropic, emulateChatCompletions } from '../../../src/testing/index.js';
import { FakeClock } from '../../support/fake-clock.js';
import { finished, readReply, textOf } from '../../support/reply-reading.js';
import { soon } from '../../support/soon.js';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const task of cleanups.splice(0).reverse()) await task();
});

/** A way to the vendor on which GET requests are taken and never answered. */
async function startDeafToWarmUps(vendorUrl: string) {
  const warmUps: string[] = [];
  const server = createServer((request, response) => {
    const { method = '', url = '', headers } = request;
    if (method === 'GET') {
      warmUps.push(url);
      return;
    }
    request.pipe(
      ask(`${vendorUrl}${url}`, { method, headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(response);
      }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanups.push(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, warmUps };
}

it.each([
  [
    'Chat Completions',
    emulateChatCompletions,
    (url: string, clock: FakeClock) =>
      new ChatCompletions({ apiKey: 'test-key', baseUrl: `${url}/v1`, clock }),
  ],
  [
    'Anthropic',
    emulateAnthropic,
    (url: string, clock: FakeClock) => new AnthropicMessages({ apiKey: 'test-key', baseUrl: url, clock }),
  ],
] as const)('%s answers in no time behind a request to warm up that hangs', async (_, emulate, create) => {
  const clock = new FakeClock();
  const emulator = await emulate({ clock });
  cleanups.push(() => emulator.close());
  const { url, warmUps } = await startDeafToWarmUps(emulator.url);
  const model = create(url, clock);
  model.warmUp();
  await soon(() => expect(warmUps).toEqual(['/v1/models']));
  const reading = await finished(readReply(model));
  expect([textOf(reading), reading.error, clock.now()]).toEqual(['You said: Hello', undefined, 0]);
  // What hangs is given up, and fails nobody.
  clock.advance(6000);
  expect(clock.pending).toBe(0);
});
