import { describe, expect, it } from 'vitest';
import { AnswerMemory } from '../../src/server/answer-memory.js';
import { FakeClock } from '../support/fake-clock.js';

const answer = { type: 'busy', reply: { status: 200, contentType: 'text/xml', body: '<a/>' } } as const;

describe('AnswerMemory', () => {
  it('keeps calls and deliveries apart', () => {
    const memory = new AnswerMemory(new FakeClock());
    memory.keep('CA1', 'd1', answer);
    expect(memory.find('CA1', 'd1')).toBe(answer);
    expect(memory.find('CA1', 'd2')).toBeUndefined();
    expect(memory.find('CA1', undefined)).toBeUndefined();
    expect(memory.find('CA1d1', undefined)).toBeUndefined();
  });

  it('forgets an answer after a minute', () => {
    const clock = new FakeClock();
    const memory = new AnswerMemory(clock);
    memory.keep('CA1', undefined, answer);
    clock.advance(30_000);
    memory.keep('CA2', undefined, answer);
    clock.advance(30_000);
    expect(memory.find('CA1', undefined)).toBeUndefined();
    expect(memory.find('CA2', undefined)).toBe(answer);
  });

  it('is bounded: the oldest goes first', () => {
    const memory = new AnswerMemory(new FakeClock());
    for (let index = 0; index <= 2000; index += 1) memory.keep(`CA${index}`, undefined, answer);
    expect(memory.find('CA0', undefined)).toBeUndefined();
    expect(memory.find('CA1', undefined)).toBe(answer);
    expect(memory.find('CA2000', undefined)).toBe(answer);
  });
});
