// A server is killed while one agent hands the caller over to another: the call goes on with one of the two, and the record is right. Whole calls.
import { describe, expect, it } from 'vitest';
import type { CallEvent } from '../../src/contract/call-event.js';
import { SIMULATED_CARRIERS } from '../../src/contract/call-record.js';
import { type CallerStep, openToneVoice } from '../../src/testing/index.js';
import { KilledPhone } from '../support/killed-phone.js';

const WAIT: CallerStep = { type: 'wait-for-agent' };
const says = (text: string): CallerStep => ({ type: 'say', text });

const hasSaid = (text: string) => (fact: CallEvent) =>
  fact.type === 'transcript.segment' && fact.entry.role === 'agent' && fact.entry.text.includes(text);

/** When the process dies. */
const MOMENTS: readonly (readonly [string, (fact: CallEvent) => boolean])[] = [
  ['in the sentence before it', hasSaid('I put you')],
  [
    'as its tool is called',
    (fact) => fact.type === 'transcript.segment' && fact.entry.role === 'tool' && !fact.entry.final,
  ],
  ['in its very moment', (fact) => fact.type === 'agent.changed'],
  ['in the sentence behind it', hasSaid('Billing')],
  ['in the answer of the next agent', hasSaid('who helps you')],
];

const CASES = SIMULATED_CARRIERS.flatMap((id) => MOMENTS.map(([when, isNow]) => ({ id, when, isNow })));

describe('a server is killed in a hand-off', () => {
  it.each(CASES)('$when, on $id', async ({ id, isNow }) => {
    await using phone = await KilledPhone.start(id, {
      agent: { idle: false },
      billing: { say: 'Billing here.' },
      simulator: { openVoice: openToneVoice },
    });
    const isBack = new AbortController();
    const calling = phone.simulator.call({
      script: [
        WAIT,
        says('I have a question about my bill.'),
        { type: 'wait-until', signal: isBack.signal, timeoutMs: 60_000 },
        says('Is my bill paid?'),
        WAIT,
        { type: 'hang-up' },
      ],
    });
    await phone.fact(isNow);
    await phone.kill();
    await phone.begin();
    // Whoever it was with: the caller is with the next agent, who has answered them.
    const answered = (fact: CallEvent) =>
      fact.type === 'turn.completed' && fact.turn.agentText.includes('This is billing, who helps you.');
    const { callId } = await phone.fact(answered);
    isBack.abort();
    const report = await calling;
    const record = await phone.record(callId);
    expect(report).toMatchObject({ ok: true, protocolErrors: [] });
    expect(record).toMatchObject({
      outcome: 'answered',
      agent: 'billing',
      term: 2,
      endReason: 'caller-hangup',
      error: null,
    });
    expect(record.handoffs).toMatchObject([{ from: 'desk', to: 'billing', summary: 'Asks for a bill.' }]);
    expect(record.incidents.map(({ code }) => code)).toEqual(['process-replaced']);
    // Each turn is that of whoever had the caller then, and is told once.
    const movedAt = record.handoffs[0]?.at ?? 0;
    for (const { agent, startedAt, agentText } of record.turns)
      if (agentText !== '')
        expect([agentText, agent]).toEqual([agentText, startedAt < movedAt ? 'desk' : 'billing']);
    const { transcript } = record;
    expect(new Set(transcript.map((entry) => entry.id)).size).toBe(transcript.length);
    expect(transcript.every(({ final }) => final)).toBe(true);
    const agentWords = transcript.filter(({ role }) => role === 'agent').map(({ text }) => text);
    expect(agentWords.join(' ')).toContain('Billing here.');
    expect(agentWords.at(-1)).toBe('This is billing, who helps you.');
    expect(phone.started).toEqual([callId]);
  });
});
