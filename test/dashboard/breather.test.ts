import { PassThrough, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { writeInSlices } from '../../src/dashboard/breather.js';
import { FakeClock } from '../support/fake-clock.js';

const settle = () => new Promise((resolve) => setImmediate(resolve));

it('writes all pieces in order, and ends the stream', async () => {
  const stream = new PassThrough();
  const read = text(stream);
  await writeInSlices(stream, ['a', Buffer.from('b'), 'c'], new FakeClock());
  expect(await read).toBe('abc');
});

it('waits for a slow reader, and goes on where it was', async () => {
  const clock = new FakeClock();
  const taken: (() => void)[] = [];
  let bytes = 0;
  const stream = new Writable({
    highWaterMark: 1024,
    write(chunk: Uint8Array, _, done) {
      bytes += chunk.length;
      taken.push(done);
    },
  });
  const writing = writeInSlices(stream, ['x'.repeat(20_000), 'y'.repeat(20_000)], clock);
  await settle();
  clock.advance(29_999);
  await settle();
  expect(bytes).toBe(20_000);
  taken.shift()?.();
  await settle();
  clock.advance(100);
  await settle();
  clock.advance(29_999);
  taken.shift()?.();
  await settle();
  clock.advance(100);
  await writing;
  expect(bytes).toBe(40_000);
  expect(stream.destroyed).toBe(false);
});

it('cuts off a reader that takes nothing for half a minute, and asks for no more pieces', async () => {
  const clock = new FakeClock();
  const stream = new Writable({ highWaterMark: 1024, write: () => {} });
  let asked = 0;
  function* pieces() {
    for (;;) {
      asked += 1;
      yield 'x'.repeat(20_000);
    }
  }
  const writing = writeInSlices(stream, pieces(), clock);
  await settle();
  clock.advance(30_000);
  await writing;
  expect(stream.destroyed).toBe(true);
  expect(asked).toBe(1);
});
