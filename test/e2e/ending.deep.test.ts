import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { EventSource } from 'eventsource';
import { describe, expect, it } from 'vitest';
import type { CallRecord } from '../../src/contract/call-record.js';
import type { ActiveCalls } from '../../src/contract/dashboard-api.js';
import { eventually } from '../support/carrier-phone.js';
import { AUTH_TOKEN, PUBLIC_HOST, startPhone, type RunningPhone } from '../support/running-phone.js';
import { soon } from '../support/soon.js';

const LONG = 'One two three four five six seven eight nine ten eleven twelve thirteen fourteen. '.repeat(4);
const AGENT = { systemPrompt: 'You count.', firstMessage: LONG };

/** A program that calls takes its time to start where the machine is busy. */
const PATIENCE_MS = 60_000;

function waitForActive(running: RunningPhone, count: number): Promise<CallRecord[]> {
  return eventually(
    `${count} active calls`,
    async () => {
      const response = await fetch(`${running.server.url}/api/dashboard/active`);
      const { calls } = (await response.json()) as ActiveCalls;
      return calls.length === count && calls.every((call) => call.transcript.length > 0) ? calls : undefined;
    },
    PATIENCE_MS,
  );
}

describe('a call that ends badly', () => {
  it('ends cleanly when the process of the caller is killed, and the next call is answered', async () => {
    await using running = await startPhone(AGENT);
    const cli = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));
    const caller = spawn(
      process.execPath,
      [
        cli,
        'simulate',
        '--url',
        running.server.url,
        '--auth-token',
        AUTH_TOKEN,
        '--webhook-host',
        PUBLIC_HOST,
      ],
      { stdio: 'ignore' },
    );
    const [live] = await waitForActive(running, 1);
    caller.kill('SIGKILL');
    await once(caller, 'exit');
    const record = await running.ended(live?.carrierCallId ?? '');
    expect(record).toMatchObject({ status: 'completed', endReason: 'stream-lost', outcome: 'answered' });
    expect(record.endedAt).not.toBeNull();

    const { report } = await running.call([{ type: 'pause', durationMs: 500 }, { type: 'hang-up' }]);
    expect(report).toMatchObject({ ok: true, answer: { outcome: 'answered' } });
  });

  it('is told to hang up by the operator through the API', async () => {
    await using running = await startPhone(AGENT);
    const calling = running.call([{ type: 'pause', durationMs: 20_000 }]);
    const [live] = await waitForActive(running, 1);
    const answer = await fetch(`${running.server.url}/api/dashboard/calls/${live?.callId}/hangup`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    });
    expect(answer.ok).toBe(true);
    const { record } = await calling;
    expect(record.endReason).toBe('operator-hangup');
  });
});

describe('disconnect', () => {
  it('hangs up, closes with 1001 and ends, with calls and a dashboard open', async () => {
    const running = await startPhone(AGENT, { drainSeconds: 5 });
    const events = new EventSource(`${running.server.url}/api/dashboard/events`);
    const ends: CallRecord[] = [];
    events.addEventListener('call.ended', (message) => ends.push(JSON.parse(message.data)));
    await once(events, 'open');
    const calls = [1, 2].map((index) =>
      running.call([{ type: 'pause', durationMs: 20_000 }], { from: `+1500555003${index}` }).then(
        () => undefined,
        () => undefined,
      ),
    );
    const live = await waitForActive(running, 2);
    await Promise.all([running.phone.disconnect(), running.phone.disconnect()]);
    await expect(fetch(`${running.server.url}/health`)).rejects.toThrow();
    expect(live).toHaveLength(2);
    // What the server has sent may be on its way to who reads it when the server is closed.
    await soon(() =>
      expect(ends.map((event) => event.endReason)).toEqual(['server-shutdown', 'server-shutdown']),
    );
    events.close();
    await running[Symbol.asyncDispose]();
    await Promise.all(calls);
  });
});
