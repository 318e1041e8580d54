import { describe, expect, it } from 'vitest';
import { audio, open } from './rig.js';
import { listen, settle } from '../listener.js';

describe('a sentence that is lost or refused', () => {
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
});
