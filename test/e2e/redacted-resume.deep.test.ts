import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { CallEvent } from '../../src/contract/call-event.js';
import { SIMULATED_CARRIERS } from '../../src/contract/call-record.js';
import { eventually, nothingIsKept } from '../support/carrier-phone.js';
import { bytesBelow } from '../support/folder-bytes.js';
import { KilledPhone } from '../support/killed-phone.js';

const WORDS = /four nine two nine|one two three four|seven eight nine/i;

const turnOver = (index: number) => (fact: CallEvent) =>
  fact.type === 'turn.completed' && fact.turn.index === index;

describe('a server is killed while a number is said', () => {
  it.each(SIMULATED_CARRIERS)('%s', async (id) => {
    await using phone = await KilledPhone.start(id, {
      agent: { idle: false },
      serve: { privacy: { transcript: 'redacted' } },
    });
    const isBack = new AbortController();
    const calling = phone.simulator.call({
      script: [
        { type: 'wait-for-agent' },
        { type: 'say', text: 'It is four nine two nine.' },
        { type: 'wait-for-agent' },
        { type: 'wait-until', signal: isBack.signal, timeoutMs: 50_000 },
        { type: 'say', text: 'One two three four.' },
        { type: 'wait-for-agent' },
        { type: 'hang-up' },
      ],
    });
    await phone.fact(turnOver(1));
    const live = await eventually('the words in the file of the call', async () => {
      const bytes = await bytesBelow(join(phone.dataDir, 'live'));
      return /four nine two nine/.test(bytes) ? bytes : undefined;
    });
    expect(live).toContain('four nine two nine');
    await phone.replace();
    await phone.fact(turnOver(2));
    isBack.abort();
    const { callId } = await phone.fact(({ type }) => type === 'call.ended');
    await calling;
    const record = await phone.record(callId);
    expect(record).toMatchObject({ endReason: 'caller-hangup', term: 2 });
    expect(record.transcript.filter(({ role }) => role === 'user').map(({ text }) => text)).toEqual([
      'It is [number].',
      '[number].',
    ]);
    await eventually('onCallEnd', () => phone.ended[0]);
    await nothingIsKept(phone.dataDir);
    expect(await bytesBelow(phone.dataDir)).not.toMatch(WORDS);
    expect(JSON.stringify([phone.told, record])).not.toMatch(WORDS);
    expect(phone.log.join('')).not.toMatch(WORDS);
  });
});
