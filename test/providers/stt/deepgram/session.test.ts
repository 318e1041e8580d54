import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DeepgramSession } from '../../../../src/providers/stt/deepgram/session.js';
import { fakeWire, pause } from '../ear.js';

function listen(options: { ownsTurnTaking?: boolean; keptMs?: number; isLast?: () => boolean } = {}) {
  const { scene, context, wire } = fakeWire('Deepgram', options);
  const session = new DeepgramSession(context, { ...wire, ownsTurnTaking: options.ownsTurnTaking ?? false });
  return { ...scene, session };
}

function results(transcript: string, span: [number, number], flags: object = {}): object {
  const [start, end] = span;
  const channel = { alternatives: [{ transcript, words: [] }] };
  return { type: 'Results', start, duration: end - start, is_final: false, channel, ...flags };
}

const final = { is_final: true };

describe('DeepgramSession', () => {
  it('tells of a piece the language of most of its words, and how many are in it', () => {
    const { vendor, session, events } = listen();
    const finals: unknown[][] = [];
    events.final = (...told: unknown[]) => void finals.push(told);
    pause(session, 100);
    vendor.socket.opens();
    const heard = (tagged: string, span: [number, number]) => {
      const words = tagged.split(' ').map((each, index) => {
        const [word, language] = each.split('/');
        return {
          word,
          punctuated_word: word,
          start: span[0] + index / 10,
          end: span[0] + (index + 1) / 10,
          language,
        };
      });
      const transcript = words.map(({ word }) => word).join(' ');
      const channel = { alternatives: [{ transcript, words }] };
      vendor.socket.says({ ...results(transcript, span, final), channel });
    };
    heard('Ich/de möchte/de ein/de Upgrade/en', [0, 1]);
    heard('bitte/de', [1, 2]);
    heard('no language', [2, 3]);
    expect(finals).toEqual([
      ['Ich möchte ein Upgrade', { tag: 'de', confidence: 0.75 }],
      ['bitte', { tag: 'de', confidence: 1 }],
      ['no language'],
    ]);
  });

  it('keeps two seconds until the first connection, and says what was dropped', () => {
    const { vendor, session, logger } = listen();
    pause(session, 3000);
    vendor.socket.opens();
    expect(vendor.socket.audioBytes).toBe(2 * 32_000);
    expect(logger.lines.at(-1)).toMatchObject({ level: 'warn', fields: { lostMs: 1000 } });
  });

  it('says of each gap what was lost in it', () => {
    const { clock, vendor, session, told } = listen();
    for (const keptMs of [2000, 5000, 5000]) {
      pause(session, keptMs + 1000);
      vendor.socket.opens();
      clock.advance(5000);
      vendor.socket.ends();
      clock.advance(0);
    }
    expect(told).toEqual(['back 1000', 'back 1000']);
  });

  it('keeps more where it is to hear what another one has heard before', () => {
    const { vendor, session } = listen({ keptMs: 5000 });
    pause(session, 6000);
    vendor.socket.opens();
    expect(vendor.socket.audioBytes).toBe(5 * 32_000);
  });

  it('says that the first connection was in trouble, and that it is there', () => {
    const { clock, vendor, events } = listen();
    vendor.socket.ends();
    expect([events.troubles, events.told]).toEqual([1, []]);
    clock.advance(300);
    vendor.socket.opens();
    expect(events.told).toEqual(['back 0']);
  });

  it.each([
    [true, ['back 0', 'Three loaves.']],
    [false, ['failed: Deepgram broke.']],
  ])('outlasts a vendor that restarts, where it is the last: %s', async (isLast, wanted) => {
    const { clock, vendor, session, told } = listen({ isLast: () => isLast });
    vendor.socket.opens();
    clock.advance(10_000);
    pause(session, 500);
    await vendor.goDown(clock, 2000);
    pause(session, 500);
    clock.advance(1000);
    vendor.socket.opens();
    vendor.socket.says(results('Three loaves.', [0, 1], final));
    expect(told).toEqual(wanted);
  });

  it('says how long a connection was silent that is lost', () => {
    const { clock, vendor, events } = listen();
    vendor.socket.opens();
    clock.advance(10_000);
    vendor.socket.ends({ lastedMs: 3000 });
    expect([events.troubles, events.silentMs]).toEqual([1, 3000]);
  });

  it('sends frames as they come, in binary, whole', () => {
    const { vendor, session, logger } = listen();
    vendor.socket.opens();
    expect(logger.lines).toEqual([]);
    // An empty binary message would close the stream.
    session.pushAudio(new Int16Array(0));
    session.pushAudio(new Int16Array(320).fill(0x0102));
    const [message] = vendor.socket.sent;
    expect(message).toBeInstanceOf(Uint8Array);
    expect(message).toHaveLength(640);
    expect([...(message as Uint8Array).slice(0, 2)]).toEqual([2, 1]);
  });

  it('leaves audio in the backlog while the network takes none, and drops the oldest after five seconds', () => {
    const { clock, vendor, session, events } = listen();
    vendor.socket.opens();
    vendor.socket.bufferedBytes = 64 * 1024;
    pause(session, 6000);
    expect(vendor.socket.audioBytes).toBe(0);
    vendor.socket.bufferedBytes = 0;
    clock.advance(20);
    expect(vendor.socket.audioBytes).toBe(5 * 32_000);
    // The vendor's second 1 is the session's second 2: one was dropped before.
    vendor.socket.says({ type: 'SpeechStarted', timestamp: 1 });
    expect(events.told).toEqual(['> 2000']);
  });

  it('sends a sign of life, as text, when no audio flows', () => {
    const { clock, vendor, session } = listen();
    vendor.socket.opens();
    for (let at = 0; at < 20_000; at += 20) {
      clock.advance(20);
      pause(session, 20);
    }
    expect(vendor.socket.messages).toEqual([]);
    clock.advance(13_000);
    expect(vendor.socket.messages).toEqual([
      { type: 'KeepAlive' },
      { type: 'KeepAlive' },
      { type: 'KeepAlive' },
    ]);
  });

  it('waits 300 ms for an answer to Finalize, then takes what is open', () => {
    const { clock, vendor, session, told, events } = listen();
    vendor.socket.opens();
    vendor.socket.says(results('good morning', [0, 1]));
    session.finishUtterance();
    expect(vendor.socket.messages).toEqual([{ type: 'Finalize' }]);
    clock.advance(299);
    expect(told).toEqual(['~good morning']);
    clock.advance(1);
    expect(told).toEqual(['~good morning', 'good morning']);
    expect([events.missedAnswers, events.settledMs]).toEqual([1, 1000]);
    vendor.socket.says(results('Good morning.', [0, 1], { ...final, from_finalize: true }));
    expect(told).toHaveLength(2);
  });

  it('answers with an empty final when nothing is open', () => {
    const { clock, vendor, session, told, events } = listen();
    vendor.socket.opens();
    session.finishUtterance();
    vendor.socket.says(results('', [0, 1], { ...final, from_finalize: true }));
    expect(told).toEqual(['']);
    clock.advance(1000);
    expect(told).toEqual(['']);
    expect(events.missedAnswers).toBe(0);
  });

  it('leaves a connection that does not answer, and says the last seconds again over another one', () => {
    const { clock, vendor, session, told } = listen();
    vendor.socket.opens();
    pause(session, 2000);
    session.finishUtterance();
    clock.advance(1500);
    clock.advance(0);
    expect(vendor.sockets).toHaveLength(2);
    vendor.socket.opens();
    expect(vendor.socket.audioBytes).toBe(2 * 32_000);
    expect(told.at(-1)).toBe('back 0');
  });

  it('wants no answer where there is nothing to say', () => {
    const { clock, vendor, session } = listen();
    vendor.socket.opens();
    pause(session, 900);
    session.finishUtterance();
    clock.advance(3500);
    expect(vendor.sockets).toHaveLength(1);
  });

  it('asks to finalize only after the audio that waits was sent', () => {
    const { clock, vendor, session, told } = listen();
    pause(session, 500);
    session.finishUtterance();
    clock.advance(400);
    expect(told).toEqual([]);
    vendor.socket.opens();
    expect(vendor.socket.sent.at(-1)).toBe('{"type":"Finalize"}');
    clock.advance(300);
    expect(told).toEqual(['']);
  });

  it('asks for an open piece when words have stopped, and ends the turn by it', () => {
    const { clock, vendor, told } = listen({ ownsTurnTaking: true });
    vendor.socket.opens();
    vendor.socket.says(results('good morning', [0, 1]));
    vendor.socket.says({ type: 'UtteranceEnd', last_word_end: 1 });
    expect(vendor.socket.messages).toEqual([{ type: 'Finalize' }]);
    clock.advance(300);
    expect(told).toEqual(['~good morning', 'good morning', '|']);
  });

  it('plays again what was not settled when the connection is lost, with times that go on', () => {
    const { clock, vendor, session, told } = listen();
    vendor.socket.opens();
    pause(session, 10_000);
    vendor.socket.says(results('First.', [0, 8], final));
    vendor.socket.says(results('sec', [8, 10]));
    clock.advance(10_000);
    vendor.socket.ends();
    pause(session, 1000);
    clock.advance(0);
    vendor.socket.opens();
    expect(vendor.socket.audioBytes).toBe(3 * 32_000);
    vendor.socket.says({ type: 'SpeechStarted', timestamp: 0.5 });
    vendor.socket.says(results('Second.', [0, 3], final));
    expect(told).toEqual(['First.', '~sec', 'back 0', '> 8500', 'Second.']);
  });

  it('plays five seconds again at most, and says what was lost for good', () => {
    const { clock, vendor, session, events } = listen();
    vendor.socket.opens();
    pause(session, 1000);
    clock.advance(10_000);
    vendor.socket.ends();
    clock.advance(0);
    pause(session, 7000);
    vendor.socket.opens();
    expect(vendor.socket.audioBytes).toBe(5 * 32_000);
    expect(events.told).toEqual(['back 2000']);
  });

  it('counts the seconds that were sent, also twice, and tells the rest before close returns', () => {
    const { clock, vendor, session, events } = listen();
    vendor.socket.opens();
    pause(session, 11_000);
    expect(events.seconds).toBeCloseTo(10, 1);
    clock.advance(10_000);
    vendor.socket.ends();
    clock.advance(0);
    vendor.socket.opens();
    session.close();
    expect(events.seconds).toBeCloseTo(16, 5);
  });

  it('closes the stream, once, and leaves no timer', () => {
    const { clock, vendor, session } = listen();
    vendor.socket.opens();
    pause(session, 100);
    session.finishUtterance();
    session.close();
    session.close();
    session.pushAudio(new Int16Array(320));
    session.finishUtterance();
    expect(vendor.socket.messages).toEqual([{ type: 'Finalize' }, { type: 'CloseStream' }]);
    expect(clock.pending).toBe(0);
  });

  it('fails once, with the usage before it, and leaves no timer', () => {
    const { clock, vendor, session, events } = listen();
    vendor.socket.opens();
    pause(session, 1000);
    vendor.socket.ends({ kind: 'fatal', reason: 'closed the connection (1008)' });
    session.close();
    expect(events.seconds).toBe(1);
    expect(events.told).toEqual(['failed: Deepgram closed the connection (1008).']);
    expect(clock.pending).toBe(0);
  });

  it('notes an unknown message once', () => {
    const { vendor, logger } = listen();
    vendor.socket.opens();
    for (let count = 0; count < 3; count += 1) vendor.socket.says({ type: 'Weather', text: 'private words' });
    vendor.socket.says({ type: 'Metadata', duration: 3 });
    expect(logger.sentences('debug')).toEqual(['ignored a message of a provider']);
    expect(logger.text).not.toContain('private');
  });

  it('never throws, and tells nothing after close, whatever the vendor says', () => {
    const value = fc.oneof(
      fc.jsonValue(),
      fc.constantFrom(-1, 0, 1, Number.MAX_VALUE, null, 'x', true, [], {}),
    );
    const message = fc.oneof(
      fc.string(),
      fc.record(
        {
          type: fc.constantFrom('Results', 'SpeechStarted', 'UtteranceEnd', 'Metadata', 'Error', 'Other'),
          start: value,
          duration: value,
          is_final: value,
          speech_final: value,
          from_finalize: value,
          timestamp: value,
          last_word_end: value,
          channel: fc.oneof(
            value,
            fc.record({ alternatives: fc.array(fc.record({ transcript: fc.string(), words: value })) }),
          ),
        },
        { requiredKeys: ['type'] },
      ),
    );
    const step = fc.oneof(
      message,
      fc.constantFrom<'finish' | 'audio' | 'break' | 'open' | 'wait'>(
        'finish',
        'audio',
        'break',
        'open',
        'wait',
      ),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), fc.boolean(), (steps, ownsTurnTaking) => {
        const { clock, vendor, session, told } = listen({ ownsTurnTaking });
        vendor.socket.opens();
        for (const each of steps) {
          if (each === 'finish') session.finishUtterance();
          else if (each === 'audio') pause(session, 40);
          else if (each === 'break') vendor.socket.ends();
          else if (each === 'open') vendor.socket.opens();
          else if (each === 'wait') clock.advance(400);
          else vendor.socket.says(each as object | string);
        }
        const before = told.length;
        session.close();
        vendor.socket.says(results('late', [0, 1], final));
        clock.advance(60_000);
        expect(told.length).toBe(before);
        expect(clock.pending).toBe(0);
      }),
    );
  });
});
