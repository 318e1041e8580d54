import { describe, expect, it } from 'vitest';
import { LimitError } from '../../../src/base/errors.js';
import { Budget, type BudgetLimits } from '../../../src/calls/money/budget.js';
import { Spending } from '../../../src/calls/money/spending.js';
import type { CallEvent, CallFact } from '../../../src/contract/call-event.js';
import type { CallRecord } from '../../../src/contract/call-record.js';
import { CallBench, WEBHOOK_HOST } from '../../support/call-bench.js';
import { ended, stamp, started } from '../../support/call-facts.js';
import { FakeClock } from '../../support/fake-clock.js';
import { RecordedLogger } from '../../support/recorded-logger.js';

const PAYEES = { tts: { name: 'fake/tts', price: { perThousandCharacters: 1 } } };
const OUTBOUND = {
  to: '+15550111',
  from: '+15550100',
  recipe: undefined,
  machineDetection: false,
  voicemailMessage: undefined,
  ringTimeoutSeconds: 25,
};

function bench(budget: BudgetLimits) {
  return new CallBench({
    payees: PAYEES,
    budget,
    pricing: { 'carrier-a': { inbound: { perMinute: 0 } } },
  });
}

function spend(calls: CallBench, dollars: number, callId = 'call-1') {
  const engine = calls.engines.find((each) => each.context.callId === callId);
  engine?.context.fact({
    type: 'usage.measured',
    stage: 'tts',
    turnIndex: null,
    quantities: { characters: dollars * 1000 },
    isGuess: false,
  });
  calls.clock.advance(5000);
}

function costing(total: number): CallFact {
  const stages = { stt: null, llm: null, tts: null, telephony: null };
  return { type: 'cost.updated', cost: { ...stages, total, currency: 'USD', estimated: true }, usage: null };
}

describe('a call with a budget', () => {
  it('is warned of once at 80 %, and says goodbye at 100 %', async () => {
    const calls = bench({ perCall: 1 });
    calls.call();
    spend(calls, 0.79);
    expect(calls.record().incidents).toEqual([]);
    spend(calls, 0.01);
    spend(calls, 0.01);
    expect(calls.record().incidents).toMatchObject([{ code: 'budget-near' }]);
    spend(calls, 0.19);
    await calls.pass();
    expect(calls.engine.heard.at(-1)).toBe('close');
    expect(calls.rest.of('speak')).toEqual([
      'speak carrier-call-1 en-US I am sorry, I have to end this call now. Goodbye.',
    ]);
    expect(calls.record().status).toBe('active');
    calls.report({ type: 'speech-ended' });
    expect(calls.record()).toMatchObject({ status: 'completed', endReason: 'budget', outcome: 'answered' });
    expect(calls.record().transcript).toMatchObject([
      { role: 'agent', text: 'I am sorry, I have to end this call now. Goodbye.', final: true },
    ]);
    expect(calls.record().incidents).toHaveLength(1);
  });

  it('is near once, also where some of the cost is taken back in between', () => {
    const near: string[] = [];
    const events = { near: (callId: string) => void near.push(callId), over: () => {} };
    const budget = new Budget(
      { perCall: 1 },
      { clock: new FakeClock(), logger: new RecordedLogger(), events },
    );
    for (const event of stamp([started(), ...[0.85, 0.5, 0.85].map(costing)])) budget.hear(event);
    expect(near).toEqual(['call-1']);
  });

  it('has no goodbye in its transcript that the carrier did not take', async () => {
    const calls = bench({ perCall: 1 });
    calls.call();
    calls.rest.failures.speak = new Error('500');
    spend(calls, 2);
    await calls.pass();
    expect(calls.record()).toMatchObject({ status: 'completed', transcript: [] });
  });

  it('ends hard when the goodbye does not end', async () => {
    const calls = bench({ perCall: 1 });
    calls.call();
    spend(calls, 2);
    await calls.pass(20_000);
    expect(calls.record()).toMatchObject({ status: 'active' });
    await calls.pass(2000);
    expect(calls.record()).toMatchObject({ status: 'completed', endReason: 'budget' });
    await calls.pass(10_000);
    expect(calls.rest.of('hangUp').length + calls.rest.of('lookUp').length).toBeGreaterThan(0);
  });

  it('ends at once without a voice at the carrier', async () => {
    const calls = bench({ perCall: 1 });
    calls.rest.configured = false;
    const { socket } = calls.call();
    spend(calls, 2);
    await calls.pass();
    expect(calls.record()).toMatchObject({ endReason: 'budget' });
    expect(socket.closes).toHaveLength(1);
  });

  it('does not end a caller who is being handed over, until it costs more', async () => {
    const calls = bench({ perCall: 1 });
    calls.call();
    await calls.desk.transfer('call-1', '+15550123');
    spend(calls, 2);
    await calls.pass();
    expect(calls.rest.of('speak')).toEqual([]);
    expect(calls.record().status).toBe('active');
    calls.report({ type: 'transfer', result: 'busy' });
    calls.connect();
    spend(calls, 0.1);
    await calls.pass();
    expect(calls.rest.of('speak')).toHaveLength(1);
  });

  it('says nothing to a caller who has left', async () => {
    const calls = bench({ perCall: 1 });
    calls.call();
    calls.report({ type: 'status', status: 'completed', outcome: 'answered', sequence: 3 });
    calls.report({ type: 'cost', costUsd: 2 });
    await calls.pass(3000);
    expect(calls.record()).toMatchObject({ status: 'completed', endReason: 'carrier-hangup' });
  });

  it('leaves other calls alone, and ends once', async () => {
    const calls = bench({ perCall: 1 });
    calls.call('call-2');
    calls.call();
    spend(calls, 2);
    spend(calls, 0.5, 'call-2');
    spend(calls, 2);
    await calls.pass(60_000);
    expect(calls.record('call-2').status).toBe('active');
    expect(calls.ofType('call.ended')).toHaveLength(1);
  });
});

