import { describe, expect, it } from 'vitest';
import { openAuraVoice } from '../../../../src/providers/tts/deepgram-aura/deepgram-aura.js';
import { FakeClock } from '../../../support/fake-clock.js';
import { RecordedLogger } from '../../../support/recorded-logger.js';
import { FakeVendor } from '../../fake-vendor-socket.js';
import { listen, recordEvents, settle, toBytes } from '../listener.js';

function open({ isLast }: { isLast?: () => boolean } = {}) {
  const clock = new FakeClock();
  const vendor = new FakeVendor();
  const logger = new RecordedLogger();
  const { told, events } = recordEvents();
  const target = {
    url: new URL('ws://vendor'),
    headers: {},
    names: { vendor: 'Deepgram', keyVariables: ['DEEPGRAM_API_KEY'] },
  };
  const session = openAuraVoice({ clock, logger, language: undefined, isLast, events }, target, vendor.open);
  return { clock, vendor, logger, told, session };
}

describe('a voice of the Aura family', () => {
  it('says one sentence at a time, and counts its characters once it is handed over', async () => {
    const { vendor, session, told } = open();
    const [one, two] = [listen(session, ' Grüße 👋 '), listen(session, 'Two.')];
    await settle();
    expect(vendor.socket.sent).toEqual([]);
    vendor.socket.opens();
    await settle();
    expect(vendor.socket.messages).toEqual([{ type: 'Speak', text: 'Grüße 👋' }, { type: 'Flush' }]);
    vendor.socket.sends(toBytes([1, 2]));
    vendor.socket.says({ type: 'Flushed', sequence_id: 0 });
    await settle();
    expect(one).toMatchObject({ samples: [1, 2], over: true });
    vendor.socket.sends(toBytes([3]));
    vendor.socket.says({ type: 'Flushed', sequence_id: 1 });
    await settle();
    expect(two).toMatchObject({ samples: [3], over: true });
    expect(told).toEqual(['usage 7', 'usage 4']);
  });

  it('joins samples that are cut in half, but not those of two sentences', async () => {
    const { vendor, session } = open();
    vendor.socket.opens();
    const first = listen(session, 'Odd.');
    await settle();
    vendor.socket.sends(Buffer.from([2]));
    vendor.socket.sends(Buffer.from([1, 4, 3, 9]));
    vendor.socket.says({ type: 'Flushed' });
    const second = listen(session, 'Even.');
    await settle();
    vendor.socket.sends(toBytes([7]));
    vendor.socket.says({ type: 'Flushed' });
    await settle();
    expect(first.samples).toEqual([258, 772]);
    expect(second.samples).toEqual([7]);
  });

  it('takes audio in a text frame for no audio, and a message in a binary frame for a message', async () => {
    const { vendor, session } = open();
    vendor.socket.opens();
    const reading = listen(session, 'Hello.');
    await settle();
    vendor.socket.says('AAECAwQF');
    vendor.socket.says('[1]');
    vendor.socket.sends(toBytes([5]));
    vendor.socket.sends(Buffer.from('{"type":"Flushed","sequence_id":0}'));
    await settle();
    expect(reading).toMatchObject({ samples: [5], over: true });
  });

  it('takes nothing from what it is told of a request, and notes of what it does not know the kind', async () => {
    const { vendor, session, logger } = open();
    vendor.socket.opens();
    const reading = listen(session, 'Hello.');
    await settle();
    vendor.socket.says({ type: 'Metadata', request_id: 'private' });
    vendor.socket.sends(Buffer.from('{"type":"Metadata"}'));
    vendor.socket.says({ type: 'Weather', text: 'private' });
    vendor.socket.sends(toBytes([5]));
    vendor.socket.says({ type: 'Flushed' });
    await settle();
    expect(reading).toMatchObject({ samples: [5], over: true });
    expect(logger.lines.map(({ level, fields }) => [level, fields])).toEqual([
      ['debug', { type: 'Weather' }],
    ]);
  });

  it.each<[string, object[]]>([
    ['before', [{ type: 'Flushed' }, { type: 'Cleared' }]],
    ['after', [{ type: 'Cleared' }, { type: 'Flushed' }]],
  ])('takes no end that comes %s the answer to Clear for that of the next sentence', async (_, answers) => {
    const { vendor, session } = open();
    vendor.socket.opens();
    const abort = new AbortController();
    listen(session, 'A story.', abort.signal);
    await settle();
    abort.abort();
    const second = listen(session, 'Sorry.');
    await settle();
    vendor.socket.sends(toBytes([1]));
    for (const answer of answers) vendor.socket.says(answer);
    await settle();
    expect(second).toMatchObject({ samples: [], over: false });
    vendor.socket.sends(toBytes([2]));
    vendor.socket.says({ type: 'Flushed' });
    await settle();
    expect(second).toMatchObject({ samples: [2], over: true });
  });

  it('takes another connection when the answer to Clear does not come, also before there is another sentence', async () => {
    const { clock, vendor, session, told } = open();
    vendor.socket.opens();
    for (const isWaiting of [true, false]) {
      clock.advance(2000);
      const abort = new AbortController();
      listen(session, 'A story.', abort.signal);
      await settle();
      abort.abort();
      const early = isWaiting ? listen(session, 'Sorry.') : undefined;
      await settle();
      vendor.socket.sends(toBytes([1]));
      clock.advance(400);
      clock.advance(0);
      vendor.socket.opens();
      await settle();
      const next = early ?? listen(session, 'Sorry.');
      await settle();
      expect(vendor.socket.messages.slice(0, 2)).toEqual([
        { type: 'Speak', text: 'Sorry.' },
        { type: 'Flush' },
      ]);
      vendor.socket.sends(toBytes([2]));
      vendor.socket.says({ type: 'Flushed' });
      await settle();
      expect(next).toMatchObject({ samples: [2], over: true });
    }
    expect(told).toContain('back 0');
    expect(vendor.sockets).toHaveLength(3);
  });

  it('takes the first end on another connection for that of its own sentence, also of one without a sound', async () => {
    const { clock, vendor, session } = open();
    vendor.socket.opens();
    clock.advance(2000);
    const abort = new AbortController();
    listen(session, 'A story.', abort.signal);
    await settle();
    abort.abort();
    await settle();
    clock.advance(400);
    clock.advance(0);
    vendor.socket.opens();
    await settle();
    const sign = listen(session, '…');
    await settle();
    vendor.socket.says({ type: 'Flushed' });
    await settle();
    expect(vendor.sockets).toHaveLength(2);
    expect(sign).toMatchObject({ samples: [], over: true, error: undefined });
  });

  it('stays with the connection when the answer to Clear comes', async () => {
    const { clock, vendor, session } = open();
    vendor.socket.opens();
    const abort = new AbortController();
    listen(session, 'A story.', abort.signal);
    await settle();
    abort.abort();
    await settle();
    clock.advance(399);
    vendor.socket.says({ type: 'Cleared' });
    clock.advance(5000);
    expect(vendor.sockets).toHaveLength(1);
    session.close();
    expect(clock.pending).toBe(0);
  });

  it('is refused where a sentence ends without a sound, and says it again', async () => {
    const { clock, vendor, session } = open();
    vendor.socket.opens();
    const reading = listen(session, 'Hello.');
    for (let count = 0; count < 3; count += 1) {
      await settle();
      vendor.socket.says({ type: 'Flushed' });
      await settle();
      clock.advance(1000);
    }
    await settle();
    expect(reading.error).toMatchObject({ message: 'Deepgram gave no audio.', retryable: true });
    const sign = listen(session, '…');
    await settle();
    vendor.socket.says({ type: 'Flushed' });
    await settle();
    expect(sign).toMatchObject({ samples: [], over: true, error: undefined });
  });

  it('says a sentence again of which nothing was heard, and no other', async () => {
    const { clock, vendor, session, told } = open();
    vendor.socket.opens();
    clock.advance(5000);
    const first = listen(session, 'Heard in part.');
    await settle();
    vendor.socket.sends(toBytes([1]));
    vendor.socket.ends();
    await settle();
    expect(first).toMatchObject({ over: true, samples: [1], error: undefined });
    const second = listen(session, 'Not heard.');
    clock.advance(0);
    vendor.socket.opens();
    await settle();
    vendor.socket.ends();
    clock.advance(1000);
    vendor.socket.opens();
    await settle();
    expect(vendor.sockets).toHaveLength(3);
    expect(vendor.socket.messages[0]).toEqual({ type: 'Speak', text: 'Not heard.' });
    vendor.socket.sends(toBytes([2]));
    vendor.socket.says({ type: 'Flushed' });
    await settle();
    expect(second).toMatchObject({ over: true, samples: [2] });
    expect(told.filter((line) => line.startsWith('usage'))).toEqual(['usage 14', 'usage 10', 'usage 10']);
  });

  it.each([true, false])(
    'outlasts a vendor that restarts in a sentence, where it is the last: %s',
    async (isLast) => {
      const { clock, vendor, session } = open({ isLast: () => isLast });
      vendor.socket.opens();
      clock.advance(5000);
      const reading = listen(session, 'Hello.');
      await settle();
      await vendor.goDown(clock, 2000);
      clock.advance(1000);
      vendor.socket.opens();
      await settle();
      vendor.socket.sends(toBytes([2]));
      vendor.socket.says({ type: 'Flushed' });
      await settle();
      const error = isLast ? undefined : expect.objectContaining({ message: 'Deepgram broke.' });
      expect(reading).toMatchObject({ over: true, samples: isLast ? [2] : [], error });
    },
  );

  it('says that a sentence was sent again', async () => {
    const { clock, vendor, session, told } = open();
    vendor.socket.opens();
    const reading = listen(session, 'Hello.');
    await settle();
    vendor.socket.says({ type: 'Error', code: 'DATA-0000' });
    await settle();
    clock.advance(500);
    await settle();
    vendor.socket.sends(toBytes([2]));
    vendor.socket.says({ type: 'Flushed' });
    await settle();
    expect(reading).toMatchObject({ over: true, samples: [2] });
    expect(told.filter((line) => line.startsWith('back'))).toEqual(['back 500']);
  });

  it('gives a sentence up that is refused again and again, without the vendor’s words', async () => {
    const { clock, vendor, session, logger } = open();
    vendor.socket.opens();
    const reading = listen(session, 'Secret words.');
    for (let count = 0; count < 3; count += 1) {
      await settle();
      vendor.socket.says({ type: 'Error', code: 'DATA-0000', description: 'cannot say Secret words.' });
      await settle();
      clock.advance(1000);
    }
    await settle();
    expect(reading.error).toMatchObject({
      message: 'Deepgram could not speak a sentence (DATA-0000).',
      retryable: true,
    });
    expect(logger.text).not.toContain('Secret');
  });

  it('leaves no timer behind, and is silent after the end', async () => {
    const { clock, vendor, session } = open();
    vendor.socket.opens();
    const reading = listen(session, 'Hello.');
    await settle();
    session.close();
    session.close();
    vendor.socket.sends(toBytes([1]));
    await settle();
    expect(reading).toMatchObject({ over: true, samples: [], error: undefined });
    expect(vendor.socket.messages.at(-1)).toEqual({ type: 'Close' });
    expect(clock.pending).toBe(0);
  });
});
