import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CallLedger, type LedgerState } from '../../../src/calls/facts/call-ledger.js';
import { type PriceOverrides, Pricing } from '../../../src/calls/money/pricing.js';
import type { CallEvent } from '../../../src/contract/call-event.js';
import type { CallRecord, Cost } from '../../../src/contract/call-record.js';
import type { Payees, UsageFact } from '../../../src/engines/engine.js';
import { EventBus } from '../../../src/events/bus.js';
import { reduceCall } from '../../../src/events/reduce.js';
import { ended, IDENTITY, started, turn } from '../../support/call-facts.js';
import { createFakeCarrier, FakeRest } from '../../support/call-fakes.js';
import { FakeClock } from '../../support/fake-clock.js';
import { RecordedLogger } from '../../support/recorded-logger.js';

const PAYEES: Payees = {
  stt: { name: 'fake/stt', price: { perAudioMinute: 0.0077 } },
  llm: { name: 'fake/llm', price: { inputPerMillionTokens: 0.13, outputPerMillionTokens: 0.57 } },
  tts: { name: 'fake/tts', price: { perThousandCharacters: 0.053 } },
};
const PRICES: PriceOverrides = {
  'carrier-a': { inbound: { perMinute: 0.0085 }, stream: { perMinute: 0.0044 } },
};
const PROVIDERS = { engine: null, stt: 'fake/stt', llm: 'fake/llm', tts: 'fake/tts' };
const RESUMED = { type: 'call.status', status: 'active', ...IDENTITY } as const;

interface Successor {
  readonly prices?: PriceOverrides;
  readonly payees?: Payees;
  /** Of what the process before has stored. */
  readonly state?: 'whole' | 'lost' | LedgerState;
  readonly wasLetGo?: boolean;
}

/** A call that goes from process to process. */
class MovedCall {
  readonly clock = new FakeClock();
  readonly events: CallEvent[] = [];
  record: CallRecord | undefined;
  ledger: CallLedger;
  #processes = 0;

  constructor(prices = PRICES) {
    this.ledger = this.#ledger(prices);
    this.ledger.publish({ ...RESUMED, status: 'ringing' });
    this.pays(PAYEES);
    this.ledger.publish(started());
  }

  pays(payees: Payees): void {
    this.ledger.pays({ payees, providers: PROVIDERS });
  }

  uses(stage: UsageFact['stage'], quantities: UsageFact['quantities'], turnIndex: number | null = 0): void {
    this.ledger.take({ type: 'usage.measured', stage, turnIndex, quantities, isGuess: false });
  }

  completes(index: number): void {
    this.ledger.take({ type: 'turn.completed', turn: turn(index) });
  }

  /** Another process takes the call up. */
  moves({ prices = PRICES, payees = PAYEES, state = 'whole', wasLetGo = true }: Successor = {}): void {
    const states = { whole: this.ledger.state, lost: undefined };
    const stored = { record: this.record, state: typeof state === 'string' ? states[state] : state };
    const kept = JSON.parse(JSON.stringify(stored)) as { record: CallRecord; state: LedgerState | undefined };
    // Who is given a call knows no better time than its own.
    const at = wasLetGo ? this.clock.wallNow() : (this.events.at(-1)?.at ?? 0);
    // The one before says nothing any more.
    this.#bus = undefined;
    this.ledger = this.#ledger(prices, { record: kept.record, state: kept.state, at, wasLetGo });
    this.ledger.publish(RESUMED);
    this.pays(payees);
  }

  ends(): CallRecord {
    this.ledger.publish(ended());
    return this.record as CallRecord;
  }

  #bus: EventBus | undefined;

  #ledger(prices: PriceOverrides, resumed?: ConstructorParameters<typeof CallLedger>[2]): CallLedger {
    const logger = new RecordedLogger();
    const bus = new EventBus(logger);
    this.#bus = bus;
    bus.subscribe((event) => {
      if (this.#bus !== bus) return;
      this.events.push(event);
      this.record = reduceCall(this.record, event);
    });
    this.#processes += 1;
    const carrier = createFakeCarrier({ rest: new FakeRest() });
    const nodeId = `node-${this.#processes}`;
    const environment = {
      nodeId,
      bus,
      clock: this.clock,
      carrier,
      pricing: new Pricing({ overrides: prices, logger }),
    };
    return new CallLedger('call-1', environment, resumed);
  }
}

