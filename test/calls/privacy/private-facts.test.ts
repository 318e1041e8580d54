import { describe, expect, it } from 'vitest';
import { privateFact } from '../../../src/calls/privacy/private-facts.js';
import type { CallFact } from '../../../src/contract/call-event.js';
import type { ToolCall } from '../../../src/contract/call-record.js';
import { keysAsText } from '../../../src/engines/pressed-keys.js';
import { toolCall, turn } from '../../support/call-facts.js';

const ALL = { transcript: 'full', keys: 'full', hasKeys: false } as const;
const NO_WORDS = { transcript: 'none', keys: 'full', hasKeys: false } as const;
const NO_KEYS = { transcript: 'full', keys: 'none', hasKeys: false } as const;

const TOOL: ToolCall = toolCall({
  arguments: { text: '{"digits":"4111"}', cut: false },
  result: { text: 'No card 4111.', cut: false },
  durationMs: 2,
  error: 'No card 4111.',
});
const KEY: CallFact = { type: 'dtmf.received', digit: '4' };

const said = (text: string, tool?: ToolCall): CallFact => ({
  type: 'transcript.segment',
  entry: { id: 'u1', turnIndex: 0, role: 'user', text, at: 1, final: false },
  ...(tool && { tool }),
});
const completed = (texts: object): CallFact => ({ type: 'turn.completed', turn: { ...turn(0), ...texts } });

describe('privateFact', () => {
  it('leaves everything as it is where everything is kept', () => {
    for (const fact of [KEY, said('My card'), completed({ userText: 'My card', toolCalls: [TOOL] })])
      expect(privateFact(fact, ALL)).toEqual(fact);
  });

  it('says when somebody spoke, and no word of it', () => {
    expect(privateFact(said('My card', TOOL), NO_WORDS)).toMatchObject({
      entry: { id: 'u1', at: 1, text: '', final: true },
      tool: { name: 'look_up', durationMs: 2, error: 'The tool failed.' },
    });
    const texts = { userText: 'a', agentText: 'b', agentTextUnheard: 'c', toolCalls: [TOOL] };
    expect(privateFact(completed(texts), NO_WORDS)).toMatchObject({
      turn: { userText: '', agentText: '', agentTextUnheard: '', toolCalls: [{ error: 'The tool failed.' }] },
    });
  });

  it('says who got the caller, and not what was told of them', () => {
    const changed: CallFact = {
      type: 'agent.changed',
      from: 'desk',
      to: 'billing',
      summary: `A bill. ${keysAsText('41')}`,
      mode: 'pipeline',
      provider: { engine: null, stt: 'a', llm: 'b', tts: 'c' },
    };
    expect(privateFact(changed, NO_WORDS)).toEqual({ ...changed, summary: '' });
    expect(privateFact(changed, NO_KEYS)).toMatchObject({ summary: 'A bill. The caller pressed [keys]' });
    expect(privateFact(changed, ALL)).toEqual(changed);
  });

  it('keeps that a tool gave what it was asked for, and nothing of what that was', () => {
    const fine = { ...TOOL, error: null };
    const toolOf = (tool: ToolCall, policy: Parameters<typeof privateFact>[1]) => {
      const fact = privateFact(completed({ toolCalls: [tool] }), policy);
      return fact?.type === 'turn.completed' ? fact.turn.toolCalls[0] : undefined;
    };
    const without = { ...fine, arguments: null, result: null };
    expect(toolOf(fine, NO_WORDS)).toEqual(without);
    expect(toolOf(fine, NO_KEYS)).toEqual(fine);
    expect(toolOf(fine, { ...NO_KEYS, hasKeys: true })).toEqual(without);
    expect(toolOf({ ...fine, name: 'send_dtmf' }, NO_KEYS)).toEqual({ ...without, name: 'send_dtmf' });
    expect(toolOf(fine, { ...ALL, hasKeys: true })).toEqual(fine);
  });

  it('drops keys, and takes them out of what the caller said', () => {
    expect(privateFact(KEY, NO_KEYS)).toBeUndefined();
    const text = `Hm. ${keysAsText('4111*#')} Is that right? ${keysAsText('2')}`;
    const left = 'Hm. The caller pressed [keys] Is that right? The caller pressed [keys]';
    expect(privateFact(said(text), NO_KEYS)).toMatchObject({ entry: { text: left, final: false } });
    expect(privateFact(completed({ userText: text }), NO_KEYS)).toMatchObject({ turn: { userText: left } });
  });
});
