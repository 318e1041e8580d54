import { describe, expect, it } from 'vitest';
import { AssemblyAISession } from '../../../../src/providers/stt/assemblyai/session.js';
import { fakeWire, pause, speak } from '../ear.js';

function listen(options: { ownsTurnTaking?: boolean; isLast?: () => boolean } = {}) {
  const { scene, context, wire } = fakeWire('AssemblyAI', options);
  const session = new AssemblyAISession(context, { ...wire, ownsTurnTaking: options.ownsTurnTaking ?? true });
  const begin = () => {
    scene.vendor.socket.opens();
    scene.vendor.socket.says({ type: 'Begin', id: 'x', expires_at: 0 });
  };
  return { ...scene, session, begin };
}

function turn(order: number, transcript: string, rest: object = {}): object {
  return { type: 'Turn', turn_order: order, end_of_turn: false, transcript, words: [], ...rest };
}

const end = { end_of_turn: true };

describe('AssemblyAISession', () => {
  it('sends nothing before the session has begun, then messages of 60 ms', () => {
    const { vendor, session, begin, clock } = listen();
    pause(session, 100);
    vendor.socket.opens();
    expect(vendor.socket.sent).toEqual([]);
    begin();
    expect(vendor.socket.sent.map(({ length }) => length)).toEqual([1920]);
    clock.advance(20);
    pause(session, 20);
    expect(vendor.socket.sent.map(({ length }) => length)).toEqual([1920, 1920]);
  });

  it.each([
    [true, 'back 0'],
    [false, 'failed: AssemblyAI broke.'],
  ])('outlasts a vendor that restarts, where it is the last: %s', async (isLast, wanted) => {
    const { clock, vendor, begin, told } = listen({ isLast: () => isLast });
    begin();
    clock.advance(10_000);
    await vendor.goDown(clock, 2000);
    clock.advance(1000);
    begin();
    expect(told).toEqual([wanted]);
  });

  it('says how long a connection was silent that is lost', () => {
    const { clock, vendor, events, begin } = listen();
    begin();
    clock.advance(10_000);
    vendor.socket.ends({ lastedMs: 3000 });
    expect([events.troubles, events.silentMs]).toEqual([1, 3000]);
  });

  it('sends what waits no faster than it is spoken, and shortens pauses until it has caught up', () => {
    const { clock, vendor, session, begin } = listen();
    pause(session, 100);
    begin();
    clock.advance(2000);
    vendor.socket.ends();
    speak(session, 600);
    pause(session, 3000);
    clock.advance(0);
    begin();
    for (let ms = 0; ms < 1000; ms += 20) {
      clock.advance(20);
      expect(vendor.socket.audioBytes / 32).toBeLessThanOrEqual(ms + 20 + 260);
    }
    // 0.6 s of speech and a pause; three seconds of silence do not wait any more.
    expect(vendor.socket.audioBytes / 32).toBeLessThan(1300);
    const before = vendor.socket.audioBytes;
    speak(session, 60);
    clock.advance(100);
    expect(vendor.socket.audioBytes).toBeGreaterThan(before);
  });

  it('keeps two seconds until the first session, and says what was dropped', () => {
    const { session, begin, logger } = listen();
    speak(session, 3000);
    begin();
    expect(logger.lines.at(-1)).toMatchObject({ level: 'warn', fields: { lostMs: 1000 } });
  });

  it('tells times of the session, whatever was left out on the way', () => {
    const { clock, vendor, session, begin, told } = listen();
    begin();
    pause(session, 60);
    clock.advance(2000);
    vendor.socket.ends();
    pause(session, 2940);
    clock.advance(0);
    begin();
    clock.advance(2000);
    const heardMs = vendor.socket.audioBytes / 32;
    expect(heardMs).toBeLessThan(1000);
    vendor.socket.says({ type: 'SpeechStarted', timestamp: 100 });
    vendor.socket.says({ type: 'SpeechStarted', timestamp: heardMs });
    expect(told).toEqual(['back 0', '> 100', '> 3000']);
  });

  it('takes the first end of a turn, and nothing more of that turn', () => {
    const { vendor, told, begin } = listen();
    begin();
    for (const message of [
      turn(0, 'good'),
      turn(0, ''),
      turn(0, 'good morning', end),
      turn(0, 'Good morning.', { ...end, turn_is_formatted: true }),
      turn(0, 'good'),
      turn(1, '', end),
      turn(2, 'bye', end),
    ])
      vendor.socket.says(message);
    expect(told).toEqual(['~good', 'good morning', '|', 'bye', '|']);
  });

  it('closes an open turn that came to nothing', () => {
    const { vendor, told, begin } = listen();
    begin();
    vendor.socket.says(turn(0, 'hm'));
    vendor.socket.says(turn(0, '', end));
    expect(told).toEqual(['~hm', '']);
  });

  it('waits 300 ms for an end that it asked for, takes what is open, and tells a late end as such', () => {
    const { clock, vendor, session, told, begin, events } = listen();
    begin();
    vendor.socket.says(turn(0, 'good morning'));
    session.finishUtterance();
    expect(vendor.socket.messages).toEqual([{ type: 'ForceEndpoint' }]);
    clock.advance(299);
    expect(told).toEqual(['~good morning']);
    clock.advance(1);
    expect(told).toEqual(['~good morning', 'good morning']);
    expect(events.missedAnswers).toBe(1);
    vendor.socket.says(turn(0, 'good morning', end));
    vendor.socket.says(turn(0, 'Good morning.', end));
    expect(told).toEqual(['~good morning', 'good morning', '|']);
    session.finishUtterance();
    clock.advance(300);
    expect(told.at(-1)).toBe('');
  });

  it('asks for the end only after the audio that waits was sent', () => {
    const { clock, vendor, session, begin } = listen();
    speak(session, 600);
    session.finishUtterance();
    begin();
    expect(vendor.socket.messages).toEqual([]);
    clock.advance(1000);
    expect(vendor.socket.sent.at(-1)).toBe('{"type":"ForceEndpoint"}');
  });

  it('counts the turns of another connection anew', () => {
    const { clock, vendor, told, begin } = listen();
    begin();
    vendor.socket.says(turn(0, 'one', end));
    clock.advance(2000);
    vendor.socket.ends();
    clock.advance(0);
    begin();
    vendor.socket.says(turn(0, 'two', end));
    expect(told).toEqual(['one', '|', 'back 0', 'two', '|']);
  });

  it('takes what is open at once where the connection goes that was to end it, and has it heard again by nobody', () => {
    const { clock, vendor, session, told, begin, events } = listen();
    begin();
    speak(session, 1500);
    clock.advance(1500);
    vendor.socket.says(turn(0, 'book a table', { words: [{ end: 1200 }] }));
    session.finishUtterance();
    clock.advance(50);
    vendor.socket.ends();
    expect(told).toEqual(['~book a table', 'book a table']);
    expect(events.settledMs).toBe(1200);
    clock.advance(0);
    begin();
    clock.advance(2000);
    // Of a second and a half 300 ms are without words.
    expect(vendor.socket.audioBytes / 32).toBeLessThanOrEqual(300);
    expect(told).toEqual(['~book a table', 'book a table', 'back 0']);
  });

  it('asks again for the end of what had no words yet when the connection went', () => {
    const { clock, vendor, session, told, begin } = listen();
    begin();
    speak(session, 600);
    clock.advance(600);
    session.finishUtterance();
    vendor.socket.ends();
    clock.advance(0);
    begin();
    clock.advance(600);
    expect(vendor.socket.messages).toEqual([{ type: 'ForceEndpoint' }]);
    vendor.socket.says(turn(0, 'yes', end));
    expect(told).toEqual(['back 0', 'yes', '|']);
  });

  it('forgets what was open on a connection that went', () => {
    const { clock, vendor, session, told, begin } = listen();
    begin();
    vendor.socket.says(turn(0, 'good mor'));
    vendor.socket.ends();
    clock.advance(0);
    begin();
    session.finishUtterance();
    clock.advance(300);
    expect(told).toEqual(['~good mor', 'back 0', '']);
  });

  it('sends a sign of life when no audio flows', () => {
    const { clock, vendor, begin } = listen();
    begin();
    clock.advance(31_000);
    expect(vendor.socket.messages).toEqual([{ type: 'KeepAlive' }, { type: 'KeepAlive' }]);
  });

  it('leaves aside what it does not know, and tells nothing of an error but its code', () => {
    const { vendor, told, logger, begin } = listen();
    begin();
    for (const message of ['nonsense', '[]', { type: 'Weather' }, { type: 'Weather' }, { type: 'Heartbeat' }])
      vendor.socket.says(message);
    vendor.socket.says({ type: 'Error', error_code: 3005, error: 'your words: secret' });
    expect(told).toEqual([]);
    expect(logger.text).not.toContain('secret');
    expect(logger.lines.filter(({ fields }) => fields.type === 'Weather')).toHaveLength(1);
  });

  it('counts open time only, and leaves no timer behind', () => {
    const { clock, vendor, session, events, begin } = listen();
    clock.advance(500);
    begin();
    clock.advance(4000);
    vendor.socket.ends();
    expect(events.seconds).toBe(4);
    clock.advance(0);
    begin();
    clock.advance(2500);
    session.finishUtterance();
    session.close();
    session.close();
    expect(events.seconds).toBe(6.5);
    expect(vendor.socket.messages.at(-1)).toEqual({ type: 'Terminate' });
    expect(clock.pending).toBe(0);
    vendor.socket.says(turn(0, 'late', end));
    expect(events.told).toEqual(['back 0']);
  });
});
