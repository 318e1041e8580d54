import { describe, expect, it } from 'vitest';
import type { ModelToolCall } from '../../src/contract/chat-message.js';
import {
  calledTool,
  lost,
  readEntryText,
  resultOf,
  settled,
  toEntryText,
  toToolCall,
} from '../../src/conversation/tools.js';

const at = { now: 0, wall: 0 };

function called(name = 'x') {
  return calledTool(
    { id: '1', name, arguments: {}, argumentsText: '{}' },
    { turnIndex: 0, endsCall: false, at },
  );
}

describe('a tool', () => {
  it('tells how long it ran in whole milliseconds', () => {
    expect(toToolCall('tool-1', settled(called(), { text: 'done', error: null }, 1.590_83)).durationMs).toBe(
      2,
    );
  });

  it('tells its arguments, also of a model that gives them alone', () => {
    const { argumentsText: _, ...alone } = { ...called().call, arguments: { day: 'Friday' } };
    const tool = { ...called(), call: alone as unknown as ModelToolCall };
    expect(toToolCall('tool-1', tool).arguments).toEqual({ text: '{"day":"Friday"}', cut: false });
    const unknown = { ...called(), call: { ...called().call, argumentsText: '' } };
    expect(toToolCall('tool-1', unknown).arguments).toBeNull();
  });

  it('has one result: the first', () => {
    const done = settled(called(), { text: 'one', error: null }, 1);
    expect(settled(done, { text: 'two', error: 'late' }, 2)).toBe(done);
    expect(lost(done)).toBe(done);
  });

  it('is told to the model as one that may have been done where nobody runs it any more', () => {
    const gone = lost(called());
    expect(resultOf(gone)).toBe(
      '{"error":"The result of the tool was lost. It may have been done: say so, and do not call the tool again unless the caller agrees."}',
    );
    expect(toEntryText(gone)).toBe('x failed: The result of the tool was lost.');
  });
});

describe('a tool in the transcript', () => {
  it.each([
    ['megabytes', 'ab '.repeat(1_000_000), /^x: (ab )+a?b?…$/],
    ['lines', 'one\n\n\ttwo', /^x: one two$/],
    ['half a character', `${'a'.repeat(199)}😀${'b'.repeat(99)}`, /^x: a{199}😀…$/u],
    ['nothing', '', /^x: done$/],
  ])('is short, and one line, of %s', (_, text, expected) => {
    const tool = called();
    expect(toEntryText(tool)).toBe('x');
    const done = settled(tool, { text, error: null }, 1);
    expect(toEntryText(done)).toMatch(expected);
    expect(toEntryText(done).length).toBeLessThan(220);
  });
});

describe('what an entry says of its tool', () => {
  const failed = (error: string) => settled(called(), { text: '', error }, 1);
  const done = (text: string, name?: string) => settled(called(name), { text, error: null }, 1);
  it.each([
    ['runs', called(), { name: 'x', hasFailed: false, outcome: null }],
    ['is done', done('{"a": 1}'), { name: 'x', hasFailed: false, outcome: '{"a": 1}' }],
    ['gave nothing', done(''), { name: 'x', hasFailed: false, outcome: 'done' }],
    ['says that it failed', done('y failed: z'), { name: 'x', hasFailed: false, outcome: 'y failed: z' }],
    ['has failed', failed('two\nlines: here'), { name: 'x', hasFailed: true, outcome: 'two\nlines: here' }],
    ['has a made-up name', done('1', 'a tool'), { name: 'a tool', hasFailed: false, outcome: '1' }],
  ])('that %s', (_, tool, expected) => {
    expect(readEntryText(toEntryText(tool))).toEqual(expected);
  });

  it('whose error is not kept', () => {
    expect(readEntryText('x failed')).toEqual({ name: 'x', hasFailed: true, outcome: null });
  });
});
