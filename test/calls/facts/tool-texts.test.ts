import { describe, expect, it } from 'vitest';
import { ToolTexts } from '../../../src/calls/facts/tool-texts.js';
import type { CallFact } from '../../../src/contract/call-event.js';
import type { ToolText } from '../../../src/contract/call-record.js';
import { say, toolCall, turn } from '../../support/call-facts.js';

const whole = (text: string): ToolText => ({ text, cut: false });

/** What is kept of the results of one turn. */
function keep(texts: ToolTexts, results: readonly string[]) {
  const toolCalls = results.map((text) => toolCall({ result: whole(text) }));
  const fact = texts.bound({ type: 'turn.completed', turn: { ...turn(0), toolCalls } });
  return fact.type === 'turn.completed' ? fact.turn.toolCalls : [];
}

describe('ToolTexts', () => {
  it.each<[string, string, ToolText]>([
    ['a short text', '{}', whole('{}')],
    ['4,096 bytes', 'x'.repeat(4096), whole('x'.repeat(4096))],
    ['one byte more', 'x'.repeat(4097), { text: 'x'.repeat(4096), cut: true }],
    ['a character across the end', `x${'é'.repeat(4096)}`, { text: `x${'é'.repeat(2047)}`, cut: true }],
    ['one of four bytes', `xx${'😀'.repeat(1024)}`, { text: `xx${'😀'.repeat(1023)}`, cut: true }],
  ])('keeps so much of %s', (_, text, kept) => {
    expect(keep(new ToolTexts(), [text])[0]?.result).toEqual(kept);
  });

  it('keeps 128 KiB of a call, as JSON, and goes on so in another process', () => {
    const texts = new ToolTexts();
    // Six bytes each.
    const results = Array<string>(8).fill('\u0000'.repeat(4000));
    const toolCalls = keep(texts, results);
    expect(toolCalls.map(({ result }) => result?.cut)).toEqual([...Array(5).fill(false), true, true, true]);
    expect(toolCalls.at(-1)?.result).toEqual({ text: '', cut: true });
    expect(JSON.stringify(toolCalls).length).toBeLessThan(132_000);
    const next = new ToolTexts({ turns: [{ ...turn(0), toolCalls }] });
    for (const each of [texts, next])
      expect(
        keep(each, ['x'.repeat(4096), 'y'.repeat(4096), 'z'.repeat(4096)]).map(({ result }) => result?.cut),
      ).toEqual([false, false, true]);
  });

  it('counts once what is told of a tool again', () => {
    const texts = new ToolTexts();
    const tool = toolCall({
      id: 'tool-1',
      arguments: whole('x'.repeat(4096)),
      result: whole('y'.repeat(4096)),
    });
    const told = { ...turn(0), toolCalls: [tool] };
    const fact: CallFact = { type: 'turn.completed', turn: told };
    for (let times = 0; times < 100; times += 1) expect(texts.bound(fact)).toEqual(fact);
    const next = new ToolTexts({ turns: [told] });
    for (let times = 0; times < 100; times += 1) expect(next.bound(fact)).toEqual(fact);
  });

  it('bounds a late result, and leaves other facts', () => {
    const tool = toolCall({ arguments: whole('x'.repeat(5000)) });
    const fact: CallFact = { ...(say('x') as Extract<CallFact, { type: 'transcript.segment' }>), tool };
    expect(new ToolTexts().bound(fact)).toMatchObject({ tool: { arguments: { cut: true }, result: null } });
    expect(new ToolTexts().bound(say('x'))).toMatchObject({ type: 'transcript.segment' });
  });
});