type Step = (call: MovedCall) => void;

const turnIndex = fc.option(fc.nat(4));
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ turnIndex, seconds: fc.nat(9000) }).map(
    ({ turnIndex, seconds }): Step =>
      (call) =>
        call.uses('stt', { audioSeconds: seconds / 1000 }, turnIndex),
  ),
  fc.record({ turnIndex, inputTokens: fc.nat(5000), outputTokens: fc.nat(300) }).map(
    ({ turnIndex, ...quantities }): Step =>
      (call) =>
        call.uses('llm', quantities, turnIndex),
  ),
  fc.record({ turnIndex, characters: fc.nat(400) }).map(
    ({ turnIndex, characters }): Step =>
      (call) =>
        call.uses('tts', { characters }, turnIndex),
  ),
  fc.nat(4).map(
    (index): Step =>
      (call) =>
        call.completes(index),
  ),
  fc.nat(90_000).map(
    (ms): Step =>
      (call) =>
        call.clock.advance(ms),
  ),
);
const plan = fc.tuple(
  fc.array(step, { maxLength: 40 }),
  fc.array(fc.nat(40), { minLength: 1, maxLength: 3 }),
);

function played(steps: readonly Step[], cuts: readonly number[], successor?: Successor) {
  const call = new MovedCall();
  for (const [index, take] of steps.entries()) {
    if (cuts.includes(index)) call.moves(successor);
    take(call);
  }
  if (cuts.some((cut) => cut >= steps.length)) call.moves(successor);
  return call;
}

const micros = (dollars: number | null) => Math.round((dollars ?? 0) * 1e6);

function expectAtLeast(cost: Cost, before: Cost): void {
  for (const part of ['stt', 'llm', 'tts', 'telephony', 'total'] as const)
    expect(micros(cost[part])).toBeGreaterThanOrEqual(micros(before[part]));
}

