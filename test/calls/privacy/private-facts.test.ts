import { describe, expect, it } from 'vitest';
import { privateFact } from '../../../src/calls/privacy/private-facts.js';
import type { CallFact } from '../../../src/contract/call-event.js';
import type { ToolCall } from '../../../src/contract/call-record.js';
import { NO_SUCH_TOOL } from '../../../src/conversation/tools.js';
import { keysAsText } from '../../../src/engines/pressed-keys.js';
import { toolCall, turn } from '../../support/call-facts.js';

const ALL = { transcript: 'full', keys: 'full' } as const;
const NO_WORDS = { transcript: 'none', keys: 'full' } as const;
const NO_KEYS = { transcript: 'full', keys: 'none' } as const;
const REDACTED = { transcript: 'redacted', keys: 'full' } as const;

const TOOL: ToolCall = toolCall({
  arguments: { text: '{"digits":"4111"}', cut: false },
  result: { text: 'No card 4111.', cut: false },
  durationMs: 2,
  error: 'No card 4111.',
});
const SILENT = { userText: '', agentText: '' };
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

  it.each([NO_WORDS, NO_KEYS, REDACTED])('does not name a tool that nobody has: %j', (policy) => {
    for (const name of ['my_card_is_4111', 'say: 4111', '4111 failed: 4111', 'card\n4111']) {
      const tool = toolCall({ name, error: NO_SUCH_TOOL });
      const entry = { id: 't1', turnIndex: 0, role: 'tool', at: 1, final: true } as const;
      const text = `${name} failed: ${NO_SUCH_TOOL}`;
      const facts: CallFact[] = [
        { type: 'transcript.segment', entry: { ...entry, text }, tool },
        completed({ toolCalls: [tool] }),
      ];
      for (const fact of facts) {
        expect(JSON.stringify(privateFact(fact, ALL))).toContain('4111');
        expect(JSON.stringify(privateFact(fact, policy))).not.toContain('4111');
      }
    }
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

  it.each([
    ['no words', NO_WORDS, 'The tool failed.'],
    ['no keys', NO_KEYS, 'The tool failed.'],
    ['words without private numbers', REDACTED, 'No card 4111.'],
  ] as const)(
    'keeps how a tool went, and nothing of what it was called with or gave: %s',
    (_, policy, error) => {
      const fine = { ...TOOL, error: null };
      const without = { arguments: null, result: null };
      expect(privateFact(completed({ ...SILENT, toolCalls: [fine, TOOL] }), policy)).toEqual(
        completed({
          ...SILENT,
          toolCalls: [
            { ...fine, ...without },
            { ...TOOL, ...without, error },
          ],
        }),
      );
    },
  );

  it.each([
    ['while it runs', false, null, 'look_up', 'look_up'],
    ['with its result', true, null, 'look_up: {"digits":"4111"}', 'look_up: done'],
    [
      'with its error',
      true,
      'No card 4111.',
      'look_up failed: No card 4111.',
      'look_up failed: No card 4111.',
    ],
  ])(
    'says in the transcript that a tool was called, and what became of it: %s',
    (_, final, error, text, told) => {
      const tool = { ...TOOL, error };
      const entry = { id: 't1', turnIndex: 0, role: 'tool', text, at: 1, final } as const;
      const textOf = (policy: Parameters<typeof privateFact>[1]) => {
        const fact = privateFact({ type: 'transcript.segment', entry, tool }, policy);
        return fact?.type === 'transcript.segment' ? fact.entry.text : undefined;
      };
      expect(textOf(ALL)).toBe(text);
      expect(textOf(REDACTED)).toBe(told);
      expect(textOf(NO_KEYS)).toBe(error === null ? told : 'look_up failed');
      expect(textOf(NO_WORDS)).toBe('');
    },
  );

  it('drops keys, and takes them out of what the caller said', () => {
    expect(privateFact(KEY, NO_KEYS)).toBeUndefined();
    const text = `Hm. ${keysAsText('4111*#')} Is that right? ${keysAsText('2')}`;
    const left = 'Hm. The caller pressed [keys] Is that right? The caller pressed [keys]';
    expect(privateFact(said(text), NO_KEYS)).toMatchObject({ entry: { text: left, final: false } });
    expect(privateFact(completed({ userText: text }), NO_KEYS)).toMatchObject({ turn: { userText: left } });
  });
});
