import { describe, expect, it } from 'vitest';
import type { SynthesisEvents } from '../../src/providers/text-to-speech.js';
import { CallRig, FakeVoice, type RigOptions } from './call-rig.js';

const TEXT = 'One, two three four five.';

/** A voice that halts for two seconds behind the first word, and then speaks 200 ms per word. `told` is what it tells of that. */
function haltingVoice(told: (text: string, events: SynthesisEvents | undefined) => void): FakeVoice {
  const voice = new FakeVoice();
  const session = voice.open();
  voice.open = () => ({
    ...session,
    async *synthesize(text: string, _signal?: AbortSignal, events?: SynthesisEvents) {
      const lengthMs = 2000 + text.split(' ').length * 200;
      told(text, events);
      for (let left = lengthMs * 16; left > 0; left -= 4000)
        yield new Int16Array(Math.min(left, 4000)).fill(1000);
    },
  });
  return voice;
}

function tellWords(text: string, events: SynthesisEvents | undefined): void {
  for (const [index, word] of [...text.matchAll(/\S+/g)].entries()) {
    const startMs = index * 200 + (index === 0 ? 0 : 2000);
    const [start, end] = [word.index, word.index + word[0].length];
    events?.timed?.([{ start, end, startMs, endMs: startMs + 200 }]);
  }
}

/** Interrupts the agent when `ms` of its greeting have been heard. */
async function cutAfter(ms: number, options: RigOptions): Promise<CallRig> {
  const rig = await new CallRig({ firstMessage: TEXT, ...options }).start();
  rig.model.answer('');
  while (rig.pacer.playedMs < ms) await rig.clock.advanceAsync(10);
  rig.ears.events.partial('no wait please');
  return rig;
}

describe('what was heard of a voice that tells its times', () => {
  it.each([
    [300, 'One,'],
    [1900, 'One,'],
    [2450, 'One, two'],
    [2700, 'One, two three'],
  ])('is cut by them, after %i ms', async (ms, heard) => {
    const rig = await cutAfter(ms, { voice: haltingVoice(tellWords) });
    expect(rig.turns).toMatchObject([
      { agentText: heard, agentTextUnheard: TEXT.slice(heard.length).trim(), interrupted: true },
    ]);
    expect(rig.transcript[0]).toMatchObject({ text: heard, interrupted: true });
  });

  it('goes by share of text when it tells none, or nonsense', async () => {
    const wrong = [() => {}, (_: string, events?: SynthesisEvents) => events?.timed?.('never' as never)];
    for (const told of wrong) {
      const rig = await cutAfter(1900, { voice: haltingVoice(told) });
      expect(rig.turns).toMatchObject([{ agentText: 'One, two three' }]);
    }
  });

  it('does not change when times come late', async () => {
    let late: SynthesisEvents | undefined;
    const voice = haltingVoice((_, events) => {
      late = events;
    });
    const rig = await cutAfter(1900, { voice });
    const before = structuredClone(rig.turns);
    tellWords(TEXT, late);
    await rig.quiet(3000);
    expect(rig.turns.slice(0, 1)).toEqual(before);
  });
});

describe('an echo of a voice that tells its times', () => {
  it('is looked for among the words that sounded, and no others', async () => {
    const heardAfter = async (told: typeof tellWords) => {
      const rig = await new CallRig({ firstMessage: TEXT, voice: haltingVoice(told) }).start();
      while (rig.pacer.playedMs < 1700) await rig.clock.advanceAsync(10);
      // By share of the text they would have been said; the voice is silent behind its first word.
      rig.ears.events.partial('three four');
      return rig.player.clears;
    };
    expect(await heardAfter(tellWords)).toBe(1);
    expect(await heardAfter(() => {})).toBe(0);
  });
});

describe('a filler of a voice that tells its times', () => {
  it('is in the transcript as far as it was heard', async () => {
    const rig = await new CallRig({
      voice: haltingVoice(tellWords),
      turnTaking: { fillers: [TEXT], fillerAfterMs: 600 },
    }).start();
    rig.model.answers.push(() => ({ [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => {}) }) }));
    await rig.says('When?');
    const isFiller = ({ id }: { id: string }) => id.startsWith('filler');
    while (!rig.transcript.some(isFiller)) await rig.quiet(20);
    await rig.quiet(1900);
    rig.ears.events.partial('on Friday please');
    expect(rig.transcript.filter(isFiller)).toMatchObject([{ text: 'One,', interrupted: true }]);
  });
});
