// Agents that a function chooses while the call rings, as whole calls on both carriers.
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.js';
import type { AgentChoice, ChooseAgent, RingingCall, ServeOptions } from '../../src/index.js';
import { Agent } from '../../src/options/agent.js';
import { OpenAIRealtime } from '../../src/providers/realtime/index.js';
import { type CallerStep, emulateOpenAIRealtime, type SimulatorOptions } from '../../src/testing/index.js';
import { eventually, startCarrierPhone } from '../support/carrier-phone.js';
import { RecordedLogger } from '../support/recorded-logger.js';
import { playedOn } from '../support/rotated.js';

const SALES = '+15005550030';
const CALLER = '+15005550020';
const LISTENS: readonly CallerStep[] = [{ type: 'wait-for-agent', quietMs: 500 }, { type: 'hang-up' }];
const REAL_TIME = { timeout: 40_000 };

const fallbackAgent = new Agent({ name: 'reception', firstMessage: 'Reception speaking.' });
const billing = new Agent({ name: 'billing', firstMessage: 'Hello {who}, billing speaking.' });
const never = () => new Promise<never>(() => {});

describe.concurrent.each(playedOn('carrier-a'))('a call whose agent is chosen, on %s', REAL_TIME, (id) => {
  const start = async (
    agent: ChooseAgent,
    options: Partial<ServeOptions> = {},
    simulator: Partial<SimulatorOptions> = {},
  ) => {
    const logger = new RecordedLogger();
    const running = await startCarrierPhone(
      id,
      {},
      { serve: { agent, fallbackAgent, logger, ...options }, simulator },
    );
    return Object.assign(running, {
      logger,
      call: async (script = LISTENS, more = {}) => {
        const report = await running.simulator.call({ from: CALLER, script, ...more });
        return { report, record: await running.record(report.carrierCallId) };
      },
    });
  };

  it('goes to the agent that the function returns', async () => {
    const asked: RingingCall[] = [];
    await using running = await start((call) => {
      asked.push(call);
      return { agent: billing, variables: { who: 'Ada' } };
    });
    const { report, record } = await running.call();
    expect(report.ok).toBe(true);
    expect(record).toMatchObject({ agent: 'billing', endReason: 'caller-hangup', error: null });
    expect(record.turns[0]?.agentText).toBe('Hello Ada, billing speaking.');
    expect(asked).toHaveLength(1);
    expect(asked[0]).toMatchObject({ callId: record.callId, direction: 'inbound', caller: CALLER });
    expect(asked[0]?.callee).toBe(record.callee);
  });

  it('may say something else first', async () => {
    await using running = await start(async () => ({ agent: billing, firstMessage: 'Your bill is paid.' }));
    const { record } = await running.call();
    expect(record.turns[0]?.agentText).toBe('Your bill is paid.');
  });

  it('goes to an agent of a realtime model', async () => {
    await using model = await emulateOpenAIRealtime();
    const engine = new OpenAIRealtime({ apiKey: 'test-key', baseUrl: `${model.url}/v1` });
    const voice = new Agent({ name: 'voice', engine, firstMessage: 'Hello.' });
    await using running = await start(() => voice);
    const { record } = await running.call();
    expect(record).toMatchObject({ agent: 'voice', mode: 'realtime', error: null });
    expect(record.turns[0]?.agentText).not.toBe('');
    expect(model.connections).toHaveLength(1);
  });

  it('goes to the fallback agent when the time is up', async () => {
    const signals: AbortSignal[] = [];
    await using running = await start((_call, { signal }) => {
      signals.push(signal);
      return never();
    });
    const { report, record } = await running.call();
    expect(record).toMatchObject({ agent: 'reception', endReason: 'caller-hangup' });
    expect(report.answer.answeredAfterMs).toBeGreaterThanOrEqual(2500);
    expect(report.answer.answeredAfterMs).toBeLessThan(4000);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
    expect(running.logger.sentences('warn')).toContain(
      'the agent function took too long: the fallback agent answers',
    );
  });

  it('goes to the fallback agent when the function throws, and the log says where', async () => {
    await using running = await start(function lookUpInCrm() {
      throw new TypeError('secret of the CRM');
    });
    const { record } = await running.call();
    expect(record.agent).toBe('reception');
    const line = running.logger.lines.find(({ sentence }) =>
      sentence.startsWith('the agent function failed'),
    );
    expect(line?.fields).toMatchObject({ callId: record.callId, error: 'TypeError' });
    expect(JSON.stringify(line?.fields.at)).toContain('chosen-agents.test.ts');
    expect(JSON.stringify(line)).not.toContain('secret of the CRM');
  });

  it.each([
    [undefined, 'must return an agent, or an object with one of agent, reject, say, transfer'],
    [{ transfer: SALES }, 'transfer must be a name in transferTargets of serve(): sales'],
    [{ transfer: 'toString' }, 'transfer must be a name in transferTargets of serve(): sales'],
    [{ agent: 'billing' }, 'agent in the result must be the result of phone.agent'],
    [{ reject: 'no' }, 'reject must be one of busy, declined'],
  ])('goes to the fallback agent when the function returns %j', async (result, complaint) => {
    const options = { transferTargets: { sales: SALES } };
    await using running = await start(() => result as AgentChoice, options);
    const { record } = await running.call();
    expect(record).toMatchObject({ agent: 'reception', transfer: null });
    const line = running.logger.lines.find(({ sentence }) =>
      sentence.startsWith('the agent function failed'),
    );
    expect(line?.fields.message).toContain(complaint);
  });

  it.each([
    ['busy', 'busy', 'busy'],
    ['declined', 'rejected', 'canceled'],
  ] as const)('is turned away as %s', async (reject, answer, outcome) => {
    await using running = await start(() => ({ reject }));
    const { report, record } = await running.call();
    expect(report.answer.outcome).toBe(answer);
    expect(record).toMatchObject({ endReason: 'rejected', outcome, answeredAt: null, turns: [] });
  });

  it('hears a text and is hung up', async () => {
    const say = 'We are closed <today> & tomorrow.';
    await using running = await start(() => ({ say, language: 'en' }));
    const { report, record } = await running.call();
    expect(record).toMatchObject({
      agent: null,
      endReason: 'agent-hangup',
      outcome: 'answered',
      mode: null,
      error: null,
    });
    expect(record.transcript.map(({ text }) => text)).toEqual([say]);
    expect(report.protocolErrors).toEqual([]);
    expect(report.agentSpeechMs).toBe(0);
  });

  it('is connected to a number', async () => {
    await using running = await start(
      () => ({ transfer: 'sales' }),
      { transferTargets: { sales: SALES } },
      {
        callees: {
          [SALES]: {
            type: 'human',
            ringMs: 500,
            script: [{ type: 'pause', durationMs: 2000 }, { type: 'hang-up' }],
          },
        },
      },
    );
    const { report, record } = await running.call([{ type: 'pause', durationMs: 20_000 }]);
    expect(record).toMatchObject({
      agent: null,
      endReason: 'transferred',
      outcome: 'answered',
      mode: null,
      error: null,
    });
    expect(record.transfer).toMatchObject({ to: SALES, result: 'connected' });
    expect(report.protocolErrors).toEqual([]);
  });

  it('goes to the fallback agent when the number is busy', async () => {
    await using running = await start(
      () => ({ transfer: 'sales' }),
      { transferTargets: { sales: SALES } },
      { callees: { [SALES]: { type: 'busy' } } },
    );
    const { record } = await running.call();
    expect(record).toMatchObject({ agent: 'reception', endReason: 'caller-hangup', error: null });
    expect(record.transfer).toMatchObject({ to: SALES, result: 'busy' });
    expect(record.turns[0]?.agentText).toBe('Reception speaking.');
  });

  it('ends when the caller leaves before the choice', async () => {
    const signals: AbortSignal[] = [];
    await using running = await start(
      (_call, { signal }) => {
        signals.push(signal);
        return never();
      },
      // Carrier A tells of it where the number's status URL is set.
      { answerWithinMs: 10_000, manageWebhook: true },
    );
    if (id === 'carrier-a')
      await eventually('the status URL', () =>
        running.logger.sentences('info').includes('the number points at this server') ? true : undefined,
      );
    const { record } = await running.call([], { maxDurationMs: 1000 });
    expect(record).toMatchObject({ endReason: 'caller-hangup', answeredAt: null, mode: null });
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
    expect(running.logger.sentences('warn')).not.toContain(
      'the agent function took too long: the fallback agent answers',
    );
  });

  it('is turned away when the server is stopped before the choice', async () => {
    const signals: AbortSignal[] = [];
    const running = await start(
      (_call, { signal }) => {
        signals.push(signal);
        return never();
      },
      { answerWithinMs: 10_000 },
    );
    const calling = running.simulator.call({ from: CALLER, script: LISTENS });
    await eventually('the question', () => signals[0]);
    await running[Symbol.asyncDispose]();
    const { answer } = await calling;
    expect(answer.outcome).not.toBe('answered');
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
    expect(running.records).toMatchObject([{ endReason: 'server-shutdown', outcome: 'canceled' }]);
  });

  it('is asked about once when its webhook comes twice', async () => {
    let asked = 0;
    await using running = await start(
      async () => {
        asked += 1;
        await new Promise((resolve) => systemClock.after(50, () => resolve(undefined)));
        return billing;
      },
      {},
      { disturbances: { duplicates: 1 } },
    );
    const { record } = await running.call();
    expect(record.agent).toBe('billing');
    expect(asked).toBe(1);
  });
});
