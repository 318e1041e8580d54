import { describe, expect, it } from 'vitest';
import type { SpokenPiece } from '../../../../src/providers/text-to-speech.js';
import { openCartesiaVoice } from '../../../../src/providers/tts/cartesia/cartesia.js';
import { FakeClock } from '../../../support/fake-clock.js';
import { RecordedLogger } from '../../../support/recorded-logger.js';
import { FakeVendor } from '../../fake-vendor-socket.js';
import { collect, listen, never, recordEvents, settle, toBytes } from '../listener.js';

function open() {
  const clock = new FakeClock();
  const vendor = new FakeVendor();
  const logger = new RecordedLogger();
  const { told, events } = recordEvents();
  const target = {
    url: new URL('ws://vendor'),
    headers: {},
    names: { vendor: 'Cartesia', keyVariables: ['CARTESIA_API_KEY'] },
  };
  const session = openCartesiaVoice(
    { clock, logger, language: undefined, events },
    { target, request: { model_id: 'm' }, open: vendor.open },
  );
  vendor.socket.opens();
  return { clock, vendor, logger, told, session };
}

function chunk(id: string, bytes: Buffer): object {
  return { type: 'chunk', context_id: id, data: bytes.toString('base64').replaceAll('=', ''), done: false };
}

function timestamps(words: string[], start: number[], end: number[]): object {
  return { type: 'timestamps', context_id: 's1', word_timestamps: { words, start, end } };
}

