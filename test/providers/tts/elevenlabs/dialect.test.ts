import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { audio, open } from './rig.js';
import { listen, settle } from '../listener.js';

describe('the voice of ElevenLabs', () => {
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
