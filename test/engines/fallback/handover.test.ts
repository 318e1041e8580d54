import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Step } from '../../../src/conversation/history.js';
import { calledTool, settled, type ToolState } from '../../../src/conversation/tools.js';
import type { ConversationState } from '../../../src/conversation/state.js';
import { historyOf, NO_TURNS, type Turns } from '../../../src/conversation/turns.js';
import { Conversation } from '../../../src/engines/conversation.js';
import type { Takeover } from '../../../src/engines/engine.js';
import { type Leaving, toTakeover } from '../../../src/engines/fallback/handover.js';
import { ToolRun } from '../../../src/engines/tools/tool-run.js';
import { TurnBook } from '../../../src/engines/turn-book.js';
import { FakeClock } from '../../support/fake-clock.js';

const clock = new FakeClock();

function leave(turns: Leaving['turns'], change: Partial<Leaving> = {}): Takeover {
  return toTakeover({
    clock,
    turns,
    hasGreeting: false,
    isCutOff: false,
    goodbye: undefined,
    unheardSince: [],
    waitingSince: [],
    tools: { close() {} },
    ...change,
  });
}

/** What a call leaves in which `steps` have happened, with tools of which nobody runs any. */
function left(history: readonly Step[], tools: Turns['tools'] = {}): Leaving['turns'] {
  return { value: { ...NO_TURNS, history, tools, nextIndex: 3 }, running: new Map() };
}

/** An engine's turns that go on with what another one has left. */
function takeOver({ state, tools }: Takeover): TurnBook {
  const conversation = new Conversation(clock, state);
  return new TurnBook({ conversation, systemPrompt: 'You bake.', fact: () => {}, tools });
}

const text = fc.string({ minLength: 1, maxLength: 12 }).filter((each) => each.trim() !== '');
let ids = 0;
const at = { now: 0, wall: 0 };
const tool = fc.record({ result: fc.option(text, { nil: undefined }) }).map(({ result }) => {
  ids += 1;
  const call = { id: `c${ids}`, name: 'look_up', arguments: {}, argumentsText: '{}' };
  const made = calledTool(call, { turnIndex: 0, endsCall: false, at });
  return [
    `tool-${ids}`,
    result === undefined ? made : settled(made, { text: result, error: null }, 0),
  ] as const;
});
const step = fc.oneof(
  fc.record({ role: fc.constantFrom('user' as const, 'assistant' as const), text }),
  fc.record({
    role: fc.constant('tools' as const),
    text: fc.oneof(fc.constant(''), text),
    tools: fc.array(tool, { minLength: 1, maxLength: 3 }),
  }),
);

describe('a conversation that is handed over', () => {
  it('is the same to the next model, message by message, and knows the same tools that run', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 8 }), (steps) => {
        const tools: readonly (readonly [string, ToolState])[] = steps.flatMap((each) =>
          each.role === 'tools' ? each.tools : [],
        );
        const history = steps.map(
          (each): Step => (each.role === 'tools' ? { ...each, tools: each.tools.map(([id]) => id) } : each),
        );
        const runs = tools
          .filter(([, { status }]) => status === 'running')
          .map(([id, { call }]) => [id, new ToolRun(call)] as const);
        const value = left(history, Object.fromEntries(tools));
        const first = takeOver(leave({ ...value, running: new Map(runs) }));
        const second = takeOver(leave(first));
        expect(second.asking([])).toEqual(first.asking([]));
        expect(second.history()).toEqual(first.history());
        expect(second.history()).toEqual(historyOf(value.value));
        expect(second.running).toEqual(first.running);
        for (const [, run] of runs) run.settle({ text: 'late', error: null });
        expect(second.asking([])).toEqual(first.asking([]));
        expect(second.running).toEqual(new Map());
      }),
    );
  });

  it('says of a tool that nobody runs any more that it was given up', () => {
    const call = { id: 'c0', name: 'look_up', arguments: {}, argumentsText: '{}' };
    const running = calledTool(call, { turnIndex: 0, endsCall: false, at });
    const { state } = leave(left([{ role: 'tools', text: '', tools: ['tool-1'] }], { 'tool-1': running }));
    const stored: ConversationState = JSON.parse(JSON.stringify(state));
    expect(takeOver({ state: stored }).asking([]).at(-1)).toEqual({
      role: 'tool',
      toolCallId: 'c0',
      content: '{"error":"The tool was given up."}',
    });
  });
});

describe('what is owed', () => {
  const owes = (steps: readonly Step[], change: Parameters<typeof leave>[1] = {}) =>
    leave(left(steps), change).state.owed.kind;
  const asked: Step = { role: 'user', text: 'What is it?' };
  const answered: Step = { role: 'assistant', text: 'Ten dollars.' };

  it('is the greeting while nobody has said anything', () => {
    expect(owes([], { hasGreeting: true, isCutOff: true })).toBe('greeting');
    expect(owes([], { isCutOff: true })).toBe('nothing');
  });

  it('is an answer to who has spoken last, and the rest of one that was cut off', () => {
    expect(owes([asked])).toBe('answer');
    expect(owes([asked, answered], { isCutOff: true })).toBe('answer');
    expect(owes([asked, answered], { hasGreeting: true })).toBe('nothing');
  });

  it('is the rest of a goodbye, whatever came before it', () => {
    expect(
      owes([asked, answered], { isCutOff: true, goodbye: { text: 'Goodbye.', reason: 'agent-hangup' } }),
    ).toBe('goodbye');
    expect(owes([], { hasGreeting: true, goodbye: { text: '', reason: 'idle' } })).toBe('goodbye');
  });

  it('tells how long the caller waits, and since when nobody hears them', () => {
    clock.advance(5000);
    const takeover = leave(left([]), {
      unheardSince: [undefined, 4000, 3000],
      waitingSince: [undefined, 1000, 2000],
    });
    expect(takeover).toMatchObject({ unheardMs: 2000, waitedMs: 4000, state: { turns: { nextIndex: 3 } } });
    expect(leave(left([]))).toMatchObject({ unheardMs: undefined, waitedMs: 0 });
  });
});
