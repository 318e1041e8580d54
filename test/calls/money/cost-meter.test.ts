import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CostMeter, type LineCost, meterStateOf } from '../../../src/calls/money/cost-meter.js';
import { Pricing } from '../../../src/calls/money/pricing.js';
import { FREE } from '../../../src/contract/price.js';
import type { CallRecord, Cost } from '../../../src/contract/call-record.js';
import type { Payees, UsageFact } from '../../../src/engines/engine.js';
import { RecordedLogger } from '../../support/recorded-logger.js';

const NO_LINE: LineCost = { nanos: 0, billedSeconds: 0, isFinal: true };

const PAYEES: Payees = {
  stt: { name: 'ears/one', price: { perAudioMinute: 0.0048 } },
  llm: {
    name: 'mind/one',
    price: {
      inputPerMillionTokens: 0.1,
      cachedInputPerMillionTokens: 0.01,
      outputPerMillionTokens: 0.5,
      audioInputPerMillionTokens: 32,
      audioOutputPerMillionTokens: 64,
    },
  },
  tts: { name: 'voice/one', price: { perThousandCharacters: 0.05 } },
};

function meter(payees: Payees = PAYEES) {
  const logger = new RecordedLogger();
  const costs = new CostMeter(new Pricing({ logger }));
  costs.pays(payees);
  return { costs, logger };
}

function used(
  stage: UsageFact['stage'],
  quantities: UsageFact['quantities'],
  about: Partial<UsageFact> = {},
): UsageFact {
  return { type: 'usage.measured', stage, turnIndex: 0, quantities, isGuess: false, ...about };
}

const micros = (dollars: number | null) => Math.round((dollars ?? 0) * 1e6);
const parts = ({ stt, llm, tts, telephony }: Cost) => [stt, llm, tts, telephony];
const rounded = (dollars: number) => Math.round(dollars * 1e6) / 1e6;

