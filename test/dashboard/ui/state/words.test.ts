import { describe, expect, it } from 'vitest';
import type { AudioEnvelope, TranscriptEntry } from '../../../../src/contract/call-record.js';
import { NO_SOUNDS, soundOf, soundsOf, wordAt, wordsOf } from '../../../../src/dashboard/ui/state/words.js';

const levels = (...values: number[]) =>
  Buffer.from(Int8Array.from(values.flatMap((value) => [-value, value])).buffer).toString('base64');

const envelope = (caller: string, agent: string): AudioEnvelope => ({
  startedAt: 1000,
  bucketMs: 20,
  caller,
  agent,
  marksMs: [],
  clearsMs: [],
});

const entry = (role: TranscriptEntry['role'], at: number, text: string): TranscriptEntry => ({
  id: `${role}-${at}`,
  turnIndex: 0,
  role,
  text,
  at,
  final: true,
});

describe('where a side sounded', () => {
  it('is read from the envelope, without the noise of the line', () => {
    const sounds = soundsOf(envelope(levels(1, 40, 90, 2, 0, 4), levels(0)));
    expect(sounds).toEqual({
      caller: [
        { from: 1020, to: 1060 },
        { from: 1100, to: 1120 },
      ],
      agent: [],
    });
    for (const none of [null, undefined, envelope('not base64!', '')])
      expect(soundsOf(none)).toEqual(NO_SOUNDS);
  });

  it('belongs to the entry of that side that had begun', () => {
    const sounds = {
      caller: [],
      agent: [
        { from: 900, to: 1500 },
        { from: 1700, to: 2200 },
        { from: 3000, to: 3100 },
      ],
    };
    const entries = [entry('agent', 1000, 'One.'), entry('user', 1600, 'Hm.'), entry('agent', 2000, 'Two.')];
    const of = (index: number) => soundOf(entries[index] as TranscriptEntry, entries, sounds);
    expect(of(0)).toEqual([
      { from: 1000, to: 1500 },
      { from: 1700, to: 2000 },
    ]);
    expect(of(2)).toEqual([
      { from: 2000, to: 2200 },
      { from: 3000, to: 3100 },
    ]);
    // Nothing tells where it sounded.
    expect(of(1)).toEqual([{ from: 1600, to: 1600 + 3 * 65 }]);
  });
});

it('the last entry of a call does not sound on in the noise behind it', () => {
  const last = entry('user', 1000, 'Bye.');
  expect(
    soundOf(last, [last], {
      caller: [
        { from: 1200, to: 1500 },
        { from: 4000, to: 90_000 },
      ],
      agent: [],
    }),
  ).toEqual([
    { from: 1200, to: 1500 },
    { from: 4000, to: 4700 },
  ]);
});

describe('the word that is said', () => {
  const wordsAt = (text: string, times: readonly number[], sound = [{ from: 0, to: 1000 }]) => {
    const words = wordsOf(text);
    return times.map((at) => {
      const word = words[wordAt(words, sound, at) ?? -1];
      return word && text.slice(word.from, word.to);
    });
  };

  it('is as far in the text as the sound is', () => {
    expect(wordsAt('We open at nine.', [-1, 0, 170, 500, 600, 999, 5000])).toEqual([
      undefined,
      'We',
      'open',
      'at',
      'at',
      'nine',
      'nine',
    ]);
  });

  it('stands still in a pause', () => {
    const sound = [
      { from: 0, to: 500 },
      { from: 9500, to: 10_000 },
    ];
    expect(wordsAt('We open at nine.', [499, 500, 5000, 9499, 9900], sound)).toEqual([
      'open',
      'at',
      'at',
      'at',
      'nine',
    ]);
  });

  it('is one of any script, and none where there is none', () => {
    expect(wordsAt('今日は晴れです。', [0, 999])).toEqual(['今日', 'です']);
    expect(wordsAt('…', [500])).toEqual([undefined]);
    expect(wordsAt('', [500])).toEqual([undefined]);
    expect(wordsOf('x '.repeat(2500)).length).toBe(2500);
    expect(wordsOf('x '.repeat(2501))).toEqual([]);
  });
});
