// A client with several numbers, and agents that are changed while it serves, as whole calls on both carriers.
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.js';
import type { SIMULATED_CARRIERS } from '../../src/contract/call-record.js';
import type { CallRecord } from '../../src/contract/call-record.js';
import type { Agent, AgentOptions, Offhook, PhoneNumberOptions, ServeOptions } from '../../src/index.js';
import { OpenAIRealtime } from '../../src/providers/realtime/index.js';
import {
  type CallerStep,
  type CarrierASimulator,
  emulateOpenAIRealtime,
  type SimulatorOptions,
} from '../../src/testing/index.js';
import { refusal } from '../options/refusal.js';
import { eventually, startCarrierPhone } from '../support/carrier-phone.js';
import { RecordedLogger } from '../support/recorded-logger.js';
import { playedOn } from '../support/rotated.js';

const SHOP = '+15005550010';
const BILLING = '+15005550011';
const UNKNOWN = '+15005550099';
const CALLEE = '+15005550030';
const WAIT: CallerStep = { type: 'wait-for-agent', quietMs: 500 };
const LISTENS: readonly CallerStep[] = [WAIT, { type: 'hang-up' }];
const REAL_TIME = { timeout: 40_000 };

const reception = { name: 'reception', firstMessage: 'Reception speaking.' };
const billing = { name: 'billing', firstMessage: 'Billing speaking.' };

const answers = ({ agent, callee, turns }: CallRecord) => [callee, agent, turns[0]?.agentText];

async function start(
  id: (typeof SIMULATED_CARRIERS)[number],
  options: {
    phoneNumbers?: readonly (string | PhoneNumberOptions)[];
    serve?: (agents: { phone: Offhook; reception: Agent; billing: Agent }) => Partial<ServeOptions>;
    billing?: AgentOptions;
    simulator?: Partial<SimulatorOptions>;
  } = {},
) {
  const logger = new RecordedLogger();
  const { phoneNumbers = [SHOP, { number: BILLING, agent: 'billing' }], simulator = {} } = options;
  const running = await startCarrierPhone(
    id,
    {},
    {
      phoneNumbers,
      simulator,
      agents: (phone) => {
        const agents = {
          phone,
          reception: phone.agent(reception),
          billing: phone.agent({ ...billing, ...options.billing }),
        };
        return { agent: agents.reception, logger, ...options.serve?.(agents) };
      },
    },
  );
  const call = async (to: string, script = LISTENS) => {
    const report = await running.simulator.call({ to, script });
    expect(report.ok).toBe(true);
    return running.record(report.carrierCallId);
  };
  return Object.assign(running, { logger, call });
}

describe.concurrent.each(playedOn('carrier-a'))('a client with several numbers, on %s', REAL_TIME, (id) => {
  it('gives a call to the agent of the number that was dialed, and any other to the agent of serve', async () => {
    await using running = await start(id);
    expect(answers(await running.call(SHOP))).toEqual([SHOP, 'reception', 'Reception speaking.']);
    expect(answers(await running.call(BILLING))).toEqual([BILLING, 'billing', 'Billing speaking.']);
    expect(running.logger.sentences('warn').join()).not.toContain('phoneNumbers');
  });

  it('asks the function about the numbers that have no agent', async () => {
    const asked: string[] = [];
    await using running = await start(id, {
      serve: (agents) => ({
        agent: ({ callee }) => {
          asked.push(callee);
          return agents.reception;
        },
        fallbackAgent: agents.reception,
      }),
    });
    await running.call(SHOP);
    expect(answers(await running.call(BILLING))).toEqual([BILLING, 'billing', 'Billing speaking.']);
    expect(asked).toEqual([SHOP]);
  });

  it('has a realtime model at one of them', async () => {
    await using model = await emulateOpenAIRealtime();
    const engine = new OpenAIRealtime({ apiKey: 'test-key', baseUrl: `${model.url}/v1` });
    await using running = await start(id, { billing: { engine } });
    expect(await running.call(BILLING)).toMatchObject({ agent: 'billing', mode: 'realtime', error: null });
    expect(await running.call(SHOP)).toMatchObject({ agent: 'reception', mode: 'pipeline', error: null });
    expect(model.connections).toHaveLength(1);
  });

  it('gives a call to a number that it does not know to the agent of serve, and says so once', async () => {
    await using running = await start(id);
    for (let time = 0; time < 2; time += 1)
      expect(answers(await running.call(UNKNOWN))).toEqual([UNKNOWN, 'reception', 'Reception speaking.']);
    const said = running.logger.lines.filter(({ sentence }) =>
      sentence.includes('phoneNumbers does not list'),
    );
    expect(said).toMatchObject([{ level: 'warn', fields: { callee: '…0099' } }]);
  });

  it('finds the calls of one number in the API', async () => {
    await using running = await start(id);
    await running.call(SHOP);
    const { callId } = await running.call(BILLING);
    const response = await fetch(
      `${running.server.url}/api/dashboard/calls?q=${encodeURIComponent(BILLING)}`,
    );
    const { calls } = (await response.json()) as { calls: CallRecord[] };
    expect(calls.map((each) => each.callId)).toEqual([callId]);
  });

  it('calls from the number that the call names, else from the first one', async () => {
    const callees = { [CALLEE]: { type: 'human', script: LISTENS } } as const;
    let other: Agent | undefined;
    await using running = await start(id, {
      simulator: { callees },
      serve: ({ billing: agent }) => {
        other = agent;
        return {};
      },
    });
    const { phone } = running;
    const first = await phone.call({ to: CALLEE });
    const second = await phone.call({ to: CALLEE, from: BILLING, agent: other });
    const records = [await first.ended, await second.ended];
    expect(records.map(({ caller, agent, turns }) => [caller, agent, turns[0]?.agentText])).toEqual([
      [SHOP, 'reception', 'Reception speaking.'],
      [BILLING, 'billing', 'Billing speaking.'],
    ]);
    const dials = running.simulator.requests.filter(({ purpose }) => purpose === 'dial');
    expect(dials.map(({ body }) => body.from ?? body.From)).toEqual([SHOP, BILLING]);
    await expect(phone.call({ to: CALLEE, from: UNKNOWN })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining('from must be a number of this client: …0010, …0011. …'),
    });
    expect(running.records).toHaveLength(2);
  });

  it('does not start with a number whose agent is not there', async () => {
    const numbers = [SHOP, { number: BILLING, agent: 'biling' }];
    await expect(start(id, { phoneNumbers: numbers })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message:
        'phoneNumbers[1] names the agent "biling", and the agents of this client are: reception, billing. Did you mean billing?',
    });
  });
});

