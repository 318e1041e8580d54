// The examples that are a phone by themselves, each called as its README says.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { start as startMinimal } from '../../examples/minimal/server.js';
import { start as startChoosing } from '../../examples/choosing-agents/server.js';
import { start as startLanguages } from '../../examples/languages/server.js';
import { start as startHandoff } from '../../examples/handoff/server.js';
import { start as startMcp } from '../../examples/mcp/server.js';
import { createAnswers, start as startMessages } from '../../examples/on-message/server.js';
import { remind } from '../../examples/outbound-voicemail/call.js';
import { start as startVoice } from '../../examples/own-voice/server.js';
import { start as startSay } from '../../examples/say/server.js';
import { start as startTools } from '../../examples/tools/server.js';
import { silentLogger } from '../../src/base/log.js';
import type { Offhook } from '../../src/client.js';
import type { CallRecord } from '../../src/contract/call-record.js';
import type { LanguageModel } from '../../src/providers/language-model.js';
import { type CallerStep, simulateCall, startCarrierASimulator } from '../../src/testing/index.js';
import { eventually } from '../support/carrier-phone.js';
import { freePort } from '../support/free-port.js';

const WAIT: CallerStep = { type: 'wait-for-agent' };

async function settings() {
  return {
    port: await freePort(),
    host: '127.0.0.1',
    logger: silentLogger,
    dataDir: false,
    dashboardUrl: false,
  } as const;
}

/** Plays a call and gives its record. */
async function play(
  starting: (options: {
    onCallEnd: (record: CallRecord) => void;
  }) => Promise<{ phone: Offhook; url: string }>,
  ...said: string[]
): Promise<CallRecord> {
  let tell: (record: CallRecord) => void = () => {};
  const ended = new Promise<CallRecord>((resolve) => (tell = resolve));
  const { phone, url } = await starting({ onCallEnd: (record) => tell(record) });
  const steps = said.flatMap((text): CallerStep[] => [{ type: 'say', text }, WAIT]);
  const report = await simulateCall({ url, script: [WAIT, ...steps] });
  expect(report.ok).toBe(true);
  const record = await ended;
  await phone.disconnect();
  return record;
}

const transcript = ({ transcript: entries }: CallRecord) =>
  entries.map(({ role, text }) => `${role}: ${text}`);

