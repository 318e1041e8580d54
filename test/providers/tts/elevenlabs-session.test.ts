import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ElevenLabsSession } from '../../../src/providers/tts/elevenlabs-session.js';
import { FakeClock } from '../../support/fake-clock.js';
import { RecordedLogger } from '../../support/recorded-logger.js';
import { FakeVendor } from '../fake-vendor-socket.js';

const never = new AbortController().signal;

function open() {
  const clock = new FakeClock();
  const vendor = new FakeVendor();
  const logger = new RecordedLogger();
  const told: string[] = [];
  const session = new ElevenLabsSession(
    {
      clock,
      logger,
      language: undefined,
      events: {
        usage: ({ characters }) => void told.push(`usage ${characters}`),
        reconnected: ({ gapMs }) => void told.push(`back ${gapMs}`),
      },
    },
    {
      target: {
        url: new URL('ws://vendor'),
        headers: {},
        names: { vendor: 'ElevenLabs', keyVariables: ['ELEVENLABS_API_KEY'] },
      },
      voiceSettings: { stability: 0.5 },
      open: vendor.open,
    },
  );
  return { clock, vendor, logger, told, session };
}

/** Reads a sentence in the background. */
function listen(session: ElevenLabsSession, text: string, signal = never) {
  const samples: number[] = [];
  const reading = { samples, over: false, error: undefined as unknown };
  void (async () => {
    try {
      for await (const pcm of session.synthesize(text, signal)) samples.push(...pcm);
    } catch (error) {
      reading.error = error;
    }
    reading.over = true;
  })();
  return reading;
}

const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

/** `samples` as the vendor sends them. */
function audio(contextId: string, samples: number[], rest: object = {}): object {
  return { audio: Buffer.from(Int16Array.from(samples).buffer).toString('base64'), contextId, ...rest };
}

