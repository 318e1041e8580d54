import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { EngineFact, UsageFact } from '../../src/engines/engine.js';
import { UsageMeter } from '../../src/engines/usage-meter.js';

function meter(turnIndex: number | null = 3): { facts: EngineFact[]; usage: UsageMeter } {
  const facts: EngineFact[] = [];
  const usage = new UsageMeter({ fact: (fact) => void facts.push(fact) }, () => turnIndex);
  return { facts, usage };
}

const sum = (quantities: UsageFact['quantities'], ...names: (keyof UsageFact['quantities'])[]) =>
  names.reduce((total, name) => total + (quantities[name] ?? 0), 0);

describe('UsageMeter', () => {
  it('states what each stage is paid for, with the turn that is on', () => {
    const { facts, usage } = meter();
    usage.heard({ seconds: 1.5 });
    usage.spoke({ characters: 12 });
    usage.thought({ inputTokens: 10, cachedTokens: 4, outputTokens: 2 });
    expect(facts).toEqual([
      {
        type: 'usage.measured',
        stage: 'stt',
        turnIndex: 3,
        quantities: { audioSeconds: 1.5 },
        isGuess: false,
      },
      { type: 'usage.measured', stage: 'tts', turnIndex: 3, quantities: { characters: 12 }, isGuess: false },
      {
        type: 'usage.measured',
        stage: 'llm',
        turnIndex: 3,
        quantities: { inputTokens: 6, cachedInputTokens: 4, outputTokens: 2 },
        isGuess: false,
      },
    ]);
  });

  it('says who is paid where it is not the one that the stage is with', () => {
    const { facts, usage } = meter();
    const payee = { name: 'other/one', price: { perAudioMinute: 1 } };
    usage.heard({ seconds: 1, payee });
    usage.spoke({ characters: 1, payee });
    usage.thought({ inputTokens: 1, cachedTokens: 0, outputTokens: 0 }, 1, payee);
    expect(facts).toMatchObject([{ payee: payee }, { payee: payee }, { payee: payee }]);
  });

  it('counts what goes to the cache of the vendor apart, and no token twice', () => {
    const { facts, usage } = meter();
    usage.thought({ inputTokens: 10, cachedTokens: 4, cacheWrittenTokens: 5, outputTokens: 2 });
    usage.thought({ inputTokens: 10, cachedTokens: 4, cacheWrittenTokens: 50, outputTokens: 2 });
    expect(facts).toMatchObject([
      { quantities: { inputTokens: 1, cachedInputTokens: 4, cacheWrittenTokens: 5, outputTokens: 2 } },
      { quantities: { cachedInputTokens: 4, cacheWrittenTokens: 6, outputTokens: 2 } },
    ]);
  });

  it('keeps the turn of a reply that is told late', () => {
    const { facts, usage } = meter();
    usage.thought({ inputTokens: 1, cachedTokens: 0, outputTokens: 1 }, 1);
    usage.thought({ inputTokens: 1, cachedTokens: 0, outputTokens: 1 }, null);
    expect(facts).toMatchObject([{ turnIndex: 1 }, { turnIndex: null }]);
  });

  it('says nothing of nothing', () => {
    const { facts, usage } = meter();
    usage.heard({ seconds: 0 });
    usage.thought({ inputTokens: 0, cachedTokens: 0, outputTokens: 0 });
    usage.thought(null as never);
    usage.thought('tokens' as never);
    expect(facts).toEqual([]);
  });

  it.each([Number.NaN, -1, Number.POSITIVE_INFINITY, 1e12, 1.1e7, '7', {}])(
    'leaves %s out and calls the rest a guess',
    (amount) => {
      const { facts, usage } = meter();
      usage.heard({ seconds: amount as number });
      usage.spoke({ characters: amount as number });
      usage.thought({ inputTokens: 5, cachedTokens: 0, outputTokens: amount as number });
      expect(facts).toMatchObject([
        { stage: 'stt', quantities: {}, isGuess: true },
        { stage: 'tts', quantities: {}, isGuess: true },
        { stage: 'llm', quantities: { inputTokens: 5 }, isGuess: true },
      ]);
    },
  );

  it('passes on that a provider has guessed', () => {
    const { facts, usage } = meter();
    usage.thought({ inputTokens: 5, cachedTokens: 0, outputTokens: 1, estimated: true });
    expect(facts).toMatchObject([{ isGuess: true }]);
  });

  it('counts every token once, however a provider has divided them', () => {
    const tokens = fc.integer({ min: 0, max: 5000 });
    const anyUsage = fc.record({
      inputTokens: tokens,
      cachedTokens: tokens,
      outputTokens: tokens,
      audioInputTokens: tokens,
      cachedAudioTokens: tokens,
      audioOutputTokens: tokens,
    });
    fc.assert(
      fc.property(anyUsage, (told) => {
        const { facts, usage } = meter();
        usage.thought(told);
        const [fact] = facts;
        if (fact === undefined) {
          expect(told.inputTokens + told.outputTokens).toBe(0);
          return;
        }
        const { quantities } = fact as UsageFact;
        expect(Object.values(quantities).every((amount) => amount > 0)).toBe(true);
        const text = sum(quantities, 'inputTokens', 'cachedInputTokens');
        const audio = sum(quantities, 'audioInputTokens', 'cachedAudioInputTokens');
        expect(text + audio).toBe(told.inputTokens);
        expect(audio).toBe(Math.min(told.audioInputTokens, told.inputTokens));
        const cached = sum(quantities, 'cachedInputTokens', 'cachedAudioInputTokens');
        expect(cached).toBe(Math.min(told.cachedTokens, told.inputTokens));
        expect(sum(quantities, 'outputTokens', 'audioOutputTokens')).toBe(told.outputTokens);
      }),
    );
  });
});
