import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../../../src/base/log.js';
import { AlignedText, readAlignment } from '../../../../src/providers/tts/elevenlabs/alignment.js';
import { openElevenLabsVoice } from '../../../../src/providers/tts/elevenlabs/elevenlabs.js';
import type { SpokenPiece } from '../../../../src/providers/text-to-speech.js';
import { FakeClock } from '../../../support/fake-clock.js';
import { FakeVendor } from '../../fake-vendor-socket.js';

/** As the vendor writes it: each character takes 100 ms. */
function aligned(text: string, rest: object = {}): object {
  const chars = [...text];
  return {
    chars,
    charStartTimesMs: chars.map((_, index) => index * 100),
    charDurationsMs: chars.map(() => 100),
    ...rest,
  };
}

/** Where each piece begins, in the text and in the audio. */
const begins = (pieces: readonly SpokenPiece[]) => pieces.map(({ start, startMs }) => [start, startMs]);
const placed = (text: AlignedText, said: object | null, fromMs = 0) =>
  begins(text.place(readAlignment(said), fromMs));

describe('readAlignment', () => {
  it('takes both spellings of the times', () => {
    const both = { chars: ['a'], charsStartTimesMs: [5], charsDurationsMs: [10] };
    expect(readAlignment(both).units).toEqual([{ unit: 'a', startMs: 5, endMs: 15 }]);
  });

  it.each<[string, unknown]>([
    ['null', null],
    ['a list', []],
    ['a text', 'abc'],
    ['no characters', { charStartTimesMs: [0], charDurationsMs: [1] }],
  ])('reads nothing out of %s', (_, value) => {
    expect(readAlignment(value)).toEqual({ characters: '', units: [] });
  });

  it.each<[string, object]>([
    ['no times', { charStartTimesMs: undefined }],
    ['too few times', { charStartTimesMs: [0] }],
    ['too few lengths', { charDurationsMs: [0] }],
    ['times that are none', { charStartTimesMs: [0, '100'] }],
    ['times that are null', { charStartTimesMs: [0, null] }],
    ['times before the beginning', { charStartTimesMs: [-100, 0] }],
    ['times that run backwards', { charStartTimesMs: [100, 0] }],
    ['lengths below nothing', { charDurationsMs: [100, -1] }],
  ])('keeps the characters and no times of one with %s', (_, wrong) => {
    expect(readAlignment(aligned('ab', wrong))).toEqual({ characters: 'ab', units: [] });
  });
});

describe('AlignedText', () => {
  it('goes on from alignment to alignment, in the middle of a word, too', () => {
    const text = new AlignedText('Talent is all.');
    expect(placed(text, aligned('Tal'))).toEqual([
      [0, 0],
      [1, 100],
      [2, 200],
    ]);
    expect(placed(text, aligned('ent i'), 1000)).toEqual([
      [3, 1000],
      [4, 1100],
      [5, 1200],
      [7, 1400],
    ]);
  });

  it('does not mind other blanks, and another case', () => {
    const text = new AlignedText('  Two  words');
    expect(placed(text, aligned(' two words ')).map(([start]) => start)).toEqual([2, 3, 4, 7, 8, 9, 10, 11]);
  });

  it('finds its place again behind one that is missing, unless there are several', () => {
    const text = new AlignedText('one two three four three five');
    expect(placed(text, aligned('one '))).toHaveLength(3);
    expect(placed(text, aligned('three '), 500)).toEqual([]);
    expect(placed(text, aligned('four '), 800)[0]).toEqual([14, 800]);
    expect(placed(text, aligned('three five'), 900)[0]).toEqual([19, 900]);
  });

  it('takes nothing twice, and nothing of another text', () => {
    const text = new AlignedText('Room 42 is free.');
    expect(placed(text, aligned('Room '))).toHaveLength(4);
    expect(placed(text, aligned('Room '))).toEqual([]);
    expect(placed(text, aligned('forty-two '))).toEqual([]);
    expect(placed(text, aligned('is free.'), 300)[0]).toEqual([8, 300]);
    expect(placed(text, aligned('is free.'), 300)).toEqual([]);
  });

  it('takes entries of several characters and of characters of two units', () => {
    const text = new AlignedText('Hi 👋 you');
    const said = {
      chars: ['Hi', ' ', '👋', ' you'],
      charStartTimesMs: [0, 1, 2, 3],
      charDurationsMs: [1, 1, 1, 9],
    };
    expect(placed(text, said)).toEqual([
      [0, 0],
      [1, 0],
      [3, 2],
      [4, 2],
      [6, 3],
      [7, 3],
      [8, 3],
    ]);
  });

  it('gives pieces in order, whatever is said', () => {
    const part = fc.oneof(fc.constantFrom('one', ' two', 'on', 'e two', 'two one', ''), fc.string());
    fc.assert(
      fc.property(fc.array(part), (parts) => {
        const text = 'one two one two';
        const target = new AlignedText(text);
        const pieces = parts.flatMap((each, index) => target.place(readAlignment(aligned(each)), index));
        for (const [index, { start, end }] of pieces.entries()) {
          expect(start).toBeGreaterThanOrEqual(pieces[index - 1]?.end ?? 0);
          expect(end).toBeLessThanOrEqual(text.length);
        }
      }),
    );
  });
});

