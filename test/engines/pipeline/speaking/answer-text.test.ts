import { describe, expect, it } from 'vitest';
import { AnswerText } from '../../../../src/engines/pipeline/speaking/answer-text.js';
import { FakeClock } from '../../../support/fake-clock.js';

/** What the voice is given when, where a word comes every so many milliseconds and the voice says fifteen letters in a second. */
function given(text: string, wordMs: number, options: { single?: boolean } = {}) {
  const clock = new FakeClock();
  const pieces: { at: number; piece: string }[] = [];
  let soundsUntil = 0;
  const say = (said: readonly string[]) => {
    for (const piece of said) {
      pieces.push({ at: clock.now() - start, piece });
      soundsUntil = Math.max(soundsUntil, clock.now()) + (piece.length * 1000) / 15;
    }
  };
  const start = clock.now();
  const answer = new AnswerText({
    clock,
    single: options.single ?? false,
    dryInMs: () => Math.max(0, soundsUntil - clock.now()),
    early: say,
  });
  for (const word of text.match(/\s*\S+/g) ?? []) {
    say(answer.push(word));
    clock.advance(wordMs);
  }
  say(answer.flush());
  expect(clock.pending).toBe(0);
  return pieces;
}

const SENTENCE =
  'I can see that your appointment with the doctor has been moved to the first Monday of the coming month at nine in the morning';

describe('an answer that comes', () => {
  it('no faster than it is spoken begins with the first words, and goes on before the voice is silent', () => {
    const pieces = given(SENTENCE, 400);
    expect(pieces[0]?.at).toBeLessThanOrEqual(1500);
    expect(pieces.map(({ piece }) => piece).join(' ')).toBe(SENTENCE);
    for (const { piece } of pieces.slice(0, -1)) expect(piece.length).toBeGreaterThan(5);
  });

  it.each([5, 20, 50, 100])('every %i ms word by word is not chopped', (wordMs) => {
    const pieces = given(`${SENTENCE}. ${SENTENCE}.`, wordMs);
    expect(pieces.length).toBeLessThanOrEqual(3);
    expect(pieces.at(-1)?.piece.endsWith('.')).toBe(true);
    expect(pieces[0]?.at).toBeLessThanOrEqual(1700);
  });

  it('with hesitation is spoken as far as it is there', () => {
    const pieces = given('We are open', 3000);
    expect(pieces.map(({ piece }) => piece)).toEqual(['We are', 'open']);
    expect(pieces[0]?.at).toBeLessThanOrEqual(6300);
  });

  it('slowly, in sentences that somebody looks at, stays whole', () => {
    expect(given(`${SENTENCE}.`, 400, { single: true })).toHaveLength(1);
  });

  it('behind thoughts is begun when it comes', () => {
    const thoughts = `<think>${SENTENCE}</think>`;
    const pieces = given(`${thoughts} ${SENTENCE}`, 400);
    const thoughtMs = thoughts.split(' ').length * 400;
    expect(pieces[0]?.at).toBeGreaterThan(thoughtMs);
    expect(pieces[0]?.at).toBeLessThanOrEqual(thoughtMs + 1600);
    expect(pieces.map(({ piece }) => piece).join(' ')).toBe(SENTENCE);
  });
});