describe('a budget for an hour', () => {
  it('turns new calls away while it is used up, and lets them in when the window has passed', async () => {
    const calls = bench({ perHour: 1 });
    calls.call();
    spend(calls, 0.9);
    expect(calls.desk.isOverBudget).toBe(false);
    expect(calls.logger.sentences('warn')).toHaveLength(1);
    spend(calls, 0.1);
    expect(calls.desk.isOverBudget).toBe(true);
    await expect(calls.desk.dial(OUTBOUND)).rejects.toThrow(LimitError);
    await expect(calls.desk.dial(OUTBOUND)).rejects.toThrow('budget.perHour is used up');
    expect(calls.rest.dials).toEqual([]);
    const refused = calls.events.filter(({ type }) => type === 'call.ended');
    expect(refused).toMatchObject([
      { endReason: 'budget', outcome: 'failed' },
      { endReason: 'budget', outcome: 'failed' },
    ]);
    calls.desk.refuse({
      callId: 'call-9',
      carrierCallId: 'carrier-call-9',
      caller: '+15550111',
      callee: '+15550100',
      direction: 'inbound',
      host: WEBHOOK_HOST,
    });
    expect(calls.record('call-9')).toMatchObject({ endReason: 'budget', outcome: 'busy' });
    // Who talks goes on.
    expect(calls.record().status).toBe('active');
    calls.clock.advance(61 * 60_000);
    expect(calls.desk.isOverBudget).toBe(false);
    await expect(calls.desk.dial(OUTBOUND)).resolves.toBeDefined();
  });

  it('counts what was charged before a carrier corrects it, and then what it says', () => {
    const calls = bench({ perHour: 1 });
    calls.call();
    spend(calls, 0.5);
    calls.report({ type: 'cost', costUsd: 0.6 });
    expect(calls.desk.isOverBudget).toBe(true);
    calls.report({ type: 'cost', costUsd: 0.1 });
    expect(calls.desk.isOverBudget).toBe(false);
  });

  it('is not made larger by what a carrier takes back later than it was spent', () => {
    const calls = bench({ perHour: 1 });
    calls.call();
    spend(calls, 0.1);
    calls.report({ type: 'cost', costUsd: 0.8 });
    calls.clock.advance(30 * 60_000);
    calls.report({ type: 'cost', costUsd: 0.1 });
    // What was spent is an hour old by now, and so is what was taken back.
    calls.clock.advance(31 * 60_000);
    calls.call('call-2');
    spend(calls, 1, 'call-2');
    expect(calls.desk.isOverBudget).toBe(true);
  });
});