describe('CostMeter', () => {
  it('prices each stage by its units', () => {
    const { costs } = meter();
    costs.add(used('stt', { audioSeconds: 90 }));
    costs.add(used('llm', { inputTokens: 100_000, cachedInputTokens: 1_000_000, outputTokens: 200_000 }));
    costs.add(used('tts', { characters: 450 }));
    expect(costs.cost({ nanos: 8_500_000, billedSeconds: 60, isFinal: true })).toEqual({
      stt: 0.0072,
      llm: 0.12,
      tts: 0.0225,
      telephony: 0.0085,
      total: 0.1582,
      currency: 'USD',
      estimated: false,
    });
    expect(costs.usage({ nanos: 0, billedSeconds: 60, isFinal: true })).toEqual({
      sttSeconds: 90,
      llmInputTokens: 1_100_000,
      llmCachedTokens: 1_000_000,
      llmOutputTokens: 200_000,
      ttsCharacters: 450,
      telephonySeconds: 60,
    });
  });

  it('charges cached tokens like others where there is no price for them, and audio apart', () => {
    const { costs } = meter();
    costs.add(used('llm', { audioInputTokens: 1000, cachedAudioInputTokens: 1000, audioOutputTokens: 100 }));
    expect(costs.cost(NO_LINE).llm).toBe(0.0704);
    const { costs: text } = meter({ llm: { name: 'mind/text', price: { inputPerMillionTokens: 10 } } });
    text.add(used('llm', { inputTokens: 1000, cachedInputTokens: 2000 }));
    expect(text.cost(NO_LINE).llm).toBe(0.03);
  });

  it('charges what goes to the cache of the vendor at its own price, or like other input', () => {
    const used2000 = used('llm', { inputTokens: 1000, cacheWrittenTokens: 1000 });
    const { costs: plain } = meter({ llm: { name: 'mind/text', price: { inputPerMillionTokens: 10 } } });
    plain.add(used2000);
    expect(plain.cost(NO_LINE).llm).toBe(0.02);
    const price = { inputPerMillionTokens: 10, cacheWritePerMillionTokens: 12.5 };
    const { costs } = meter({ llm: { name: 'mind/text', price } });
    costs.add(used2000);
    expect(costs.cost(NO_LINE).llm).toBe(0.0225);
    expect(costs.usage(NO_LINE)).toMatchObject({ llmInputTokens: 2000, llmCachedTokens: 0 });
  });

  it('knows nothing before it is known who charges', () => {
    const costs = new CostMeter(new Pricing({ logger: new RecordedLogger() }));
    expect(parts(costs.cost({ nanos: null, billedSeconds: 0, isFinal: false }))).toEqual([
      null,
      null,
      null,
      null,
    ]);
    expect(costs.usage({ nanos: null, billedSeconds: 0, isFinal: false })).toBeNull();
  });

  it('never makes an unknown price a zero, in the call or in the turn', () => {
    const { costs, logger } = meter({ ...PAYEES, llm: { name: 'mind/two' } });
    costs.add(used('tts', { characters: 1000 }));
    expect(costs.cost(NO_LINE)).toMatchObject({ llm: null, tts: 0.05, total: 0.05, estimated: true });
    expect(costs.turn(0).cost).toBeNull();
    expect(logger.lines).toMatchObject([{ fields: { setting: 'pricing.mind.two' } }]);
  });

  it('prices one name by what each payee says: one session of a vendor may cost more than another', () => {
    const { costs } = meter();
    const [one, several] = [0.0048, 0.0058].map((perAudioMinute) => ({ perAudioMinute }));
    for (const price of [several, one, several])
      costs.add(used('stt', { audioSeconds: 60 }, { payee: { name: 'ears/several', price } }));
    expect(costs.cost(NO_LINE).stt).toBe(0.0164);
  });

  it('prices what another one is paid for by its own price, in one figure', () => {
    const { costs, logger } = meter();
    const payee = { name: 'mind/other', price: { inputPerMillionTokens: 10 } };
    costs.add(used('llm', { inputTokens: 100_000 }));
    costs.add(used('llm', { inputTokens: 100_000 }, { payee }));
    expect(costs.cost(NO_LINE)).toMatchObject({ llm: 1.01, estimated: false });
    expect(costs.turn(0).cost).toBe(1.01);
    for (let count = 0; count < 2; count += 1)
      costs.add(used('stt', { audioSeconds: 60 }, { turnIndex: 1, payee: { name: 'ears/other' } }));
    expect(costs.cost(NO_LINE)).toMatchObject({ stt: null, llm: 1.01, estimated: true });
    expect(costs.turn(1).cost).toBeNull();
    expect(logger.lines).toMatchObject([{ fields: { setting: 'pricing.ears.other' } }]);
  });

  it('makes a stage unknown that is used in a way without a price, and says which', () => {
    const { costs, logger } = meter({ llm: { name: 'mind/text', price: { inputPerMillionTokens: 1 } } });
    costs.add(used('llm', { inputTokens: 10 }));
    expect(costs.cost(NO_LINE).llm).toBe(0.00001);
    expect(costs.turn(0).cost).toBe(0.00001);
    costs.add(used('llm', { inputTokens: 10, outputTokens: 1 }, { turnIndex: 1 }));
    costs.add(used('llm', { inputTokens: 10, outputTokens: 1 }, { turnIndex: 1 }));
    expect(costs.cost(NO_LINE)).toMatchObject({ llm: null, total: 0, estimated: true });
    expect([costs.turn(0).cost, costs.turn(1).cost]).toEqual([0.00001, null]);
    expect(logger.lines).toMatchObject([{ fields: { setting: 'pricing.mind.text.outputPerMillionTokens' } }]);
  });

  it('leaves what the application spends to the application', () => {
    const { costs, logger } = meter({ ...PAYEES, llm: 'application' });
    costs.add(used('tts', { characters: 1000 }));
    expect(costs.cost(NO_LINE)).toMatchObject({ llm: null, total: 0.05, estimated: true });
    expect(costs.turn(0).cost).toBe(0.05);
    expect(logger.lines).toEqual([]);
  });

  it('counts what is free, and what is not there, as nothing', () => {
    const { costs } = meter({
      stt: { name: 'simulated', price: FREE },
      llm: { name: 'scripted', price: FREE },
    });
    costs.add(used('llm', { inputTokens: 1e6, outputTokens: 1e6 }));
    expect(costs.cost(NO_LINE)).toEqual({
      ...{ stt: 0, llm: 0, tts: 0, telephony: 0, total: 0 },
      currency: 'USD',
      estimated: false,
    });
  });

  it('says when a provider has guessed, or the line is an estimate', () => {
    const { costs } = meter();
    expect(costs.cost(NO_LINE).estimated).toBe(false);
    expect(costs.cost({ ...NO_LINE, isFinal: false }).estimated).toBe(true);
    costs.add(used('llm', { inputTokens: 1 }, { isGuess: true }));
    expect(costs.cost(NO_LINE).estimated).toBe(true);
  });

  it('stays finite whatever it is given', () => {
    const { costs } = meter({ llm: { name: 'mind/dear', price: { inputPerMillionTokens: 10_000 } } });
    for (let time = 0; time < 20; time += 1) costs.add(used('llm', { inputTokens: 1e8 }));
    const { llm, total } = costs.cost(NO_LINE);
    expect(total).toBe(llm);
    expect(Number.isFinite(total)).toBe(true);
  });
});

