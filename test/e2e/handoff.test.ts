// Agents that hand the caller over to one another, as whole calls on both carriers.
import { describe, expect, it } from 'vitest';
import type {
  AgentOptions,
  LanguageModel,
  LanguageModelEvent,
  LanguageModelRequest,
} from '../../src/index.js';
import type { CallerStep } from '../../src/testing/index.js';
import { openToneVoice } from '../../src/testing/index.js';
import { OWN_NUMBER, startAgentsPhone, startCarrierPhone } from '../support/carrier-phone.js';
import { HandingModel } from '../support/handing-model.js';
import { REALTIME_VENDORS } from '../support/realtime-vendors.js';
import { playedOn } from '../support/rotated.js';

const ASKS: readonly CallerStep[] = [
  { type: 'wait-for-agent' },
  { type: 'say', text: 'I have a question about my bill.' },
  { type: 'pause', durationMs: 25_000 },
];
const when = 'questions about bills';
const CALLEE = '+15550123';

/** Says one text after the other, or hands over to a name. */
class ActingModel implements LanguageModel {
  readonly name: string;
  readonly requests: LanguageModelRequest[] = [];
  readonly #acts: readonly (string | { readonly to: string })[];

  constructor(name: string, acts: readonly (string | { readonly to: string })[]) {
    this.name = name;
    this.#acts = acts;
  }

  async *respond(request: LanguageModelRequest): AsyncGenerator<LanguageModelEvent> {
    const act = this.#acts[this.requests.length] ?? 'Nothing more.';
    this.requests.push(request);
    if (typeof act === 'string') {
      yield { type: 'text', delta: act };
      return;
    }
    const args = { to: act.to, summary: 'It is about a bill.' };
    const id = `call_${this.requests.length}`;
    yield { type: 'tool-call', id, name: 'hand_off', arguments: args, argumentsText: JSON.stringify(args) };
  }
}

