import { describe, expect, it } from 'vitest';
import { audio, created, open, openReady } from './scene.js';

describe("the caller's audio", () => {
  it('is kept while the network does not take it, five seconds at most', () => {
    const { vendor, session } = openReady();
    vendor.socket.bufferedBytes = 70_000;
    for (let second = 0; second < 8; second += 1) session.pushAudio(new Uint8Array(8000));
    const appended = () => vendor.socket.messages.filter(({ type }) => type === 'input_audio_buffer.append');
    expect(appended()).toHaveLength(0);
    vendor.socket.bufferedBytes = 0;
    session.pushAudio(new Uint8Array(160));
    const bytes = appended().map(({ audio: text }) => Buffer.from(String(text), 'base64').length);
    expect(bytes.reduce((sum, length) => sum + length, 0)).toBe(5 * 8000);
  });

  describe('over another connection', () => {
    const committed = { type: 'input_audio_buffer.committed', item_id: 'u1' };
    const words = (transcript: string) => ({
      type: 'conversation.item.input_audio_transcription.completed',
      item_id: 'u1',
      transcript,
    });
    const text = {
      type: 'response.output_audio_transcript.delta',
      response_id: 'r1',
      item_id: 'i1',
      delta: 'Three',
    };
    const done = (status: string) => ({ type: 'response.done', response: { id: 'r1', status } });

    /** What is told, and which frames are sent, when the connection breaks behind a turn of the first 600 ms and `then`. */
    function breaks(then: readonly object[], options: Parameters<typeof openReady>[0] = {}) {
      const { vendor, clock, session, told } = openReady(options);
      for (let frame = 0; frame < 100; frame += 1) session.pushAudio(new Uint8Array(160).fill(frame));
      vendor.socket.says({ type: 'input_audio_buffer.speech_started', item_id: 'u1' });
      vendor.socket.says({ type: 'input_audio_buffer.speech_stopped', item_id: 'u1', audio_end_ms: 600 });
      for (const message of [committed, ...then]) vendor.socket.says(message);
      clock.advance(5000);
      told.length = 0;
      vendor.socket.ends({ reason: 'has gone silent', lastedMs: 3000 });
      session.pushAudio(new Uint8Array(160).fill(100));
      clock.advance(0);
      vendor.socket.opens();
      vendor.socket.says({ type: 'session.updated' });
      const sent = vendor.socket.messages.filter(({ type }) => type === 'input_audio_buffer.append');
      return { told, frames: sent.map(({ audio: text }) => Buffer.from(String(text), 'base64')[0]) };
    }

    const framesFrom = (first: number) => Array.from({ length: 101 - first }, (_, index) => first + index);

    it.each<[string, readonly object[]]>([
      ['nothing has come', []],
      ['no words could be made out', [words('')]],
      ['an answer has begun of which nothing was heard', [created('r1')]],
      ['an answer was broken off', [created('r1'), done('failed')]],
    ])('a turn is heard once more of which %s', (_, then) => {
      const { told, frames } = breaks(then);
      expect(frames).toEqual(framesFrom(0));
      expect(told).toEqual(['lost', 'reconnected 3000 again']);
    });

    it('a turn is heard once more where nobody may interrupt and nothing was heard of its answer', () => {
      const { told, frames } = breaks([created('r1')], { interruptible: false });
      expect(frames).toEqual(framesFrom(0));
      expect(told).toEqual(['lost', 'reconnected 3000 again']);
    });

    it('a turn is heard once more of whose answer there are words and no sound', () => {
      const { frames } = breaks([created('r1'), text]);
      expect(frames).toEqual(framesFrom(0));
    });

    it.each<[string, readonly object[]]>([
      ['the words have come', [words('Three loaves.')]],
      ['something of the answer was heard', [created('r1'), audio('r1')]],
      ['the answer was empty', [created('r1'), done('completed')]],
    ])('a turn is not heard again of which %s', (_, then) => {
      const { told, frames } = breaks(then);
      expect(frames).toEqual(framesFrom(30));
      expect(told).toEqual(['lost', 'reconnected 3000']);
    });

    it.each<[string, readonly object[]]>([
      ['of sound', [audio('r1')]],
      ['of nothing but its end', [done('completed')]],
    ])(
      'nobody may interrupt an answer %s: what was said into it is heard again, and not what it answers',
      (_, answer) => {
        const into = [
          { type: 'input_audio_buffer.speech_started', item_id: 'u2' },
          { type: 'input_audio_buffer.speech_stopped', item_id: 'u2', audio_end_ms: 1200 },
          { type: 'input_audio_buffer.committed', item_id: 'u2' },
        ];
        const { told, frames } = breaks([created('r1'), ...into, ...answer], { interruptible: false });
        expect(frames).toEqual(framesFrom(30));
        expect(told).toEqual(['lost', 'reconnected 3000 again']);
      },
    );
  });

  it('keeps a session as long as a turn is not known', () => {
    const { vendor, clock, session } = open();
    vendor.socket.opens();
    const expiresAt = Math.floor((clock.wallNow() + 60_000) / 1000);
    vendor.socket.says({ type: 'session.created', session: { expires_at: expiresAt } });
    vendor.socket.says({ type: 'session.updated' });
    session.pushAudio(new Uint8Array(160));
    vendor.socket.says({ type: 'input_audio_buffer.committed', item_id: 'u1' });
    clock.advance(58_000);
    expect(vendor.sockets).toHaveLength(1);
    vendor.socket.says(created('r1'));
    vendor.socket.says(audio('r1'));
    vendor.socket.says({ type: 'response.done', response: { id: 'r1', status: 'completed' } });
    clock.advance(500);
    clock.advance(0);
    expect(vendor.sockets).toHaveLength(2);
  });

  it('is not sent twice by a session that ends in a silence', () => {
    const { vendor, clock, session } = open();
    vendor.socket.opens();
    const expiresAt = Math.floor((clock.wallNow() + 60_000) / 1000);
    vendor.socket.says({ type: 'session.created', session: { expires_at: expiresAt } });
    vendor.socket.says({ type: 'session.updated' });
    session.pushAudio(new Uint8Array(160));
    clock.advance(60_000);
    expect(vendor.sockets).toHaveLength(2);
    vendor.socket.opens();
    vendor.socket.says({ type: 'session.updated' });
    expect(vendor.socket.messages.filter(({ type }) => type === 'input_audio_buffer.append')).toEqual([]);
  });

  it('is not sent after close', () => {
    const { vendor, session, clock } = openReady();
    session.close();
    session.close();
    const { length } = vendor.socket.sent;
    session.pushAudio(new Uint8Array(160));
    session.respond();
    session.say('Hello');
    vendor.socket.says(created('r1'));
    expect([vendor.socket.closed, vendor.socket.sent.length, clock.pending]).toEqual([true, length, 0]);
  });
});