describe('examples', { timeout: 60_000 }, () => {
  it('minimal', async () => {
    const common = await settings();
    const record = await play((options) => startMinimal({ ...common, ...options }), 'Are you open?');
    expect(transcript(record)[0]).toBe('agent: Hello, this is the bakery. How can I help?');
    expect(transcript(record)[2]).toMatch(/^agent: \w/);
  });

  it('tools: the order is looked up, and the model is told', async () => {
    const llm: LanguageModel = {
      kind: 'llm',
      name: 'example/looks-up',
      async *respond({ messages }) {
        const found = messages.findLast(({ role }) => role === 'tool');
        if (found !== undefined) yield { type: 'text', delta: `Your order is ${found.content}.` };
        else yield { type: 'tool-call', id: 'c1', name: 'look_up_order', arguments: { number: '17' } };
      },
    } as LanguageModel;
    const common = await settings();
    const record = await play(
      (options) => startTools({ ...common, ...options, agent: { llm } }),
      'Where is order 17?',
    );
    expect(transcript(record).at(-1)).toBe('agent: Your order is on its way, and there tomorrow.');
  });

  it('mcp: the order of the customer on the line is looked up, and no other tool is offered', async () => {
    const offered: string[][] = [];
    const llm: LanguageModel = {
      kind: 'llm',
      name: 'example/looks-up',
      async *respond({ messages, tools = [] }) {
        offered.push(tools.map(({ name }) => name));
        const found = messages.findLast(({ role }) => role === 'tool');
        if (found !== undefined) yield { type: 'text', delta: `Your order is ${found.content}.` };
        else yield { type: 'tool-call', id: 'c1', name: 'search_orders', arguments: { number: '17' } };
      },
    } as LanguageModel;
    const common = await settings();
    let close = () => {};
    const record = await play(async (options) => {
      const started = await startMcp({ ...common, ...options, agent: { llm } });
      close = started.orders.close;
      return started;
    }, 'Where is order 17?');
    close();
    expect(transcript(record).at(-1)).toBe('agent: Your order is on its way, and there tomorrow.');
    expect(offered[0]).toEqual(['search_orders', 'end_call', 'send_dtmf']);
  });

  it('choosing agents: a customer gets billing, and nobody gets an agent at night', async () => {
    const common = await settings();
    const known = await play((options) => startChoosing({ ...common, isOpen: () => true, ...options }));
    expect([known.agent, ...transcript(known)]).toEqual(['billing', 'agent: Hello Ada, this is billing.']);
    const ended: CallRecord[] = [];
    const { phone, url } = await startChoosing({
      ...common,
      isOpen: () => false,
      onCallEnd: (record) => void ended.push(record),
    });
    await simulateCall({ url, script: [WAIT] });
    await phone.disconnect();
    expect(ended.flatMap((closed) => [closed.agent, ...transcript(closed)])).toEqual([
      null,
      'agent: We are closed. Please call again in the morning.',
    ]);
  });

  it('choosing agents: the second number is that of billing, whose agent is changed in between', async () => {
    const ended: CallRecord[] = [];
    const { phone, server, url } = await startChoosing({
      ...(await settings()),
      isOpen: () => false,
      onCallEnd: (record) => void ended.push(record),
    });
    const call = { url, from: '+15005550021', to: '+15005550011', script: [WAIT] };
    await simulateCall(call);
    server.setAgent('billing', phone.agent({ firstMessage: 'Billing is on holiday.' }));
    await simulateCall(call);
    await phone.disconnect();
    expect(ended.map((record) => [record.callee, record.agent, ...transcript(record)])).toEqual([
      ['+15005550011', 'billing', 'agent: Hello there, this is billing.'],
      ['+15005550011', 'billing', 'agent: Billing is on holiday.'],
    ]);
  });

  it('languages: a caller who speaks German is asked in German whether they are there', async () => {
    const ended: CallRecord[] = [];
    const { phone, url } = await startLanguages({
      ...(await settings()),
      onCallEnd: (record) => void ended.push(record),
    });
    const german: CallerStep = { type: 'say', text: 'Ich hätte gern einen Tisch für zwei.', language: 'de' };
    const script: CallerStep[] = [WAIT, german, WAIT, german, WAIT, { type: 'pause', durationMs: 40_000 }];
    await simulateCall({ url, script, maxDurationMs: 90_000 });
    await phone.disconnect();
    expect(ended).toMatchObject([{ language: 'de', endReason: 'idle' }]);
    expect(ended.flatMap(transcript).slice(-2)).toEqual([
      'agent: Sind Sie noch da?',
      'agent: Auf Wiederhören.',
    ]);
  });

  it('handoff: billing answers what reception cannot, and knows what was said', async () => {
    const told: { offered: string[]; said: string[] }[] = [];
    const model = (
      name: string,
      toolCall: { name: string; arguments: Record<string, string> },
    ): LanguageModel =>
      ({
        kind: 'llm',
        name: `example/${name}`,
        async *respond({ messages, tools = [] }) {
          told.push({
            offered: tools.map((offered) => offered.name),
            said: messages.flatMap(({ role, content }) => (role === 'user' ? [content] : [])),
          });
          const found = messages.findLast(({ role }) => role === 'tool')?.content ?? '';
          if (found === 'paid') yield { type: 'text', delta: 'Your bill is paid.' };
          else yield { type: 'tool-call', id: `${name}-1`, ...toolCall };
        },
      }) as LanguageModel;
    const reception = model('reception', {
      name: 'hand_off',
      arguments: { to: 'billing', summary: 'Asks whether bill 17 is paid.' },
    });
    const billing = model('billing', { name: 'look_up_bill', arguments: { number: '17' } });
    const common = await settings();
    const agents = { reception: { llm: reception }, billing: { llm: billing } };
    const record = await play(
      (options) => startHandoff({ ...common, ...options, agents }),
      'Is bill 17 paid?',
    );
    expect(record.agent).toBe('billing');
    expect(record.handoffs).toMatchObject([
      { from: 'reception', to: 'billing', summary: 'Asks whether bill 17 is paid.' },
    ]);
    const heard = record.turns.map(({ agent, agentText }) => [agent, agentText]);
    expect(heard[0]).toEqual(['reception', 'Hello, this is the shop.']);
    expect(heard.at(-1)).toEqual(['billing', 'Your bill is paid.']);
    expect(told[0]?.offered).toContain('hand_off');
    expect(told.at(-1)?.offered).toContain('look_up_bill');
    expect(told.at(-1)?.said).toEqual(told[0]?.said);
  });

  it('say: the model knows the order, and everybody hears what is announced', async () => {
    const told: string[] = [];
    const llm: LanguageModel = {
      name: 'example/knows',
      async *respond({ messages }) {
        told.push(messages.map(({ content }) => content).join(' '));
        yield { type: 'text', delta: 'At noon.' };
      },
    };
    const ended: CallRecord[] = [];
    const { phone, url, announce } = await startSay({
      ...(await settings()),
      agent: { llm },
      onCallEnd: (record) => void ended.push(record),
    });
    const isSaid = new AbortController();
    const until: CallerStep = { type: 'wait-until', signal: isSaid.signal, timeoutMs: 30_000 };
    const script: CallerStep[] = [WAIT, { type: 'say', text: 'When is it ready?' }, WAIT, until];
    const calling = simulateCall({ url, from: '+15005550020', script });
    await eventually('the answer', () => (told.length > 0 ? true : undefined));
    expect(await announce('We close in ten minutes.')).toEqual(['heard']);
    isSaid.abort();
    await calling;
    await phone.disconnect();
    expect(told[0]).toContain('The caller has ordered two loaves of rye bread');
    expect(ended.flatMap(transcript).slice(-2)).toEqual([
      'agent: At noon.',
      'agent: We close in ten minutes.',
    ]);
  });

  it('on-message: a function, HTTP and a WebSocket answer', async () => {
    const answers = createAnswers().listen(0, '127.0.0.1');
    await once(answers, 'listening');
    const { port } = answers.address() as AddressInfo;
    const heard: (string | undefined)[] = [];
    for (const onMessage of [undefined, `http://127.0.0.1:${port}`, `ws://127.0.0.1:${port}`]) {
      const common = { ...(await settings()), ...(onMessage && { onMessage }) };
      const record = await play((options) => startMessages({ ...common, ...options }), 'Good morning.');
      heard.push(transcript(record)[2]?.toLowerCase());
    }
    answers.close();
    expect(heard).toEqual([
      'agent: 1 texts came before: good morning.',
      'agent: by http: good morning.',
      'agent: by websocket: good morning.',
    ]);
  });

  it('own voice: the caller hears four tones', async () => {
    const common = await settings();
    const record = await play((options) => startVoice({ ...common, ...options }));
    expect(record.provider.tts).toBe('example/tones');
    expect(transcript(record)).toEqual(['agent: These are four tones.']);
  });

  it('outbound: talks to a person, and leaves a message on a machine', async () => {
    const account = { accountSid: `AC${'0'.repeat(32)}`, authToken: 'any-text-without-blanks' };
    const common = { ...(await settings()), manageWebhook: false };
    const carrier = await startCarrierASimulator({
      ...account,
      url: `http://127.0.0.1:${common.port}`,
      webhookHost: 'voice.example.com',
      callees: {
        '+15550123': { type: 'human', script: [WAIT] },
        '+15550124': { type: 'machine', ringMs: 200, greetingMs: 1500, beep: true },
      },
    });
    const options = { ...common, carrier: { ...account, baseUrl: carrier.url } };
    const person = await remind('+15550123', options);
    const machine = await remind('+15550124', options);
    await carrier.close();
    expect(transcript(person)[0]).toBe(
      'agent: Hello Ada, this is a reminder of your appointment tomorrow at nine.',
    );
    expect(machine).toMatchObject({ outcome: 'voicemail', amd: { answeredBy: 'machine' } });
  });
});