describe('the voice of ElevenLabs', () => {
  const settle = () => new Promise<void>((resolve) => setImmediate(resolve));
  /** `ms` of sound, as the vendor sends it. */
  const sound = (contextId: string, ms: number, rest: object = {}) => ({
    audio: Buffer.alloc(ms * 32, 1).toString('base64'),
    contextId,
    ...rest,
  });

  function speak(text: string, timed?: (pieces: readonly SpokenPiece[]) => void) {
    const clock = new FakeClock();
    const vendor = new FakeVendor();
    const session = openElevenLabsVoice(
      { clock, logger: silentLogger, language: undefined },
      {
        target: {
          url: new URL('ws://vendor'),
          headers: {},
          names: { vendor: 'ElevenLabs', keyVariables: ['ELEVENLABS_API_KEY'] },
        },
        voiceSettings: {},
        open: vendor.open,
      },
    );
    vendor.socket.opens();
    const told: SpokenPiece[] = [];
    const reading = { told, over: false, samples: 0 };
    const hear = timed ?? ((pieces: readonly SpokenPiece[]) => void told.push(...pieces));
    void (async () => {
      for await (const pcm of session.synthesize(text, new AbortController().signal, { timed: hear }))
        reading.samples += pcm.length;
      reading.over = true;
    })();
    return { clock, vendor, reading };
  }

  it('tells the time of a single character', async () => {
    const { vendor, reading } = speak('A');
    await settle();
    vendor.socket.says(sound('s1', 100, { alignment: aligned('A') }));
    await settle();
    expect(begins(reading.told)).toEqual([[0, 0]]);
  });

  it('tells times in the whole audio, with alignments that come with it, alone, or not at all', async () => {
    const { vendor, reading } = speak(' One two three. ');
    await settle();
    vendor.socket.says(
      sound('s1', 300, { alignment: aligned('One '), normalizedAlignment: aligned(' One ') }),
    );
    vendor.socket.says(sound('s1', 200, { alignment: null, normalizedAlignment: null }));
    vendor.socket.says({ audio: null, contextId: 's1', alignment: aligned('two ') });
    vendor.socket.says(sound('s1', 400));
    vendor.socket.says(sound('s1', 400, { normalizedAlignment: aligned(' three.') }));
    vendor.socket.says({ isFinal: true, contextId: 's1' });
    await settle();
    expect(begins(reading.told)).toEqual([
      ...[
        [1, 0],
        [2, 100],
        [3, 200],
        [5, 500],
        [6, 600],
        [7, 700],
      ],
      ...[
        [9, 1000],
        [10, 1100],
        [11, 1200],
        [12, 1300],
        [13, 1400],
        [14, 1500],
      ],
    ]);
  });

  it('goes on in text and time when the connection was lost in the sentence', async () => {
    const { clock, vendor, reading } = speak('One two three.');
    await settle();
    vendor.socket.says(sound('s1', 500, { alignment: aligned('One t') }));
    await settle();
    vendor.socket.ends();
    clock.advance(0);
    clock.advance(40);
    vendor.socket.opens();
    await settle();
    vendor.socket.says(sound('s2', 600, { alignment: aligned('three.') }));
    vendor.socket.says({ isFinal: true, contextId: 's2' });
    await settle();
    expect(reading).toMatchObject({ over: true, samples: 1100 * 16 });
    expect(begins(reading.told)).toEqual([
      ...[
        [0, 0],
        [1, 100],
        [2, 200],
        [4, 400],
      ],
      ...[
        [8, 500],
        [9, 600],
        [10, 700],
        [11, 800],
        [12, 900],
        [13, 1000],
      ],
    ]);
  });

  it('tells nothing after the end of a sentence, and nothing of another one', async () => {
    const { vendor, reading } = speak('One.');
    await settle();
    vendor.socket.says(sound('s9', 100, { alignment: aligned('One.') }));
    vendor.socket.says(sound('s1', 100));
    vendor.socket.says({ isFinal: true, contextId: 's1' });
    vendor.socket.says(sound('s1', 100, { alignment: aligned('One.') }));
    await settle();
    expect(reading).toMatchObject({ over: true, told: [] });
  });
});
