import { describe, expect, it } from 'vitest';
import type { SynthesisEvents, TextToSpeechSession } from '../../src/providers/text-to-speech.js';
import { CallRig, FakeVoice } from './call-rig.js';

const SENTENCE = 'We are open from Monday to Friday from eight in the morning until six in the evening.';
const NEXT = 'On Saturday we close at noon.';
const ANSWER = `${SENTENCE} ${NEXT}`;

interface Break {
  readonly afterMs: number;
  /** How the voice says so. */
  readonly how: 'ends' | 'tells' | 'throws';
  /** The times of the words that it has said. */
  readonly isTimed?: boolean;
}

const WORD_MS = 180;

/** Says a word in 180 ms; of SENTENCE only the beginning. */
function breaking({ afterMs, how, isTimed = false }: Break): FakeVoice {
  const voice = new FakeVoice();
  const session: TextToSpeechSession = {
    async *synthesize(text: string, _: AbortSignal, events?: SynthesisEvents) {
      const words = [...text.matchAll(/\S+/g)];
      const isBroken = text === SENTENCE;
      const lengthMs = isBroken ? afterMs : words.length * WORD_MS;
      const said = words.slice(0, Math.ceil(lengthMs / WORD_MS));
      if (isTimed)
        events?.timed?.(
          said.map((word, index) => ({
            start: word.index,
            end: word.index + word[0].length,
            startMs: index * WORD_MS,
            endMs: (index + 1) * WORD_MS,
          })),
        );
      yield new Int16Array(lengthMs * 16).fill(1000);
      if (isBroken && how === 'throws') throw new Error('voice broke');
      if (isBroken && how === 'tells') events?.brokeOff?.();
    },
    close() {},
  };
  voice.open = () => session as ReturnType<FakeVoice['open']>;
  return voice;
}

async function answered(how: Break): Promise<CallRig> {
  const rig = await new CallRig({ voice: breaking(how) }).start();
  rig.model.answer(ANSWER).answer('Yes.');
  await rig.says('When?');
  await rig.quiet(6000);
  return rig;
}

/** The beginning of SENTENCE that stands before `rest`. */
const wordsBefore = (text = '', rest = '') => text.slice(0, text.length - rest.length).trim();

describe('a sentence that broke off', () => {
  it.each<[string, Break, atMost: number]>([
    ['a voice that ends early', { afterMs: 500, how: 'ends' }, 3],
    ['a voice that ends at once', { afterMs: 20, how: 'ends' }, 0],
    ['a voice that says so', { afterMs: 500, how: 'tells' }, 3],
    ['a voice that says so late', { afterMs: 1500, how: 'tells' }, 9],
    ['a voice with times that ends early', { afterMs: 540, how: 'ends', isTimed: true }, 3],
    ['a voice with times that ends late', { afterMs: 1980, how: 'ends', isTimed: true }, 11],
    ['a voice with times that says so', { afterMs: 540, how: 'tells', isTimed: true }, 3],
  ])('of %s stands as far as it was said, in transcript and history', async (_, how, atMost) => {
    const rig = await answered(how);
    const [turn] = rig.turns;
    const said = wordsBefore(turn?.agentText, NEXT);
    expect(turn?.agentText).toBe(`${said} ${NEXT}`.trim());
    expect(SENTENCE.startsWith(said)).toBe(true);
    expect(said.split(' ').filter(Boolean).length).toBeLessThanOrEqual(atMost);
    expect(turn?.agentTextUnheard).toBe(SENTENCE.slice(said.length).trim());
    const spoken = rig.transcript.findLast(({ role }) => role === 'agent');
    expect(spoken).toMatchObject({ text: turn?.agentText, final: true });
    expect(rig.ended).toEqual([]);
    await rig.says('Are you there?');
    expect(rig.model.requests[1]?.messages.find(({ role }) => role === 'assistant')).toEqual({
      role: 'assistant',
      content: turn?.agentText,
    });
  });

  it('of a voice that fails stands as far as it was said', async () => {
    const rig = await answered({ afterMs: 500, how: 'throws' });
    expect(rig.ended).toMatchObject([{ reason: 'provider-failed' }]);
    const said = rig.turns[0]?.agentText ?? '';
    expect(said.split(' ').filter(Boolean).length).toBeLessThanOrEqual(3);
    expect(`${said} ${rig.turns[0]?.agentTextUnheard}`.trim()).toBe(ANSWER);
  });

  it('is whole when it was said fast', async () => {
    const rig = await answered({ afterMs: 1800, how: 'ends' });
    expect(rig.turns).toMatchObject([{ agentText: ANSWER, agentTextUnheard: '' }]);
  });
});