describe('ElevenLabsSession', () => {
  it('speaks each sentence in a context of its own: opened, flushed, closed', async () => {
    const { vendor, session, told } = open();
    const reading = listen(session, ' Good day. ');
    await settle();
    expect(vendor.socket.sent).toEqual([]);
    vendor.socket.opens();
    await settle();
    expect(vendor.socket.messages).toEqual([
      { text: ' ', context_id: 'idle', voice_settings: { stability: 0.5 } },
      { text: ' ', context_id: 's1', voice_settings: { stability: 0.5 } },
      { text: 'Good day. ', context_id: 's1' },
      { context_id: 's1', flush: true },
      { context_id: 's1', close_context: true },
    ]);
    expect(told).toEqual(['usage 9']);
    vendor.socket.says(audio('s1', [1, 2]));
    vendor.socket.says({ audio: null, contextId: 's1' });
    vendor.socket.says({ contextId: 's1', alignment: null });
    vendor.socket.says(audio('s1', [3]));
    await settle();
    expect(reading).toMatchObject({ samples: [1, 2, 3], over: false });
    vendor.socket.says({ isFinal: true, contextId: 's1' });
    await settle();
    expect(reading.over).toBe(true);
  });

  it('joins samples that are cut in half, and takes base64 without padding', async () => {
    const { vendor, session } = open();
    vendor.socket.opens();
    const reading = listen(session, 'Odd.');
    await settle();
    const bytes = Buffer.from(Int16Array.from([258, 772]).buffer);
    for (const piece of [bytes.subarray(0, 1), bytes.subarray(1, 4)])
      vendor.socket.says({ contextId: 's1', audio: piece.toString('base64').replaceAll('=', '') });
    await settle();
    expect(reading.samples).toEqual([258, 772]);
  });

  it('drops what comes late for a sentence that was cut off', async () => {
    const { vendor, session } = open();
    vendor.socket.opens();
    const abort = new AbortController();
    const first = listen(session, 'A long story.', abort.signal);
    await settle();
    vendor.socket.says(audio('s1', [1]));
    await settle();
    abort.abort();
    await settle();
    expect(first).toMatchObject({ over: true, samples: [1] });
    const second = listen(session, 'Sorry.');
    await settle();
    vendor.socket.says(audio('s1', [1, 1]));
    vendor.socket.says(audio('s2', [2]));
    vendor.socket.says({ isFinal: true, contextId: 's1' });
    vendor.socket.says(audio('s1', [1]));
    vendor.socket.says(audio('s2', [2]));
    vendor.socket.says({ isFinal: true, contextId: 's2' });
    await settle();
    expect(second).toMatchObject({ over: true, samples: [2, 2] });
    expect(first.samples).toEqual([1]);
  });

  it('reads nothing that was queued before an abort', async () => {
    const { vendor, session } = open();
    vendor.socket.opens();
    const abort = new AbortController();
    const stream = session.synthesize('One. Two.', abort.signal)[Symbol.asyncIterator]();
    const first = stream.next();
    await settle();
    for (const sample of [1, 2, 3]) vendor.socket.says(audio('s1', [sample]));
    expect([...((await first).value ?? [])]).toEqual([1]);
    abort.abort();
    expect(await stream.next()).toEqual({ done: true, value: undefined });
  });

  it('opens a sixth context only when one of five is over', async () => {
    const { clock, vendor, session } = open();
    vendor.socket.opens();
    for (let count = 1; count <= 4; count += 1) {
      const abort = new AbortController();
      listen(session, `Sentence ${count}.`, abort.signal);
      await settle();
      abort.abort();
    }
    const opened = () => vendor.socket.messages.filter(({ text }) => text === ' ').length;
    expect(opened()).toBe(5);
    const waiting = listen(session, 'Next.');
    await settle();
    expect(opened()).toBe(5);
    vendor.socket.says({ isFinal: true, contextId: 's2' });
    await settle();
    expect(opened()).toBe(6);
    expect(waiting.over).toBe(false);
    // What never says that it is over is over after a while.
    listen(session, 'And one more.');
    vendor.socket.says(audio('s5', [1]));
    clock.advance(3000);
    await settle();
    // Over another connection: this one may be dead. What nobody has begun to hear is said there.
    vendor.socket.opens();
    await settle();
    expect(vendor.sockets).toHaveLength(2);
    expect(vendor.socket.messages.filter(({ text }) => text === 'And one more. ')).toHaveLength(1);
  });

  it('ends a sentence whose end is never told', async () => {
    const { clock, vendor, session } = open();
    vendor.socket.opens();
    const reading = listen(session, 'Hello.');
    await settle();
    vendor.socket.says(audio('s1', [1]));
    clock.advance(2999);
    await settle();
    expect(reading.over).toBe(false);
    clock.advance(1);
    await settle();
    expect(reading).toMatchObject({ over: true, error: undefined });
    expect(vendor.sockets.map(({ closed }) => closed)).toEqual([true, false]);
  });

  it('keeps an idle socket alive by a context, never by a bare empty text', async () => {
    const { clock, vendor } = open();
    vendor.socket.opens();
    clock.advance(46_000);
    expect(vendor.socket.messages.slice(1)).toEqual([
      { text: '', context_id: 'idle' },
      { text: '', context_id: 'idle' },
      { text: '', context_id: 'idle' },
    ]);
    vendor.socket.says({ isFinal: true, contextId: 'idle' });
    clock.advance(15_000);
    expect(vendor.socket.messages.at(-1)).toMatchObject({ text: ' ', context_id: 'idle' });
  });

  it('says again only what was not heard when the connection is lost', async () => {
    const { clock, vendor, session, told } = open();
    vendor.socket.opens();
    clock.advance(5000);
    const heard = listen(session, 'The first words and the last.');
    const unheard = listen(session, 'Not begun.');
    await settle();
    const alignment = { chars: [...' The first wor'] };
    vendor.socket.says(audio('s1', [1], { alignment }));
    vendor.socket.ends();
    clock.advance(0);
    clock.advance(40);
    vendor.socket.opens();
    await settle();
    const texts = vendor.socket.messages.flatMap(({ text }) =>
      typeof text === 'string' && text.trim() !== '' ? [text] : [],
    );
    expect(texts.sort()).toEqual(['Not begun. ', 'and the last. ']);
    expect(told.sort()).toEqual(['back 40', 'usage 10', 'usage 10', 'usage 13', 'usage 29']);
    for (const id of ['s3', 's4']) {
      vendor.socket.says(audio(id, [2]));
      vendor.socket.says({ isFinal: true, contextId: id });
    }
    await settle();
    expect(heard).toMatchObject({ samples: [1, 2], over: true });
    expect(unheard).toMatchObject({ samples: [2], over: true });
  });

  it.each([
    ['without an alignment', {}],
    ['when all of it was spoken', { alignment: { chars: [...'All of it.'] } }],
    ['with another text', { alignment: { chars: [...'Something else'] } }],
  ])('lets a sentence that was begun end %s', async (_, rest) => {
    const { clock, vendor, session } = open();
    vendor.socket.opens();
    const reading = listen(session, 'All of it.');
    await settle();
    vendor.socket.says(audio('s1', [1], rest));
    vendor.socket.ends();
    clock.advance(200);
    vendor.socket.opens();
    await settle();
    expect(reading).toMatchObject({ samples: [1], over: true, error: undefined });
  });

  it('says a sentence over another connection when one gives no audio', async () => {
    const { clock, vendor, session, told } = open();
    vendor.socket.opens();
    const reading = listen(session, 'Anybody?');
    await settle();
    clock.advance(1999);
    expect(vendor.sockets).toHaveLength(1);
    clock.advance(1);
    expect(vendor.sockets).toHaveLength(2);
    expect(vendor.sockets[0]?.closed).toBe(true);
    clock.advance(30);
    vendor.socket.opens();
    await settle();
    vendor.socket.says(audio('s2', [5]));
    vendor.socket.says({ isFinal: true, contextId: 's2' });
    await settle();
    expect(reading).toMatchObject({ samples: [5], over: true });
    expect(told).toEqual(['usage 8', 'back 2030', 'usage 8']);
  });

  it('gives up a sentence that is lost again and again', async () => {
    const { clock, vendor, session } = open();
    vendor.socket.opens();
    const reading = listen(session, 'Unlucky.');
    for (let count = 0; count < 3; count += 1) {
      await settle();
      clock.advance(2000);
      vendor.socket.ends();
      clock.advance(0);
      vendor.socket.opens();
      await settle();
    }
    expect(reading.error).toMatchObject({ code: 'PROVIDER_FAILED', retryable: true });
  });

  it('fails a sentence that the vendor refuses, and no other', async () => {
    const { vendor, session } = open();
    vendor.socket.opens();
    const bad = listen(session, 'Bad.');
    const good = listen(session, 'Good.');
    await settle();
    vendor.socket.says({ error: 'text_rejected', message: 'quoted text', contextId: 's1' });
    vendor.socket.says(audio('s2', [2]));
    vendor.socket.says({ isFinal: true, contextId: 's2' });
    await settle();
    expect(bad.error).toMatchObject({
      message: 'ElevenLabs could not speak a sentence (text_rejected).',
      retryable: false,
    });
    expect(good).toMatchObject({ samples: [2], over: true, error: undefined });
  });

  it('says the rest of a sentence again that broke in the middle, a moment later', async () => {
    const { clock, vendor, session, told } = open();
    vendor.socket.opens();
    const reading = listen(session, 'One two.');
    await settle();
    vendor.socket.says(audio('s1', [1], { alignment: { chars: [...'One '] } }));
    vendor.socket.says({ error: 'internal_error', contextId: 's1' });
    await settle();
    expect(vendor.socket.messages.at(-1)).toEqual({ context_id: 's1', close_context: true });
    clock.advance(150);
    await settle();
    expect(vendor.socket.messages.slice(-3)).toEqual([
      { text: 'two. ', context_id: 's2' },
      { context_id: 's2', flush: true },
      { context_id: 's2', close_context: true },
    ]);
    vendor.socket.says(audio('s1', [9]));
    vendor.socket.says(audio('s2', [2]));
    vendor.socket.says({ isFinal: true, contextId: 's2' });
    await settle();
    expect(reading).toMatchObject({ samples: [1, 2], over: true, error: undefined });
    expect(told).toEqual(['usage 8', 'usage 4', expect.stringMatching(/^back 1/)]);
  });

  it('waits once, and longer, where the vendor is busy', async () => {
    const { clock, vendor, session } = open();
    vendor.socket.opens();
    const reading = listen(session, 'Now.');
    await settle();
    vendor.socket.says({ error: 'too_many_concurrent_requests', contextId: 's1' });
    await settle();
    clock.advance(180);
    await settle();
    expect(vendor.socket.messages.at(-1)).toEqual({ context_id: 's1', close_context: true });
    clock.advance(140);
    await settle();
    vendor.socket.says({ error: 'system_busy', contextId: 's2' });
    await settle();
    expect(reading.error).toMatchObject({
      message: 'ElevenLabs could not speak a sentence (system_busy).',
      retryable: true,
    });
  });

  it('is not kept by a pause when it is closed', async () => {
    const { clock, vendor, session } = open();
    vendor.socket.opens();
    const reading = listen(session, 'Now.');
    await settle();
    vendor.socket.says({ error: 'internal_error', contextId: 's1' });
    await settle();
    session.close();
    await settle();
    expect(reading).toMatchObject({ over: true, error: undefined });
    expect(clock.pending).toBe(0);
  });

  it.each([
    [
      'invalid_api_key',
      'could not speak a sentence (invalid_api_key): check ELEVENLABS_API_KEY, or the option apiKey.',
    ],
    ['quota_exceeded', 'could not speak a sentence (quota_exceeded).'],
  ])('blames the key for a sentence that is refused with %s only where it may be why', async (code, told) => {
    const { vendor, session } = open();
    vendor.socket.opens();
    const reading = listen(session, 'Hello?');
    await settle();
    vendor.socket.says({ error: code, contextId: 's1' });
    await settle();
    expect(reading.error).toMatchObject({ message: `ElevenLabs ${told}`, retryable: false });
  });

  it('fails who waits when there is no connection, and tries again for the next sentence', async () => {
    const { vendor, session } = open();
    const reading = listen(session, 'Hello?');
    vendor.socket.ends({ kind: 'fatal', status: 401, reason: 'refused the key (HTTP 401)' });
    await settle();
    expect(reading.error).toMatchObject({ status: 401, retryable: false });
    const again = listen(session, 'Hello!');
    await settle();
    vendor.socket.opens();
    await settle();
    vendor.socket.says(audio('s1', [1]));
    vendor.socket.says({ isFinal: true, contextId: 's1' });
    await settle();
    expect(again).toMatchObject({ samples: [1], over: true });
  });

  it('ends everything when it is closed, and leaves no timer', async () => {
    const { clock, vendor, session } = open();
    vendor.socket.opens();
    const speaking = listen(session, 'Long.');
    await settle();
    vendor.socket.says(audio('s1', [1]));
    session.close();
    session.close();
    const after = listen(session, 'Too late.');
    await settle();
    expect([speaking.over, after.over, after.samples]).toEqual([true, true, []]);
    expect(vendor.socket.sent.at(-1)).toBe('{"close_socket":true}');
    expect(clock.pending).toBe(0);
  });

  it('never throws, and gives no audio after the end, whatever the vendor says', async () => {
    const value = fc.oneof(fc.jsonValue(), fc.constantFrom(null, '', 'AAA', 'not base64 !', 7, true, [], {}));
    const id = fc.constantFrom('s1', 's2', 'idle', '', 'other');
    const message = fc.oneof(
      fc.string(),
      fc.record(
        { contextId: id, audio: value, alignment: value, isFinal: value, error: value },
        { requiredKeys: [] },
      ),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(message, { maxLength: 20 }), async (messages) => {
        const { clock, vendor, session } = open();
        vendor.socket.opens();
        const abort = new AbortController();
        const readings = [listen(session, 'One.', abort.signal), listen(session, 'Two.')];
        await settle();
        for (const each of messages) vendor.socket.says(each as object | string);
        await settle();
        abort.abort();
        session.close();
        await settle();
        const before = readings.map(({ samples }) => samples.length);
        for (const contextId of ['s1', 's2']) vendor.socket.says(audio(contextId, [9]));
        await settle();
        expect(readings.map(({ samples }) => samples.length)).toEqual(before);
        expect(readings.every(({ over }) => over)).toBe(true);
        expect(clock.pending).toBe(0);
      }),
      { numRuns: 60 },
    );
  });
});
