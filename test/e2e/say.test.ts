// Words from outside, in whole calls: both carriers, each way to answer, and each vendor's way to say and to know something.
import { describe, expect, it } from 'vitest';
import type { CallRecord } from '../../src/contract/call-record.js';
import type { AgentOptions, ServeOptions } from '../../src/index.js';
import { type CallerStep, openToneVoice } from '../../src/testing/index.js';
import { type CarrierPhone, startCarrierPhone } from '../support/carrier-phone.js';
import { REALTIME_VENDORS } from '../support/realtime-vendors.js';
import { playedOn } from '../support/rotated.js';

const GREETING = 'Hello, this is the bakery.';
const NEWS = 'We close in ten minutes.';
const NOTE = 'The caller has ordered three loaves.';
const LISTENS: readonly CallerStep[] = [{ type: 'pause', durationMs: 25_000 }];
const ASKS: readonly CallerStep[] = [
  { type: 'pause', durationMs: 9000 },
  { type: 'say', text: 'Three loaves of bread.' },
  { type: 'pause', durationMs: 12_000 },
];

const hasGreeted = ({ turns }: CallRecord) => turns.length > 0;
const agentIn = ({ transcript }: CallRecord) =>
  transcript.filter(({ role }) => role === 'agent').map(({ text }) => text);

/** The call is up, and the agent speaks. */
async function live(running: CarrierPhone, isReady: (record: CallRecord) => boolean): Promise<string> {
  const [call] = await running.active(1, isReady);
  return call?.callId ?? '';
}

describe.concurrent.each(playedOn('carrier-b'))('words on a call of %s', (id) => {
  it.each<[string, AgentOptions, Partial<ServeOptions>]>([
    ['a language model', {}, {}],
    [
      'onMessage',
      {},
      { onMessage: async ({ history }) => `I know ${history.map(({ content }) => content).join('; ')}` },
    ],
  ])('are said, and known to %s', { timeout: 60_000 }, async (_, agent, serve) => {
    await using running = await startCarrierPhone(id, { firstMessage: GREETING, ...agent }, { serve });
    const calling = running.simulator.call({ script: ASKS, maxDurationMs: 40_000 });
    const callId = await live(running, ({ transcript }) => transcript.length > 0);
    const outcomes = Promise.all([
      running.phone.say(callId, `**${NEWS}**`),
      running.phone.inform(callId, NOTE),
    ]);
    expect(await outcomes).toEqual(['heard', undefined]);
    const report = await calling;
    const record = await running.record(report.carrierCallId);
    expect(agentIn(record).slice(0, 2)).toEqual([GREETING, NEWS]);
    const answer = agentIn(record)[2];
    if (serve.onMessage !== undefined) expect(answer).toBe(`I know ${NOTE}; ${GREETING} ${NEWS}`);
    else expect(answer).toBeDefined();
    await expect(running.phone.say(callId, NEWS)).rejects.toMatchObject({ code: 'REQUEST_CONFLICT' });
    await expect(running.phone.inform(callId, NOTE)).rejects.toMatchObject({ code: 'REQUEST_CONFLICT' });
  });

  it('end with the call', { timeout: 40_000 }, async () => {
    await using running = await startCarrierPhone(id, { firstMessage: GREETING });
    const calling = running.simulator.call({ script: LISTENS, maxDurationMs: 30_000 });
    const callId = await live(running, ({ transcript }) => transcript.length > 0);
    const outcome = running.phone.say(callId, NEWS);
    await running.phone.hangUp(callId);
    expect(await outcome).toBe('call-ended');
    await calling;
  });

  it('are said into a call that begins, and refused on one that rings', { timeout: 40_000 }, async () => {
    const outcomes: string[] = [];
    await using running = await startCarrierPhone(
      id,
      { firstMessage: GREETING },
      {
        serve: {
          onCallStart: async ({ callId }) => {
            await running.phone.inform(callId, NOTE);
            outcomes.push(await running.phone.say(callId, NEWS));
          },
        },
      },
    );
    const { callId, ended } = await running.phone.call({ to: '+15005550020' });
    await expect(running.phone.say(callId, NEWS)).rejects.toMatchObject({
      code: 'REQUEST_CONFLICT',
      message: expect.stringContaining('not connected'),
    });
    await running.active(1, ({ turns }) => turns.length === 2);
    await running.phone.hangUp(callId);
    expect([outcomes, agentIn(await ended)]).toEqual([['heard'], [GREETING, NEWS]]);
  });

  describe.each(REALTIME_VENDORS)('$name', (vendor) => {
    it('says them, and knows what it was told', { timeout: 60_000 }, async () => {
      const played = await vendor.play({
        utterances: ['Three loaves of bread.'],
        replies: [{ text: 'They are ready at noon.' }],
      });
      const { engine, emulator } = played;
      await using running = await startCarrierPhone(
        id,
        { firstMessage: GREETING, engine },
        { simulator: { openVoice: openToneVoice } },
      );
      const calling = running.simulator.call({ script: ASKS, maxDurationMs: 40_000 });
      const callId = await live(running, hasGreeted);
      await running.phone.inform(callId, NOTE);
      expect(await running.phone.say(callId, NEWS, { interrupt: true })).toBe('heard');
      const report = await calling;
      const record = await running.record(report.carrierCallId);
      expect(agentIn(record)).toEqual([GREETING, NEWS, 'They are ready at noon.']);
      expect(played.connections.flatMap(({ texts }) => texts).join('\n')).toContain(NOTE);
      await emulator.close();
    });
  });
});
