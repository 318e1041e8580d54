import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Unsaid } from '../../src/conversation/floor.js';
import type { Step } from '../../src/conversation/history.js';
import { begun, type ConversationState, type Leaving, leftBy } from '../../src/conversation/state.js';
import { calledTool, settled, type ToolState } from '../../src/conversation/tools.js';
import { historyOf, NO_TURNS, type Turns } from '../../src/conversation/turns.js';
import type { Takeover } from '../../src/engines/engine.js';
import { ToolRun } from '../../src/engines/tools/tool-run.js';
import { TurnBook } from '../../src/engines/turn-book.js';
import { FakeClock } from '../support/fake-clock.js';
import { aConversation } from './a-conversation.js';
import { CallRig } from './call-rig.js';

const clock = new FakeClock();

interface Left extends Partial<Leaving> {
  readonly hasGreeting?: boolean;
}

/** What is left of a call with these turns. */
function left(turns: Turns, { hasGreeting = false, ...change }: Left = {}): ConversationState {
  const leaving = { isCutOff: false, goodbye: undefined, unheardSince: [], troubledSince: [], ...change };
  return leftBy({ ...begun({ hasGreeting }), turns }, leaving);
}

/** Turns in which `history` has happened, with tools of which nobody runs any. */
function turnsOf(history: readonly Step[], tools: Turns['tools'] = {}): Turns {
  return { ...NO_TURNS, history, tools, nextIndex: 3 };
}

/** An engine's turns that go on with what another one has left. */
function takeOver({ state, tools }: Takeover) {
  const conversation = aConversation({ clock, state });
  const book = new TurnBook({ conversation, systemPrompt: 'You bake.', tools });
  return {
    get turns() {
      return conversation.turns;
    },
    get running() {
      return book.running;
    },
    asking: () => book.asking([]),
    history: () => book.history(),
  };
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
        const turns = turnsOf(history, Object.fromEntries(tools));
        const running = (live: ReadonlyMap<string, ToolRun>) => ({ runs: live, close() {} });
        const first = takeOver({ state: left(turns), tools: running(new Map(runs)) });
        const second = takeOver({ state: left(first.turns), tools: running(first.running) });
        expect(second.asking()).toEqual(first.asking());
        expect(second.history()).toEqual(first.history());
        expect(second.history()).toEqual(historyOf(turns));
        expect(second.running).toEqual(first.running);
        for (const [, run] of runs) run.settle({ text: 'late', error: null });
        expect(second.asking()).toEqual(first.asking());
        expect(second.running).toEqual(new Map());
      }),
    );
  });

  it('says of a tool that nobody runs any more that its result was lost, and that it may have been done', () => {
    const call = { id: 'c0', name: 'look_up', arguments: {}, argumentsText: '{}' };
    const running = calledTool(call, { turnIndex: 0, endsCall: false, at });
    const state = left(turnsOf([{ role: 'tools', text: '', tools: ['tool-1'] }], { 'tool-1': running }));
    const stored: ConversationState = JSON.parse(JSON.stringify(state));
    expect(takeOver({ state: stored }).asking().at(-1)).toEqual({
      role: 'tool',
      toolCallId: 'c0',
      content: expect.stringMatching(/result of the tool was lost\. It may have been done/),
    });
  });
});

describe('what is owed', () => {
  const owes = (steps: readonly Step[], change: Left = {}) => left(turnsOf(steps), change).owed.kind;
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

  it('is an answer to the caller behind the rest of what was asked for, and of nothing else', () => {
    const isCallerOwed = (rest: Unsaid | null, steps: readonly Step[] = [asked, answered]) => {
      const fresh = begun({ hasGreeting: false });
      const floor = { ...fresh.floor, isCallerOwed: true };
      const leaving = { isCutOff: true, goodbye: undefined, rest, unheardSince: [], troubledSince: [] };
      return leftBy({ ...fresh, floor, turns: turnsOf(steps) }, leaving).floor.isCallerOwed;
    };
    const request = { text: 'We close at six.', manner: { request: 'r1' } };
    expect(isCallerOwed(request)).toBe(true);
    expect(isCallerOwed({ ...request, manner: {} })).toBe(false);
    expect(isCallerOwed(null)).toBe(false);
    // They are answered first.
    expect(isCallerOwed(request, [asked])).toBe(false);
  });

  it('tells since when the caller waits, and nobody hears them', () => {
    const state = left(turnsOf([]), {
      unheardSince: [undefined, 4000, 3000],
      troubledSince: [null, 1000, 2000],
    });
    expect(state).toMatchObject({ unheardSince: 3000, troubledSince: 1000, turns: { nextIndex: 3 } });
    expect(left(turnsOf([]))).toMatchObject({ unheardSince: null, troubledSince: null });
  });
});

describe('a pipeline that is left in the middle of something', () => {
  it('leaves the keys that were being pressed', async () => {
    const rig = await new CallRig().start();
    rig.engine.pushDtmf('4');
    rig.engine.pushDtmf('2');
    const { state } = rig.engine.handOver?.() ?? {};
    expect(historyOf(state?.turns ?? NO_TURNS)).toEqual([
      { role: 'user', content: 'The caller pressed 4 2' },
    ]);
    expect(state?.owed).toEqual({ kind: 'answer' });
  });

  it('leaves what was asked for from outside, and the caller has cut off', async () => {
    const rig = await new CallRig().start();
    const text =
      'We close at six today, and tomorrow we are open from nine in the morning until nine in the evening.';
    rig.engine.request({ id: 'r1', text, interrupts: false });
    await rig.quiet(2000);
    await rig.voiced(600);
    rig.ears.events.partial('No, wait, what did you say');
    await rig.voiced(300);
    expect(rig.engine.state.floor.floor.phase).toBe('listening');
    expect(rig.outcomes).toEqual([]);
    const { state } = rig.engine.handOver?.() ?? {};
    expect(JSON.stringify([state?.owed, state?.floor.requests])).toContain('"request":"r1"');
  });
});
