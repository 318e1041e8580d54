// A recognizer of a chain that loses its connection while it is asked for the rest: what it tells of that is no sign of life.
import { expect, it } from 'vitest';
import { AssemblyAISession } from '../../../src/providers/stt/assemblyai/session.js';
import { FakeVendor } from '../fake-vendor-socket.js';
import { FakeRecognizer, setUp } from './fake-recognizer.js';

const NAMES = { vendor: 'AssemblyAI' } as never;

it.each([false, true])('is given up after two seconds, also while a turn is ended: %s', (isEnding) => {
  const vendor = new FakeVendor();
  const [first, second] = [new FakeRecognizer('v/1'), new FakeRecognizer('v/2')];
  const target = { url: new URL('ws://vendor'), headers: {}, names: NAMES };
  first.open = (context) =>
    new AssemblyAISession(context, { target, ownsTurnTaking: false, open: vendor.open });
  const { open, speak, clock } = setUp([first, second]);
  const session = open();
  vendor.socket.opens();
  vendor.socket.says({ type: 'Begin', id: 'x', expires_at: 0 });
  clock.advance(5000);
  speak(session, 600);
  clock.advance(500);
  const words = [{ text: 'three', end: 500 }];
  vendor.socket.says({ type: 'Turn', turn_order: 0, end_of_turn: false, transcript: 'three', words });
  if (isEnding) session.finishUtterance();
  clock.advance(100);
  vendor.socket.ends();
  // The next handshake hangs.
  const lostAt = clock.now();
  while (second.opened === 0 && clock.now() - lostAt < 8000) clock.advance(100);
  expect(clock.now() - lostAt).toBeLessThanOrEqual(2100);
});
