import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type SseEvent, SseReader } from '../../src/base/sse.js';

function read(bytes: Uint8Array, cuts: readonly number[]): SseEvent[] {
  const reader = new SseReader();
  const events: SseEvent[] = [];
  let from = 0;
  for (const cut of [...cuts].sort((a, b) => a - b)) {
    const to = Math.min(cut, bytes.length);
    if (to <= from) continue;
    events.push(...reader.push(bytes.subarray(from, to)));
    from = to;
  }
  events.push(...reader.push(bytes.subarray(from)), ...reader.end());
  return events;
}

const text = (value: string) => new TextEncoder().encode(value);

describe('SseReader', () => {
  it.each([
    ['line feeds', 'data: a\n\ndata: b\n\n'],
    ['carriage returns', 'data: a\r\rdata: b\r\r'],
    ['both', 'data: a\r\n\r\ndata: b\r\n\r\n'],
    ['no blank after the colon', 'data:a\n\ndata:b\n\n'],
    ['comments and other fields', ':ping\n\nid: 7\nretry: 10\ndata: a\n\n: x\ndata: b\n\n'],
    ['a byte order mark', '\ufeffdata: a\n\ndata: b\n\n'],
    ['no empty line at the end', 'data: a\n\ndata: b'],
  ])('reads events with %s', (_, stream) => {
    expect(read(text(stream), [])).toEqual([
      { event: 'message', data: 'a' },
      { event: 'message', data: 'b' },
    ]);
  });

  it('keeps names, joins lines, and forgets the name after its event', () => {
    expect(read(text('event: ping\ndata: 1\ndata: 2\n\ndata\n\n'), [])).toEqual([
      { event: 'ping', data: '1\n2' },
      { event: 'message', data: '' },
    ]);
  });

  it('gives the same events wherever the bytes are cut', () => {
    const data = fc.string({ unit: 'grapheme' }).map((value) => value.replace(/[\r\n]/g, ''));
    const end = fc.constantFrom('\n', '\r\n', '\r');
    fc.assert(
      fc.property(fc.array(data, { maxLength: 5 }), end, fc.array(fc.nat(200)), (values, lineEnd, cuts) => {
        const stream = values.map((value) => `data: ${value}${lineEnd}${lineEnd}`).join('');
        expect(read(text(stream), cuts)).toEqual(values.map((each) => ({ event: 'message', data: each })));
      }),
    );
  });

  it('never throws, whatever the bytes are', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.array(fc.nat(300)), (bytes, cuts) => {
        for (const { event, data } of read(bytes, cuts))
          expect(typeof event + typeof data).toBe('stringstring');
      }),
    );
  });

  it.each([
    ['reads an event of four mebibytes', 0, 1],
    ['reads none that is longer', 1, 0],
  ])('%s', (_, more, count) => {
    const data = 'x'.repeat(4 * 1024 * 1024 - 'data: '.length + more);
    const reader = new SseReader();
    expect(reader.push(text(`data: ${data}\n\n`))).toHaveLength(count);
    expect(reader.overflowed).toBe(count === 0);
  });

  it('gives up on an event that does not end', () => {
    const reader = new SseReader();
    const block = text(`data: ${'x'.repeat(1024 * 1024)}\n`);
    for (let count = 0; count < 5; count += 1) expect(reader.push(block)).toEqual([]);
    expect(reader.overflowed).toBe(true);
    expect(reader.push(text('\n\ndata: a\n\n'))).toEqual([]);
  });
});