it('a budget takes back from when a call last cost more, not from when it was told the same again', () => {
  const clock = new FakeClock();
  const events = { near: () => {}, over: () => {} };
  const budget = new Budget({ perHour: 1 }, { clock, logger: new RecordedLogger(), events });
  const hear = (callId: string, total: number) => {
    for (const event of stamp([started(), costing(total)], { callId })) budget.hear(event);
  };
  hear('call-1', 0.8);
  clock.advance(30 * 60_000);
  hear('call-1', 0.8);
  hear('call-1', 0.1);
  clock.advance(31 * 60_000);
  hear('call-2', 1);
  expect(budget.exhausted).toBe('perHour');
});

it('a budget knows what a call has cost however many others end meanwhile', () => {
  const clock = new FakeClock();
  const events = { near: () => {}, over: () => {} };
  const budget = new Budget({ perHour: 1 }, { clock, logger: new RecordedLogger(), events });
  const hear = (callId: string, ...facts: CallFact[]) => {
    for (const event of stamp(facts, { callId })) budget.hear(event);
  };
  hear('call-1', started(), costing(0.6));
  for (let other = 0; other <= 1000; other += 1) hear(`other-${other}`, started(), ended());
  hear('call-1', costing(0.6));
  expect(budget.exhausted).toBeUndefined();
  hear('call-1', costing(1));
  expect(budget.exhausted).toBe('perHour');
});

it('a budget charges no call a second time that it has forgotten', () => {
  const clock = new FakeClock();
  const told: string[] = [];
  const events = { near: () => {}, over: (callId: string) => void told.push(callId) };
  const budget = new Budget({ perCall: 0.5, perHour: 1 }, { clock, logger: new RecordedLogger(), events });
  const hear = (callId: string, ...facts: CallFact[]) => {
    for (const event of stamp(facts, { callId })) budget.hear(event);
  };
  hear('call-1', started(), costing(0.4), ended());
  for (let other = 0; other <= 1000; other += 1) hear(`other-${other}`, started(), ended());
  hear('call-1', costing(0.7));
  expect([budget.exhausted, told]).toEqual([undefined, []]);
});