describe.each(playedOn('carrier-b'))('%s, agents that hand over', (id) => {
  it('gives the next agent the conversation, with one sentence of each', { timeout: 60_000 }, async () => {
    const llm = new HandingModel('desk', { text: 'I put you through.', to: 'bills' });
    const next = new HandingModel('billing', {});
    await using running = await startAgentsPhone(id, [
      {
        name: 'desk',
        firstMessage: 'Hello.',
        llm,
        handoffs: { bills: { agent: 'billing', when, say: 'Billing here.' } },
      },
      { name: 'billing', systemPrompt: 'You do bills.', llm: next },
    ]);
    const report = await running.simulator.call({ script: ASKS, maxDurationMs: 40_000 });
    const record = await running.record(report.carrierCallId);
    expect(record).toMatchObject({ agent: 'billing', endReason: 'agent-hangup', error: null });
    expect(record.handoffs).toMatchObject([{ from: 'desk', to: 'billing', summary: 'A bill, says desk.' }]);
    expect(record.turns.map(({ agent, agentText }) => [agent, agentText])).toEqual([
      ['desk', 'Hello.'],
      ['desk', 'I put you through.'],
      ['billing', 'Billing here.'],
      ['billing', 'billing helps you. Goodbye.'],
    ]);
    expect(llm.requests).toHaveLength(1);
    const told = next.requests[0]?.messages ?? [];
    expect(told[0]).toEqual({ role: 'system', content: 'You do bills.' });
    expect(told.at(-1)).toMatchObject({
      role: 'tool',
      content: expect.stringContaining('A bill, says desk.'),
    });
  });

  it('comes back in the language of the caller, after an agent that does not know it', {
    timeout: 60_000,
  }, async () => {
    const desk = new ActingModel('desk', ['Ja.', 'Gern.', { to: 'bills' }, 'Bitte sehr.']);
    const billing = new ActingModel('billing', ['It is paid.', { to: 'front' }]);
    await using running = await startAgentsPhone(id, [
      { name: 'desk', llm: desk, languages: ['en', 'de'], handoffs: { bills: { agent: 'billing', when } } },
      { name: 'billing', llm: billing, language: 'en', handoffs: { front: { agent: 'desk', when: 'else' } } },
    ]);
    const asks = { type: 'say', text: 'Ich habe noch eine andere Frage.', language: 'de' } as const;
    const turn: readonly CallerStep[] = [asks, { type: 'pause', durationMs: 6000 }];
    const script = [1, 2, 3, 4].flatMap(() => turn);
    const report = await running.simulator.call({ script, maxDurationMs: 60_000 });
    const record = await running.record(report.carrierCallId);
    expect(record.handoffs.map(({ to }) => to)).toEqual(['billing', 'desk']);
    const told = desk.requests.map(
      ({ messages: [first] }) => /The call is in (\w+)/.exec(first?.content ?? '')?.[1],
    );
    expect(told).toEqual(['English', 'German', 'German', 'German']);
    expect(record).toMatchObject({ agent: 'desk', language: 'de' });
  });

  const outbound = { callees: { [CALLEE]: { type: 'human' as const, script: ASKS } } };
  it.each([
    'is chosen by a function',
    'is set with setAgent',
    'is set by its name',
    'has the number that was dialed',
    'was given to phone.call',
  ] as const)('hands over where it %s', { timeout: 60_000 }, async (how) => {
    const [reception, number] = ['reception', OWN_NUMBER];
    const llm = new HandingModel('desk', { text: 'I put you through.', to: 'bills' });
    const next = new HandingModel('billing', {});
    const options: AgentOptions = {
      firstMessage: 'Hello.',
      llm,
      handoffs: { bills: { agent: 'billing', when } },
    };
    await using running = await startCarrierPhone(
      id,
      {},
      {
        simulator: outbound,
        phoneNumbers: [
          {
            number,
            ...(how === 'has the number that was dialed' ? { agent: 'desk' } : { agent: undefined }),
          },
        ],
        agents: (phone) => {
          const other = phone.agent({ name: reception });
          phone.agent({ name: 'billing', llm: next });
          const isMade = how !== 'is set with setAgent' && how !== 'is set by its name';
          const desk = isMade ? phone.agent({ ...options, name: 'desk' }) : other;
          if (how === 'is chosen by a function') return { agent: () => desk, fallbackAgent: other };
          return { agent: other };
        },
      },
    );
    const { phone, server, simulator } = running;
    if (how === 'is set with setAgent') server.setAgent(phone.agent({ ...options, name: 'desk' }));
    if (how === 'is set by its name') server.setAgent(reception, phone.agent(options));
    const record = await (async () => {
      if (how === 'was given to phone.call') {
        const desk = phone.agent({ ...options, name: 'front' });
        return (await phone.call({ to: CALLEE, agent: desk })).ended;
      }
      const report = await simulator.call({ script: ASKS, maxDurationMs: 40_000 });
      return running.record(report.carrierCallId);
    })();
    const from =
      how === 'is set by its name' ? reception : how === 'was given to phone.call' ? 'front' : 'desk';
    expect(record).toMatchObject({ agent: 'billing', endReason: 'agent-hangup', error: null });
    expect(record.handoffs).toMatchObject([{ from, to: 'billing' }]);
    expect(record.turns.slice(-2).map(({ agent, agentText }) => [agent, agentText])).toEqual([
      [from, 'I put you through.'],
      ['billing', 'billing helps you. Goodbye.'],
    ]);
  });

  it('has the carrier say that the call cannot go on where the next agent cannot be made', {
    timeout: 60_000,
  }, async () => {
    const llm = new HandingModel('desk', { text: 'I put you through.', to: 'bills' });
    const broken: LanguageModel = {
      ...new HandingModel('billing', {}),
      respond: () => {
        throw new Error('nobody asks it');
      },
      forCall: () => {
        throw new Error('no model');
      },
    };
    await using running = await startAgentsPhone(id, [
      { name: 'desk', llm, handoffs: { bills: { agent: 'billing', when } } },
      { name: 'billing', llm: broken, language: 'de' },
    ]);
    const report = await running.simulator.call({ script: ASKS, maxDurationMs: 40_000 });
    const record = await running.record(report.carrierCallId);
    expect(record).toMatchObject({ agent: 'billing', endReason: 'provider-failed' });
    expect(record.incidents.filter(({ code }) => code === 'apology-spoken')).toHaveLength(1);
    expect(running.simulator.legs[0]).toMatchObject({
      spoken: ['Es tut mir leid, da ist etwas schiefgegangen. Bitte rufen Sie später noch einmal an.'],
      violations: [],
    });
  });

  it('never goes back and forth while the caller says nothing', { timeout: 60_000 }, async () => {
    const desk = new HandingModel('desk', { to: 'bills' });
    const billing = new HandingModel('billing', { to: 'front' });
    await using running = await startAgentsPhone(id, [
      { name: 'desk', firstMessage: 'Hello.', llm: desk, handoffs: { bills: { agent: 'billing', when } } },
      { name: 'billing', llm: billing, handoffs: { front: { agent: 'desk', when: 'all else' } } },
    ]);
    const report = await running.simulator.call({ script: ASKS, maxDurationMs: 40_000 });
    const record = await running.record(report.carrierCallId);
    expect(record.handoffs.map(({ to }) => to)).toEqual(['billing']);
    expect(record.turns.at(-1)).toMatchObject({ agent: 'billing', agentText: 'billing helps you. Goodbye.' });
  });

  describe.each(REALTIME_VENDORS)('$name', (vendor) => {
    const asks: readonly CallerStep[] = [
      { type: 'pause', durationMs: 5000 },
      { type: 'say', text: 'A question about my bill.' },
      { type: 'pause', durationMs: 20_000 },
    ];

    it('hands over to a pipeline', { timeout: 60_000 }, async () => {
      const args = { to: 'bills', summary: 'A bill.' };
      const { engine, emulator } = await vendor.play({
        utterances: ['A question about my bill.'],
        replies: [{ text: 'I put you through.', toolCalls: [{ name: 'hand_off', arguments: args }] }],
      });
      const next = new HandingModel('billing', {});
      await using running = await startAgentsPhone(
        id,
        [
          { name: 'desk', firstMessage: 'Hello.', engine, handoffs: { bills: { agent: 'billing', when } } },
          { name: 'billing', llm: next },
        ],
        { openVoice: openToneVoice },
      );
      const report = await running.simulator.call({ script: asks, maxDurationMs: 40_000 });
      const record = await running.record(report.carrierCallId);
      expect(record).toMatchObject({ agent: 'billing', mode: 'pipeline', error: null });
      expect(record.handoffs).toMatchObject([{ from: 'desk', to: 'billing', summary: 'A bill.' }]);
      expect(record.turns.at(-1)).toMatchObject({
        agent: 'billing',
        agentText: 'billing helps you. Goodbye.',
      });
      await emulator.close();
    });

    it('is handed the caller by a pipeline', { timeout: 60_000 }, async () => {
      const played = await vendor.play({
        utterances: [],
        replies: [{ text: 'Your bill is paid.' }],
      });
      const { engine, emulator } = played;
      const llm = new HandingModel('desk', { text: 'I put you through.', to: 'bills' });
      await using running = await startAgentsPhone(id, [
        { name: 'desk', firstMessage: 'Hello.', llm, handoffs: { bills: { agent: 'billing', when } } },
        { name: 'billing', engine },
      ]);
      const report = await running.simulator.call({ script: ASKS, maxDurationMs: 40_000 });
      const record = await running.record(report.carrierCallId);
      expect(record).toMatchObject({ agent: 'billing', mode: 'realtime', provider: { engine: vendor.name } });
      const answer = record.turns.find(({ agentText }) => agentText === 'Your bill is paid.');
      expect(answer?.agent).toBe('billing');
      expect(played.connections.flatMap(({ texts }) => texts).join()).toContain('bill');
      await emulator.close();
    });
  });
});