describe('the money of a call that another process takes up', () => {
  it('is in the end what one process would have counted', () => {
    fc.assert(
      fc.property(plan, ([steps, cuts]) => {
        const [one, several] = [played(steps, []).ends(), played(steps, cuts).ends()];
        const costs = ({ turns }: CallRecord) => turns.map(({ index, cost }) => ({ index, cost }));
        expect(several.cost).toEqual(one.cost);
        expect(several.usage).toEqual(one.usage);
        expect(costs(several)).toEqual(costs(one));
      }),
    );
  });

  it('is at least what the record says where the state is lost, whatever is charged now', () => {
    const cheap = { 'carrier-a': { inbound: { perMinute: 0.0001 } } };
    const successor = fc.constantFrom<Successor>({}, { prices: cheap }, { prices: {} });
    fc.assert(
      fc.property(plan, successor, ([steps, [cut = 0]], next) => {
        const before = played(steps.slice(0, cut), []);
        const { cost, usage } = structuredClone(before.record as CallRecord);
        const after = played(steps.slice(0, cut), [cut], { ...next, state: 'lost' });
        for (const take of steps.slice(cut)) take(after);
        const record = after.ends();
        expectAtLeast(record.cost, cost);
        expect(record.cost.estimated).toBe(true);
        for (const [quantity, amount] of Object.entries(usage ?? {}))
          expect(record.usage?.[quantity as keyof typeof record.usage]).toBeGreaterThanOrEqual(amount);
      }),
    );
  });

  it('has the whole turn that one process began and another one completed', () => {
    const call = new MovedCall();
    call.uses('stt', { audioSeconds: 60 });
    call.uses('llm', { outputTokens: 1_000_000 });
    call.moves();
    call.uses('tts', { characters: 1000 });
    call.completes(0);
    expect(call.record?.turns).toMatchObject([{ index: 0, cost: 0.6307 }]);
    call.uses('tts', { characters: 1000 });
    expect(call.record?.turns).toMatchObject([{ index: 0, cost: 0.6837 }]);
  });

  it('has the tokens of all processes, and none where some may be lost', () => {
    const tokensOf = (successor: Successor) => {
      const call = new MovedCall();
      call.uses('llm', { inputTokens: 10, outputTokens: 1 });
      call.completes(0);
      call.uses('llm', { inputTokens: 20, outputTokens: 2 }, 1);
      call.ledger.take({ type: 'turn.started', turnIndex: 1 });
      call.moves(successor);
      call.uses('llm', { inputTokens: 30, outputTokens: 3 }, 1);
      call.completes(1);
      call.uses('llm', { outputTokens: 4 }, 1);
      return call.record?.turns.map(({ tokens }) => tokens && [tokens.inputTokens, tokens.outputTokens]);
    };
    expect(tokensOf({})).toEqual([
      [10, 1],
      [50, 9],
    ]);
    for (const state of ['whole', 'lost'] as const)
      expect(tokensOf({ state, wasLetGo: false })).toEqual([[10, 1], null]);
  });

  it('keeps the price that it was used at', () => {
    const call = new MovedCall();
    call.uses('tts', { characters: 1000 });
    call.completes(0);
    call.clock.advance(61_000);
    const payees = { ...PAYEES, tts: { name: 'dear/tts', price: { perThousandCharacters: 1 } } };
    call.moves({ payees, prices: { 'carrier-a': { inbound: { perMinute: 5 } } } });
    call.uses('tts', { characters: 1000 }, 1);
    call.completes(1);
    expect(call.record?.cost).toMatchObject({ tts: 1.053, telephony: 0.0258 });
    expect(call.record?.turns).toMatchObject([{ cost: 0.053 }, { cost: 1 }]);
  });

  it('is unknown in a stage that has no price any more, and still knows what the others have cost', () => {
    const call = new MovedCall();
    call.uses('llm', { outputTokens: 1_000_000 });
    call.completes(0);
    call.moves({ payees: { ...PAYEES, tts: { name: 'odd/tts' } } });
    call.uses('tts', { characters: 1000 }, 1);
    call.completes(1);
    expect(call.record?.cost).toMatchObject({ llm: 0.57, tts: null, stt: 0 });
    expect(call.record?.turns).toMatchObject([{ cost: 0.57 }, { cost: null }]);
  });

  it('goes on with the line from the first answer, the time without a process included', () => {
    const call = new MovedCall();
    call.clock.advance(50_000);
    const { events } = call;
    expect(call.record?.usage?.telephonySeconds).toBe(60);
    call.moves();
    call.clock.advance(10_002);
    expect(call.record).toMatchObject({ usage: { telephonySeconds: 120 }, cost: { telephony: 0.0258 } });
    expect(events.at(-1)).toMatchObject({ type: 'cost.updated', term: 2 });
    expect(call.ends()).toMatchObject({ durationMs: 60_002 });
  });

  it('is at least what was told after the state was stored', () => {
    const call = new MovedCall();
    const { state } = call.ledger;
    call.uses('stt', { audioSeconds: 60 });
    call.uses('tts', { characters: 1000 });
    call.completes(0);
    call.moves({ state });
    call.uses('tts', { characters: 1000 });
    expect(call.record).toMatchObject({
      cost: { stt: 0.0077, tts: 0.106 },
      usage: { sttSeconds: 60, ttsCharacters: 2000 },
      turns: [{ cost: 0.1137 }],
    });
  });

  it('is unknown for a turn that began without a price', () => {
    const call = new MovedCall();
    call.pays({ ...PAYEES, stt: { name: 'odd/stt' } });
    call.uses('tts', { characters: 1000 });
    call.moves();
    call.completes(0);
    call.completes(1);
    expect(call.record?.turns).toMatchObject([{ cost: null }, { cost: 0 }]);
  });

  it('is not less where the system clock was set back', () => {
    const call = new MovedCall();
    call.clock.advance(61_000);
    call.clock.setWall(-3_600_000);
    call.moves();
    call.clock.advance(59_002);
    expect(call.record?.usage?.telephonySeconds).toBe(180);
  });

  it('is told where the process before has not told it', () => {
    const call = new MovedCall();
    call.uses('tts', { characters: 1000 }, null);
    call.moves();
    expect(call.record?.cost.tts).toBe(0.053);
  });

  it('may be more after a crash, and says so', () => {
    const prices = { 'carrier-a': { inbound: { perMinute: 0.0085 } } };
    for (const wasLetGo of [true, false]) {
      const call = new MovedCall(prices);
      call.moves({ wasLetGo, prices });
      call.ledger.charged(0.01);
      expect(call.record?.cost.estimated).toBe(!wasLetGo);
    }
  });

  it('has the figure that the carrier told the process before', () => {
    const call = new MovedCall();
    call.ledger.charged(0.0123);
    call.moves();
    call.clock.advance(120_000);
    expect(call.ledger.isChargeKnown).toBe(true);
    // The stream is billed apart.
    expect(call.ends().cost.telephony).toBe(0.0211);
  });
});