describe('a budget after a restart', () => {
  const record = (callId: string, total: number, agoMs: number, clock: FakeClock) =>
    ({
      callId,
      startedAt: clock.wallNow() - agoMs - 1000,
      endedAt: clock.wallNow() - agoMs,
      cost: { total },
    }) as CallRecord;

  function empty(limits: BudgetLimits) {
    const clock = new FakeClock();
    const logger = new RecordedLogger();
    const events = { near: () => {}, over: () => {} };
    return { clock, logger, budget: new Budget(limits, { clock, logger, events }) };
  }

  it('counts the calls that the store still has', async () => {
    const { clock, budget } = empty({ perHour: 1, perDay: 3 });
    const records = [
      record('a', 0.9, 30 * 60_000, clock),
      record('a', 0.9, 30 * 60_000, clock),
      record('b', 2, 5 * 60 * 60_000, clock),
      record('c', 50, 25 * 60 * 60_000, clock),
    ];
    await budget.recallFrom(async () => records);
    expect(budget.exhausted).toBeUndefined();
    budget.recall([record('d', 0.1, 0, clock)]);
    expect(budget.exhausted).toBe('perHour');
    clock.advance(61 * 60_000);
    expect(budget.exhausted).toBe('perDay');
    clock.advance(24 * 60 * 60_000);
    expect(budget.exhausted).toBeUndefined();
  });

  it('counts a call that died with the process before, whose end is told first', () => {
    const { clock, budget } = empty({ perHour: 1 });
    for (const event of stamp([ended()], { callId: 'a' })) budget.hear(event);
    budget.recall([record('a', 1, 1000, clock)]);
    expect(budget.exhausted).toBe('perHour');
  });

  describe('with a call that goes on', () => {
    const resumed = (clock: FakeClock, total: number, fields: Partial<CallRecord> = {}) => {
      const answeredAt = clock.wallNow() - 2 * 60 * 60_000;
      return { callId: 'a', answeredAt, cost: { total }, incidents: [], ...fields } as unknown as CallRecord;
    };

    function taken(limits: BudgetLimits, total: number, fields?: Partial<CallRecord>) {
      const clock = new FakeClock();
      const told: string[] = [];
      const events = { near: () => void told.push('near'), over: () => void told.push('over') };
      const logger = new RecordedLogger();
      const budget = new Budget(limits, { clock, logger, events });
      const record = resumed(clock, total, fields);
      budget.resume(record);
      budget.resume(record);
      const costs = (dollars: number) => {
        for (const event of stamp([started(), costing(dollars)], { callId: 'a' })) budget.hear(event);
      };
      return { clock, budget, told, costs, record, logger };
    }

    it('counts what it had used from when it was used', () => {
      const { budget, costs } = taken({ perHour: 1 }, 1.9);
      // Half of it was spent in the hour before.
      expect(budget.exhausted).toBeUndefined();
      costs(1.94);
      expect(budget.exhausted).toBeUndefined();
      costs(1.96);
      expect(budget.exhausted).toBe('perHour');
    });

    it('counts all of it in the day', () => {
      const { budget, costs } = taken({ perDay: 2 }, 1.999999);
      expect(budget.exhausted).toBeUndefined();
      costs(2);
      expect(budget.exhausted).toBe('perDay');
    });

    it('has used what it had used of its own limit', () => {
      const { costs, told } = taken({ perCall: 1 }, 0.7);
      costs(0.79);
      expect(told).toEqual([]);
      costs(0.8);
      costs(1);
      expect(told).toEqual(['near', 'over']);
    });

    it.each([
      [1.59, 0],
      [1.6, 1],
    ])('says so, once, where most of a window is used by it: $%d of 2', (total, warnings) => {
      const { logger } = taken({ perDay: 2 }, total);
      expect(logger.sentences('warn')).toHaveLength(warnings);
    });

    it('is warned once', () => {
      const note = { at: 0, code: 'budget-near', message: '', durationMs: null };
      const { costs, told } = taken({ perCall: 1 }, 0.9, { incidents: [note] });
      costs(0.95);
      expect(told).toEqual([]);
      costs(1.1);
      expect(told).toEqual(['over']);
    });

    it('is not counted once more when the store tells of it', () => {
      const { budget, record } = taken({ perHour: 1 }, 0.6, { answeredAt: null });
      budget.hear(stamp([ended()], { callId: 'a' })[0] as CallEvent);
      budget.recall([record]);
      expect(budget.exhausted).toBeUndefined();
    });
  });

  it('begins anew, and says so, when the store cannot tell', async () => {
    const { budget, logger } = empty({ perDay: 1 });
    await budget.recallFrom(async () => Promise.reject(new Error('the disk is gone')));
    expect(budget.exhausted).toBeUndefined();
    expect(logger.sentences('warn')).toHaveLength(1);
  });
});

it('spending slides out of its window by the minute', () => {
  const clock = new FakeClock();
  const spending = new Spending(clock);
  spending.add(5);
  clock.advance(30 * 60_000);
  spending.add(7);
  expect([spending.within('perHour'), spending.within('perDay')]).toEqual([12, 12]);
  clock.advance(30 * 60_000);
  expect([spending.within('perHour'), spending.within('perDay')]).toEqual([7, 12]);
  clock.advance(24 * 60 * 60_000);
  expect([spending.within('perHour'), spending.within('perDay')]).toEqual([0, 0]);
});

const HOUR_MS = 60 * 60_000;