const anyFact = fc.oneof(
  fc
    .record({ audioSeconds: fc.double({ min: 0.001, max: 600, noNaN: true }) })
    .map((quantities) => used('stt', quantities)),
  fc
    .record({
      inputTokens: fc.nat(20_000),
      cachedInputTokens: fc.nat(20_000),
      cacheWrittenTokens: fc.nat(20_000),
      outputTokens: fc.nat(2000),
      audioInputTokens: fc.nat(20_000),
      audioOutputTokens: fc.nat(2000),
    })
    .map((quantities) => used('llm', quantities)),
  fc.record({ characters: fc.nat(5000) }).map((quantities) => used('tts', quantities)),
);
const anyTurn = fc.option(fc.nat(12), { nil: null });
const anyUse = fc.tuple(anyFact, anyTurn).map(([fact, turnIndex]) => ({ ...fact, turnIndex }));
const anyLine = fc.record({
  nanos: fc.option(fc.nat(10 ** 9), { nil: null }),
  billedSeconds: fc.nat(3600),
  isFinal: fc.boolean(),
});

describe('the sums of a call', () => {
  it('are the sum of what is shown, to the last micro-dollar', () => {
    fc.assert(
      fc.property(fc.array(anyUse, { maxLength: 60 }), anyLine, (uses, line) => {
        const { costs } = meter();
        for (const fact of uses) costs.add(fact);
        const cost = costs.cost(line);
        for (const part of parts(cost)) expect(part).toBe(part === null ? null : rounded(part));
        expect(micros(cost.total)).toBe(parts(cost).reduce<number>((sum, part) => sum + micros(part), 0));
        expect(cost.total).toBe(rounded(cost.total));
        expect(cost.estimated).toBe(parts(cost).includes(null) || !line.isFinal);
      }),
    );
  });

  it('are made of the turns and of what belongs to none', () => {
    fc.assert(
      fc.property(fc.array(anyUse, { maxLength: 60 }), (uses) => {
        const { costs } = meter();
        const { costs: overhead } = meter();
        for (const fact of uses) {
          costs.add(fact);
          if (fact.turnIndex === null) overhead.add(fact);
        }
        const turns = [...new Set(uses.map(({ turnIndex }) => turnIndex))].filter((index) => index !== null);
        const ofTurns = turns.reduce((sum, index) => sum + micros(costs.turn(index).cost), 0);
        const all = micros(costs.cost(NO_LINE).total);
        const none = micros(overhead.cost(NO_LINE).total);
        // Half a micro-dollar for each figure that is rounded by itself.
        expect(Math.abs(all - ofTurns - none)).toBeLessThanOrEqual((turns.length + 6) / 2);
      }),
    );
  });

  it('do not depend on the order in which they become known', () => {
    const shuffled = fc
      .array(anyUse, { maxLength: 40 })
      .chain((uses) =>
        fc.tuple(
          fc.constant(uses),
          fc.shuffledSubarray(uses, { minLength: uses.length, maxLength: uses.length }),
        ),
      );
    fc.assert(
      fc.property(shuffled, ([uses, others]) => {
        const { costs: one } = meter();
        const { costs: other } = meter();
        for (const fact of uses) one.add(fact);
        for (const fact of others) other.add(fact);
        expect(other.cost(NO_LINE)).toEqual(one.cost(NO_LINE));
        for (let index = 0; index <= 12; index += 1) expect(other.turn(index)).toEqual(one.turn(index));
      }),
    );
  });

  it('have the tokens of each turn, where all of them were reported', () => {
    const { costs } = meter();
    costs.add(
      used('llm', { inputTokens: 100, cachedInputTokens: 40, cacheWrittenTokens: 7, outputTokens: 9 }),
    );
    costs.add(used('llm', { audioInputTokens: 20, cachedAudioInputTokens: 3, audioOutputTokens: 5 }));
    costs.add(used('llm', { audioSeconds: 4 }));
    costs.add(used('tts', { characters: 9 }));
    expect(costs.turn(0).tokens).toEqual({
      inputTokens: 170,
      cachedTokens: 43,
      audioInputTokens: 23,
      outputTokens: 14,
      audioOutputTokens: 5,
    });
    costs.add(used('llm', { audioSeconds: 4 }, { turnIndex: 1 }));
    costs.add(used('llm', { inputTokens: 5 }, { turnIndex: 2, isGuess: true }));
    costs.add(used('llm', { inputTokens: 5 }, { turnIndex: 2 }));
    expect([1, 2, 3].map((index) => costs.turn(index).tokens)).toEqual([null, null, null]);
  });

  it('tells seconds of audio without the noise of their sum', () => {
    const { costs } = meter();
    for (const audioSeconds of [0.1, 0.2, 19.46]) costs.add(used('stt', { audioSeconds }));
    expect(costs.usage(NO_LINE)?.sttSeconds).toBe(19.76);
  });
});

describe('what a record tells of costs', () => {
  const cost: Cost = {
    ...{ stt: null, llm: null, tts: null, telephony: 0 },
    ...{ total: 0, currency: 'USD', estimated: true },
  };
  const NOTHING = {
    ...{ sttSeconds: 0, llmInputTokens: 0, llmCachedTokens: 0, llmOutputTokens: 0 },
    ...{ ttsCharacters: 0, telephonySeconds: 60 },
  };

  it.each([
    [{}, []],
    [{ sttSeconds: 0.001 }, ['stt']],
    [{ llmInputTokens: 1 }, ['llm']],
    [{ llmOutputTokens: 1 }, ['llm']],
    [{ ttsCharacters: 1 }, ['tts']],
  ])(
    'without prices, once %j was used, is unknown for %j, and nothing for what was not used',
    (used, unknown) => {
      const record = { cost, usage: { ...NOTHING, ...used }, turns: [] } as unknown as CallRecord;
      const { stages, hasUsage } = meterStateOf(record);
      expect(Object.entries(stages).flatMap(([name, { isKnown }]) => (isKnown ? [] : [name]))).toEqual(
        unknown,
      );
      expect(hasUsage).toBe(unknown.length > 0);
    },
  );
});