it('points each number at the server, and says which one could not be', REAL_TIME, async () => {
  await using running = await start('carrier-a', {
    serve: () => ({ manageWebhook: true }),
    simulator: { disturbances: { restFailures: [{ purpose: 'number', status: 401, times: 1 }] } },
  });
  await eventually('both numbers', () =>
    running.logger.lines.filter(({ fields }) => fields.voiceUrl !== undefined).length === 2
      ? true
      : undefined,
  );
  const failed = running.logger.lines.filter(({ sentence }) => sentence.startsWith('could not set'));
  const { numbers } = running.simulator as CarrierASimulator;
  const unset = numbers.filter(({ voiceUrl }) => voiceUrl === '');
  const pointed = numbers.filter(
    ({ voiceUrl }) => voiceUrl === 'https://voice.example.com/webhooks/carrier-a/voice',
  );
  expect([unset.length, pointed.length]).toEqual([1, 1]);
  expect(failed).toMatchObject([
    { level: 'warn', fields: { number: unset[0]?.phoneNumber.replace('+1500555', '…') } },
  ]);
});

describe.concurrent.each(playedOn('carrier-a'))(
  'agents that are changed while a server runs, on %s',
  REAL_TIME,
  (id) => {
    /** A call that is up until the signal. */
    const stays = (signal: AbortSignal): CallerStep[] => [
      WAIT,
      { type: 'wait-until', signal, timeoutMs: 30_000 },
      { type: 'say', text: 'What time is it?' },
      ...LISTENS,
    ];

    it('take new calls, and those that are up keep theirs', async () => {
      await using running = await start(id);
      const isChanged = new AbortController();
      const up = running.call(SHOP, stays(isChanged.signal));
      await running.active(1, ({ turns }) => turns.length === 1);
      const { phone, server } = running;
      const closed = phone.agent({
        name: 'night',
        firstMessage: 'We are closed.',
        llm: fixed('Until eight.'),
      });
      server.setAgent(closed);
      isChanged.abort();
      expect(answers(await running.call(SHOP))).toEqual([SHOP, 'night', 'We are closed.']);
      expect(answers(await running.call(BILLING))).toEqual([BILLING, 'billing', 'Billing speaking.']);
      const kept = await up;
      expect(answers(kept)).toEqual([SHOP, 'reception', 'Reception speaking.']);
      expect(kept.turns[1]?.agentText).toContain('What time is it?');
    });

    it('talk in a call that they were called for, whatever comes between ring and stream', async () => {
      await using running = await start(id, {
        simulator: { disturbances: { streamDelayMs: 2000 } },
        serve: ({ phone }) => ({ agent: phone.agent({ firstMessage: 'We are open.' }) }),
      });
      const calling = running.call(SHOP);
      await eventually('the ring', () => running.simulator.webhooks[0]);
      await new Promise((resolve) => systemClock.after(500, () => resolve(undefined)));
      running.server.setAgent(running.phone.agent({ firstMessage: 'We are closed.' }));
      expect(answers(await calling)).toEqual([SHOP, null, 'We are open.']);
    });

    it('are made ready for new calls before the stream', async () => {
      await using model = await emulateOpenAIRealtime();
      const engine = new OpenAIRealtime({ apiKey: 'test-key', baseUrl: `${model.url}/v1` });
      await using running = await start(id, { simulator: { disturbances: { streamDelayMs: 2000 } } });
      running.server.setAgent(running.phone.agent({ name: 'voice', firstMessage: 'Hello.', engine }));
      const calling = running.call(SHOP);
      await eventually('the ring', () => running.simulator.webhooks[0]);
      await new Promise((resolve) => systemClock.after(1000, () => resolve(undefined)));
      expect(model.connections).toHaveLength(1);
      expect(await calling).toMatchObject({ agent: 'voice', mode: 'realtime' });
      expect(model.connections).toHaveLength(1);
    });

    it('take the place of a function', async () => {
      let asked = 0;
      await using running = await start(id, {
        serve: (agents) => ({
          agent: () => {
            asked += 1;
            return agents.billing;
          },
          fallbackAgent: agents.reception,
        }),
      });
      expect((await running.call(SHOP)).agent).toBe('billing');
      running.server.setAgent(running.phone.agent({ name: 'night', firstMessage: 'We are closed.' }));
      expect(answers(await running.call(SHOP))).toEqual([SHOP, 'night', 'We are closed.']);
      expect(asked).toBe(1);
    });

    it('take the place of another by its name, wherever calls get it', async () => {
      let given: Agent | undefined;
      await using model = await emulateOpenAIRealtime();
      await using running = await start(id, {
        phoneNumbers: [SHOP, UNKNOWN, { number: BILLING, agent: 'billing' }],
        simulator: { callees: { [CALLEE]: { type: 'human', script: LISTENS } } },
        serve: (agents) => {
          given = agents.billing;
          return { agent: () => agents.billing, fallbackAgent: agents.reception };
        },
      });
      const { phone, server } = running;
      const engine = new OpenAIRealtime({ apiKey: 'test-key', baseUrl: `${model.url}/v1` });
      server.setAgent('billing', phone.agent({ firstMessage: 'New billing.', engine }));
      const placed = await phone.call({ to: CALLEE, agent: given });
      const records = [await running.call(SHOP), await running.call(BILLING), await placed.ended];
      expect(records.map(({ agent, mode }) => [agent, mode])).toEqual(Array(3).fill(['billing', 'realtime']));
      // And back again.
      if (given !== undefined) server.setAgent('billing', given);
      expect(answers(await running.call(BILLING))).toEqual([BILLING, 'billing', 'Billing speaking.']);
    });

    it('take the place of the agent of serve by its name', async () => {
      let given: Agent | undefined;
      await using running = await start(id, {
        serve: ({ reception }) => {
          given = reception;
          return { agent: reception };
        },
      });
      running.server.setAgent('reception', running.phone.agent({ firstMessage: 'New reception.' }));
      expect(answers(await running.call(SHOP))).toEqual([SHOP, 'reception', 'New reception.']);
      // It would be another one than is given here.
      expect(() => given && running.server.setAgent(given)).toThrow("with setAgent('reception', agent)");
      expect(answers(await running.call(SHOP))).toEqual([SHOP, 'reception', 'New reception.']);
    });

    it('are refused where they cannot talk or have another name, and nothing changes', async () => {
      await using running = await start(id, { serve: () => ({ onMessage: () => 'Yes.' }) });
      const { phone, server } = running;
      const refused = (...given: unknown[]) =>
        refusal(() => (server.setAgent as (...args: unknown[]) => void)(...given)).message;
      const night = phone.agent({ name: 'night' });
      expect(refused()).toContain('setAgent() takes an agent, or a name and an agent');
      expect(refused('billing')).toContain('setAgent("billing", agent).');
      expect(refused('biling')).toContain('are: reception, billing, night.');
      expect(refused(night, night)).toContain('The name comes first.');
      expect(refused(night, 'billing')).toContain('the name first: setAgent("billing", agent).');
      expect(refused({ systemPrompt: '' })).toContain('not its options');
      expect(refused('billing', { systemPrompt: '' })).toContain('the second argument is none');
      expect(refused('biling', phone.agent({}))).toContain('are: reception, billing, night');
      expect(refused('billing', night)).toContain("setAgent('billing', phone.agent({ … }))");
      const mute = phone.agent({ engine: new OpenAIRealtime({ apiKey: 'test-key' }) });
      expect(refused('billing', mute)).toContain('onMessage replaces a language model');
      expect(refused(mute)).toContain('onMessage replaces a language model');
      expect(answers(await running.call(SHOP))).toEqual([SHOP, 'reception', 'Reception speaking.']);
      expect(answers(await running.call(BILLING))).toEqual([BILLING, 'billing', 'Billing speaking.']);
    });
  },
);

function fixed(delta: string) {
  return {
    kind: 'llm',
    name: 'test/fixed',
    async *respond() {
      yield { type: 'text', delta } as const;
    },
  } as const;
}