describe('a budget that several processes share', () => {
  const open = (unheard: () => number) => {
    const clock = new FakeClock();
    const told: string[] = [];
    const events = { near: () => {}, over: (callId: string) => void told.push(callId) };
    const budget = new Budget({ perHour: 1 }, { clock, logger: new RecordedLogger(), events });
    budget.shareWith(unheard);
    const facts = (callId: string, total: number, agoMs = 0) =>
      stamp([started(), costing(total)], { callId, at: clock.wallNow() - agoMs, stepMs: 0 });
    const hear = (...fact: Parameters<typeof facts>) => {
      for (const event of facts(...fact)) budget.hear(event);
    };
    const hearElsewhere = (...fact: Parameters<typeof facts>) => {
      for (const event of facts(...fact)) budget.hearElsewhere(event);
    };
    const heardAgo = (callId: string, total: number, { agoMs, byMs }: { agoMs: number; byMs: number }) => {
      for (const event of facts(callId, total, agoMs - byMs)) budget.hearElsewhere(event, { agoMs });
    };
    return { budget, clock, hear, hearElsewhere, heardAgo };
  };

  it('counts what others spend, once, however often it is heard', () => {
    const { budget, hear, hearElsewhere } = open(() => 0);
    hear('call-1', 0.4);
    for (let time = 0; time < 3; time += 1) hearElsewhere('call-2', 0.5);
    expect(budget.exhausted).toBeUndefined();
    hearElsewhere('call-2', 0.6);
    expect(budget.exhausted).toBe('perHour');
  });

  it('counts it from when it was spent', () => {
    const { budget, clock, hearElsewhere } = open(() => 0);
    hearElsewhere('call-2', 1, 30 * 60_000);
    expect(budget.exhausted).toBe('perHour');
    clock.advance(31 * 60_000);
    expect(budget.exhausted).toBeUndefined();
    hearElsewhere('call-3', 1, 61 * 60_000);
    expect(budget.exhausted).toBeUndefined();
  });

  it.each([HOUR_MS, -HOUR_MS])(
    'counts it from when it was told, where the clock of the other is %i ms ahead',
    (byMs) => {
      const { budget, clock, heardAgo } = open(() => 0);
      heardAgo('call-2', 1, { agoMs: 30 * 60_000, byMs });
      expect(budget.exhausted).toBe('perHour');
      clock.advance(31 * 60_000);
      expect(budget.exhausted).toBeUndefined();
    },
  );

  it('charges a call that comes from another process for what it costs here', () => {
    const { budget, hear, hearElsewhere } = open(() => 0);
    hearElsewhere('call-1', 0.6);
    hear('call-1', 0.9);
    expect(budget.exhausted).toBeUndefined();
    hear('call-1', 1);
    expect(budget.exhausted).toBe('perHour');
  });

  it('leaves each its share of the rest while nothing is heard', () => {
    let unheard = 0;
    const { budget, hear, hearElsewhere } = open(() => unheard);
    hear('call-1', 0.1);
    hearElsewhere('call-2', 0.3);
    unheard = 2;
    // A third of what is left.
    hear('call-1', 0.29);
    expect(budget.exhausted).toBeUndefined();
    hear('call-1', 0.3);
    expect(budget.exhausted).toBe('perHour');
    unheard = 0;
    expect(budget.exhausted).toBeUndefined();
    hearElsewhere('call-2', 0.69);
    expect(budget.exhausted).toBeUndefined();
    hear('call-1', 0.31);
    expect(budget.exhausted).toBe('perHour');
  });

  it('forgets what it assumed of a silence once others were heard', () => {
    let unheard = 1;
    const { budget, hear } = open(() => unheard);
    hear('call-1', 0.4);
    unheard = 0;
    hear('call-1', 0.41);
    unheard = 1;
    hear('call-1', 0.5);
    // 0.5, and 0.09 of the second silence.
    expect(budget.exhausted).toBeUndefined();
    hear('call-1', 0.705);
    expect(budget.exhausted).toBe('perHour');
  });
});
