import { describe, expect, it } from 'vitest';
import { ReplyMemory } from '../../src/server/reply-memory.js';
import { FakeClock } from '../support/fake-clock.js';

const kept = { answer: 'busy', reply: { status: 200, contentType: 'text/xml', body: '<a/>' } } as const;
const create = (clock = new FakeClock()) => new ReplyMemory(clock, { ttlMs: 60_000, maxReplies: 2000 });

describe('ReplyMemory', () => {
  it('keeps names apart', () => {
    const memory = create();
    memory.keep(kept, 'CA1');
    expect(memory.find('CA1')).toBe(kept);
    expect(memory.find('CA2')).toBeUndefined();
  });

  it('forgets a reply when its time is over, however often it was asked for', () => {
    const clock = new FakeClock();
    const memory = create(clock);
    memory.keep(kept, 'CA1');
    clock.advance(30_000);
    memory.keep(kept, 'CA2');
    expect(memory.find('CA1')).toBe(kept);
    clock.advance(30_000);
    expect(memory.find('CA1')).toBeUndefined();
    expect(memory.find('CA2')).toBe(kept);
  });

  it('is bounded: the oldest goes first', () => {
    const memory = create();
    for (let index = 0; index <= 2000; index += 1) memory.keep(kept, `CA${index}`);
    expect(memory.find('CA0')).toBeUndefined();
    expect(memory.find('CA1')).toBe(kept);
    expect(memory.find('CA2000')).toBe(kept);
  });
});