describe('a ledger of a call that another process had', () => {
  it.each(['whole', 'lost'] as const)('counts on, with a state that is %s', (state) => {
    const call = new MovedCall();
    call.ledger.take({ type: 'turn.started', turnIndex: 3 });
    call.ledger.keysSent('1');
    call.ledger.keysSent('2');
    call.ledger.transferred('+15550123', 'busy');
    const { seq } = call.events.at(-1) as CallEvent;
    call.moves({ state });
    expect(call.events.findLast(({ type }) => type === 'call.status')).toMatchObject({
      nodeId: 'node-2',
      originId: 'node-1',
      term: 2,
      seq: seq + 1,
    });
    call.ledger.keysSent('3');
    call.ledger.transferred('+15550123', 'busy');
    expect(call.record?.transcript.map(({ id, turnIndex }) => [id, turnIndex])).toEqual([
      ['sent-keys-1', 3],
      ['sent-keys-2', 3],
      ['transfer-1', 3],
      ['sent-keys-3', 3],
      ['transfer-2', 3],
    ]);
  });

  it.each(['whole', 'lost'] as const)('tells nothing twice, with a state that is %s', (state) => {
    const call = new MovedCall();
    call.ledger.phase('speaking');
    call.ledger.apologySpoken('agent', 100);
    call.ledger.recorded({ status: 'completed', url: null, durationMs: null });
    call.moves({ state });
    const told = call.events.length;
    call.ledger.phase('speaking');
    call.ledger.apologySpoken('agent', 100);
    call.ledger.recorded({ status: 'completed', url: null, durationMs: null });
    expect(call.events.slice(told)).toEqual([]);
    call.ledger.phase('listening');
    expect(call.events.at(-1)).toMatchObject({ phase: 'listening', previous: 'speaking' });
  });

  it.each(['whole', 'lost'] as const)(
    'dates nothing before what is known, wherever its own clock stands: a state that is %s',
    (state) => {
      const call = new MovedCall();
      call.clock.advance(5000);
      call.ledger.keysSent('1');
      call.ledger.phase('speaking');
      const before = call.record?.phase?.since ?? 0;
      // Of another machine.
      call.clock.setWall(-30_000);
      call.moves({ state });
      call.clock.advance(1000);
      call.ledger.keysSent('2');
      expect(call.record?.transcript.map(({ id, at }) => [id, at - before])).toEqual([
        ['sent-keys-1', 0],
        ['sent-keys-2', 1000],
      ]);
      expect(call.ends().durationMs).toBe(6000);
    },
  );

  it('leaves no goodbye', () => {
    const call = new MovedCall();
    call.ledger.phase('ending');
    call.moves();
    call.ledger.phase('listening');
    expect(call.record?.phase?.name).toBe('ending');
  });

  it('knows of the leg that the caller was handed over to', () => {
    const call = new MovedCall();
    call.ledger.transferred('+15550123', 'connected');
    call.moves();
    expect(call.ends().incidents.map(({ code }) => code)).toEqual(['cost-incomplete']);
  });

  it.each(['whole', 'lost'] as const)(
    'notes no more than a record keeps, with a state that is %s',
    (state) => {
      const call = new MovedCall();
      for (let note = 0; note < 99; note += 1) call.ledger.note('odd', `Odd: ${note}.`);
      call.moves({ state });
      for (let note = 0; note < 5; note += 1) call.ledger.note('odd', `Odd again: ${note}.`);
      expect(call.events.filter(({ type }) => type === 'incident.noted')).toHaveLength(100);
    },
  );
});