describe('a voice with contexts', () => {
  it('reads by context, whatever comes in between', async () => {
    const { vendor, session, logger, told } = open();
    const reading = listen(session, 'Hello.');
    await settle();
    const bytes = toBytes([258, 772]);
    for (const message of [
      'nonsense',
      '[]',
      { type: 'chunk' },
      { type: 'weather', context_id: 's1' },
      { type: 'flush_done', context_id: 's1' },
      timestamps(['Hello.'], [], []),
      chunk('s1', bytes.subarray(0, 1)),
      chunk('s9', toBytes([9])),
      { type: 'done', context_id: 's9' },
      { type: 'error', context_id: 's9', status_code: 500 },
      chunk('s1', bytes.subarray(1)),
    ])
      vendor.socket.says(message);
    await settle();
    expect(reading).toMatchObject({ samples: [258, 772], over: false });
    vendor.socket.says({ type: 'done', context_id: 's1' });
    await settle();
    expect(reading.over).toBe(true);
    expect(told).toEqual(['usage 6']);
    expect(logger.lines.filter(({ fields }) => fields.type === 'weather')).toHaveLength(1);
  });

  it('cancels a sentence that is cut off, and one that nobody reads to its end', async () => {
    const { vendor, session } = open();
    const abort = new AbortController();
    listen(session, 'One.', abort.signal);
    await settle();
    abort.abort();
    await settle();
    const stream = session.synthesize('Two.', new AbortController().signal)[Symbol.asyncIterator]();
    const first = stream.next();
    await settle();
    vendor.socket.says(chunk('s2', toBytes([1])));
    await first;
    await stream.return?.();
    expect(vendor.socket.messages.filter(({ cancel }) => cancel)).toEqual([
      { context_id: 's1', cancel: true },
      { context_id: 's2', cancel: true },
    ]);
  });

  const second = [...new Array(16_000).keys()].map((index) => (index % 100) + 1);

  it.each<[string, object[], string | undefined]>([
    ['nothing is known of its words', [], undefined],
    ['all words were begun', [timestamps(['One', 'two.'], [0, 0.5], [0.4, 1.2])], undefined],
    ['a word is left', [timestamps(['One', 'two.'], [0, 1.1], [0.9, 1.5])], 'two.'],
    ['no word was begun', [timestamps(['One', 'two.'], [1.1, 1.5], [1.4, 1.9])], 'One two.'],
    ['the times are of other words', [timestamps(['Uno', 'dos'], [0, 1.1], [0.9, 1.5])], undefined],
    ['the times of its last words did not come', [timestamps(['One'], [0], [0.3])], undefined],
  ])('after a lost connection says what is left, when %s', async (_, messages, left) => {
    const { clock, vendor, session } = open();
    clock.advance(5000);
    const reading = listen(session, 'One two.');
    await settle();
    for (const message of [...messages, chunk('s1', toBytes(second))]) vendor.socket.says(message);
    vendor.socket.ends();
    clock.advance(0);
    await settle();
    vendor.socket.opens();
    await settle();
    expect(vendor.socket.messages[0]?.transcript).toBe(left);
    expect(reading).toMatchObject({ over: left === undefined, error: undefined });
  });

  it('tells when it says which word, in the whole sentence, also after a lost connection', async () => {
    const { clock, vendor, session } = open();
    const pieces: SpokenPiece[] = [];
    const timed = (told: readonly SpokenPiece[]) => void pieces.push(...told);
    const reading = collect(session.synthesize(' One two. ', never, { timed }));
    await settle();
    vendor.socket.says(timestamps(['One', 'zwei'], [0, 0.4], [0.4, 0.5]));
    expect(pieces).toEqual([{ start: 1, end: 4, startMs: 0, endMs: 400 }]);
    vendor.socket.says(timestamps(['two.'], [1.1], [1.5]));
    expect(pieces[1]).toEqual({ start: 5, end: 9, startMs: 1100, endMs: 1500 });
    session.close();
    expect(await reading).toEqual([]);
    clock.advance(0);
  });

  it('counts on from what was said before a connection was lost', async () => {
    const { clock, vendor, session } = open();
    const pieces: SpokenPiece[] = [];
    const timed = (told: readonly SpokenPiece[]) => void pieces.push(...told);
    const reading = collect(session.synthesize('One two.', never, { timed }));
    await settle();
    vendor.socket.says(timestamps(['One', 'two.'], [0, 1.1], [0.9, 1.5]));
    vendor.socket.says(chunk('s1', toBytes(second)));
    vendor.socket.ends();
    clock.advance(0);
    await settle();
    vendor.socket.opens();
    await settle();
    const again = { words: ['two.'], start: [0.1], end: [0.5] };
    vendor.socket.says({ type: 'timestamps', context_id: 's2', word_timestamps: again });
    vendor.socket.says(chunk('s2', toBytes([1])));
    vendor.socket.says({ type: 'done', context_id: 's2' });
    expect(pieces.at(-1)).toEqual({ start: 4, end: 8, startMs: 1100, endMs: 1500 });
    expect(await reading).toHaveLength(16_001);
  });

  it('says a sentence again whose words were timed and not heard', async () => {
    const { clock, vendor, session } = open();
    const reading = listen(session, 'One.');
    await settle();
    vendor.socket.says(timestamps(['One.'], [0], [0.4]));
    vendor.socket.says({ type: 'done', context_id: 's1' });
    await settle();
    clock.advance(1000);
    await settle();
    vendor.socket.says(chunk('s2', toBytes([7])));
    vendor.socket.says({ type: 'done', context_id: 's2' });
    await settle();
    expect(reading).toMatchObject({ samples: [7], over: true, error: undefined });
  });

  it('tries a sentence again that the vendor could not say, and shows none of its words', async () => {
    const { clock, vendor, session, logger } = open();
    const reading = listen(session, 'Secret words.');
    for (let count = 1; count <= 3; count += 1) {
      await settle();
      const error = { status_code: 500, error_code: 'a b', message: 'cannot say Secret words.' };
      vendor.socket.says({ type: 'error', context_id: `s${count}`, ...error });
      await settle();
      clock.advance(1000);
    }
    await settle();
    expect(reading.error).toMatchObject({ message: 'Cartesia cannot answer now (HTTP 500).', status: 500 });
    expect(logger.text).not.toContain('Secret');
  });

  it('says nothing more when it is aborted while it waits to try again', async () => {
    const { clock, vendor, session } = open();
    const abort = new AbortController();
    const reading = listen(session, 'One.', abort.signal);
    await settle();
    vendor.socket.says({ type: 'error', context_id: 's1', status_code: 429 });
    await settle();
    abort.abort();
    await settle();
    expect(reading).toMatchObject({ over: true, error: undefined });
    session.close();
    expect(clock.pending).toBe(0);
  });
});
