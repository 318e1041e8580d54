import { describe, expect, it } from 'vitest';
import { calleeScript, checkCallee, greetingTimeOf, ringTimeOf } from '../../src/testing/callee.js';
import { findSpeech } from '../../src/testing/speech-spans.js';
import type { Callee } from '../../src/testing/simulator.js';

const played = (callee: Parameters<typeof calleeScript>[0]) =>
  calleeScript(callee).flatMap((step) => (step.type === 'play' ? [step.samples.length / 8] : []));

describe('a callee', () => {
  it('that is a machine plays its greeting and its beep, and waits for the end of what it records', () => {
    const machine = { type: 'machine', greetingMs: 2000, silenceMs: 700 } as const;
    expect(played(machine)).toEqual([2000, 400]);
    expect(calleeScript(machine).at(-2)).toEqual({ type: 'wait-for-agent', quietMs: 700, timeoutMs: 700 });
    expect(played({ ...machine, beep: false })).toEqual([2000]);
    expect(greetingTimeOf({ type: 'machine' })).toBe(4000);
  });

  it('that is a fax sounds like one', () => {
    const [tone] = calleeScript({ type: 'fax' });
    if (tone?.type !== 'play') throw new Error('a fax sounds first');
    expect(findSpeech(tone.samples, { sampleRateHz: 8000 })).toHaveLength(1);
  });

  it('that is a person follows a script, and stays silent without one', () => {
    expect(calleeScript({ type: 'human', script: [{ type: 'hang-up' }] })).toEqual([{ type: 'hang-up' }]);
    const [stay, ...more] = calleeScript({ type: 'human' });
    expect(stay).toMatchObject({ type: 'pause' });
    expect(more).toEqual([]);
    expect(ringTimeOf({ type: 'human' })).toBe(500);
    expect(ringTimeOf({ type: 'human', ringMs: 0 })).toBe(0);
  });

  it.each<Callee>([
    { type: 'human', ringMs: -1 },
    { type: 'no-answer', ringMs: Number.NaN },
    { type: 'machine', greetingMs: Number.POSITIVE_INFINITY },
    { type: 'machine', silenceMs: -5 },
  ])('cannot be %j', (callee) => {
    expect(() => checkCallee(callee)).toThrow(/0 to 3,600,000/);
  });

  it.each<[unknown, string]>([
    [{ type: 'robot' }, 'The type of a callee must be one of: human, machine, fax'],
    [{ type: 'rejects' }, 'The type of a callee must be one of'],
    ['human', 'A callee takes an object'],
    [{ type: 'human', script: [{ type: 'say' }] }, 'Step 1 of a script (say) needs text.'],
  ])('cannot be %j at all', (callee, message) => {
    expect(() => checkCallee(callee as Callee)).toThrow(message);
  });

  it('may be of a type that one carrier has', () => {
    expect(() => checkCallee({ type: 'rejects' } as never, ['rejects'])).not.toThrow();
  });
});
