import { describe, expect, it } from 'vitest';
import { ANSWER } from '../answering-rig.js';
import { CallRig } from '../call-rig.js';

describe('usage', () => {
  const used = (rig: CallRig) => rig.facts.flatMap((fact) => (fact.type === 'usage.measured' ? [fact] : []));
  const usage = { inputTokens: 100, cachedTokens: 40, outputTokens: 7 };

  it('is stated when it is told, with the turn that it is of', async () => {
    const rig = await new CallRig({ firstMessage: 'Hi.' }).start();
    rig.voice.events?.usage?.({ characters: 3 });
    await rig.quiet(1000);
    rig.model.answer('At six.', { type: 'usage', usage });
    rig.ears.events.usage?.({ seconds: 5 });
    await rig.says('When?');
    rig.voice.events?.usage?.({ characters: 7 });
    await rig.quiet(1500);
    rig.ears.events.usage?.({ seconds: 2.5 });
    rig.engine.close();
    const tokens = { inputTokens: 60, cachedInputTokens: 40, outputTokens: 7 };
    expect(used(rig)).toMatchObject([
      { stage: 'tts', turnIndex: 0, quantities: { characters: 3 }, isGuess: false },
      { stage: 'stt', turnIndex: 1, quantities: { audioSeconds: 5 } },
      { stage: 'llm', turnIndex: 1, quantities: tokens },
      { stage: 'tts', turnIndex: 1, quantities: { characters: 7 } },
      // Of a turn that never comes.
      { stage: 'stt', turnIndex: 2, quantities: { audioSeconds: 2.5 } },
    ]);
  });

  it('is stated when it is told behind the end of an answer', async () => {
    const rig = await new CallRig({}).start();
    rig.model.answer('At six.', { type: 'end', reason: 'complete' }, { type: 'usage', usage });
    await rig.says('When?');
    await rig.quiet(1500);
    expect(used(rig)).toMatchObject([{ stage: 'llm', turnIndex: 0, quantities: { outputTokens: 7 } }]);
  });

  it('counts the tokens of an answer that was interrupted, also when they are told after the call', async () => {
    for (const end of ['interrupt', 'close'] as const) {
      const rig = await new CallRig({}).start();
      rig.model.answers.push(async function* ({ signal }) {
        yield { type: 'text', delta: `${ANSWER} ` };
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
        yield { type: 'text', delta: 'Late words.' };
        yield { type: 'usage', usage: { ...usage, estimated: true } };
        yield { type: 'end', reason: 'interrupted' };
      });
      await rig.says('When?');
      await rig.quiet(1000);
      if (end === 'interrupt') await rig.voiced(500);
      rig.engine.close();
      await rig.clock.advanceAsync(10);
      const quantities = { inputTokens: 60, outputTokens: 7 };
      expect(used(rig).at(-1)).toMatchObject({ turnIndex: 0, quantities, isGuess: true });
      expect(rig.voice.spoken.join(' ')).not.toContain('Late words');
    }
  });
});
