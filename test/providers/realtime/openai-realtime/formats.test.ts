import { describe, expect, it } from 'vitest';
import { audio, created, done, error, open, openReady } from './scene.js';

const updated = (output: unknown, input: unknown = { type: 'audio/pcmu' }) => ({
  type: 'session.updated',
  session: { type: 'realtime', audio: { input: { format: input }, output: { format: output } } },
});
const PCM = { type: 'audio/pcm', rate: 24_000 };

describe('the formats of a session', () => {
  it.each([
    ['as they were asked for', updated({ type: 'audio/pcmu' }), 'ready'],
    ['other ones', updated(PCM), 'ready pcm24'],
    ['PCM of another rate', updated({ type: 'audio/pcm', rate: 16_000 }), 'ready pcm16'],
    ['PCM without a rate', updated({ type: 'audio/pcm' }), 'ready pcm24'],
    [
      'in the words of the beta',
      { type: 'session.updated', session: { output_audio_format: 'pcm16' } },
      'ready pcm24',
    ],
  ])('are what the service says they are: %s', (_, message, expected) => {
    const { vendor, told } = open();
    vendor.socket.opens();
    vendor.socket.says(message);
    expect(told).toEqual([expected]);
  });

  it.each([{ type: 'audio/opus' }, { type: 'audio/pcm', rate: 44_100 }, 'wav'])(
    'end it when no telephone takes them: %j',
    (format) => {
      const { vendor, told } = open();
      vendor.socket.opens();
      vendor.socket.says(updated(format));
      expect(told).toEqual(['failed OpenAI Realtime speaks in an audio format that no telephone takes.']);
      expect(vendor.socket.closed).toBe(true);
    },
  );

  it('may be told late, or changed: what follows is in the new ones', () => {
    const { vendor, told, session, clock, last } = open();
    vendor.socket.opens();
    clock.advance(1200);
    vendor.socket.says(created('r1'));
    vendor.socket.says(audio('r1'));
    vendor.socket.says(updated(PCM, PCM));
    vendor.socket.says(audio('r1'));
    vendor.socket.says(updated(PCM, PCM));
    expect(told).toEqual([
      'ready',
      'start r1',
      'audio item_r1 800',
      'formats pcm24 pcm24',
      'audio item_r1 800',
    ]);
    // 100 ms of the first, and 16 of the second.
    session.truncate({ itemId: 'item_r1', heardMs: 1000 });
    expect(last()).toMatchObject({ audio_end_ms: 116 });
    // The caller's audio is counted in them, too.
    session.pushAudio(new Uint8Array(48 * 1000));
    vendor.socket.says({ type: 'input_audio_buffer.speech_stopped', item_id: 'u1', audio_end_ms: 900 });
    vendor.socket.says({ type: 'input_audio_buffer.committed', item_id: 'u1' });
    expect(told.at(-1)).toBe('spoke u1 600');
  });

  it('are told before another connection is used that has other ones', () => {
    const { vendor, told, clock } = openReady();
    clock.advance(2000);
    vendor.socket.ends();
    clock.advance(300);
    vendor.socket.opens();
    vendor.socket.says(updated(PCM));
    expect(told).toEqual(['lost', 'formats mulaw8 pcm24', 'reconnected 300']);
  });
});

describe('a service that refuses to answer', () => {
  const asked = (types: readonly unknown[]) => types.filter((type) => type === 'response.create').length;

  it('is asked three times for one answer, however many others it gives in its place', () => {
    const { vendor, session, types, told } = openReady();
    session.respond();
    for (let index = 0; index < 50; index += 1) {
      const { event_id } = vendor.socket.messages.findLast(({ type }) => type === 'response.create') ?? {};
      vendor.socket.says(error('conversation_already_has_active_response', event_id));
      vendor.socket.says(created(`r${index}`));
      vendor.socket.says(done(`r${index}`));
    }
    expect(asked(types())).toBe(3);
    expect(told.some((line) => line.startsWith('failed'))).toBe(false);
    session.respond();
    expect(asked(types())).toBe(4);
  });

  it('is asked again behind the end of an answer that it never told the beginning of', () => {
    const { vendor, session, types, last } = openReady();
    session.respond();
    vendor.socket.says(error('conversation_already_has_active_response', last().event_id));
    vendor.socket.says(done('r0'));
    expect(asked(types())).toBe(2);
  });
});
