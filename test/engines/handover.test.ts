import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Conversation, type Step } from '../../src/engines/conversation.js';
import type { Takeover } from '../../src/engines/engine.js';
import { toSteps, toTakeover } from '../../src/engines/handover.js';
import { ToolRun } from '../../src/engines/tools/tool-run.js';
import { FakeClock } from '../support/fake-clock.js';

const clock = new FakeClock();

function leave(conversation: Conversation, change: Partial<Parameters<typeof toTakeover>[0]> = {}): Takeover {
  return toTakeover({
    clock,
    conversation,
    turnIndex: 3,
    isTurnOpen: false,
    hasGreeting: false,
    isCutOff: false,
    goodbye: undefined,
    unheardSince: [],
    waitingSince: [],
    tools: { close() {} },
    ...change,
  });
}

const text = fc.string({ minLength: 1, maxLength: 12 }).filter((each) => each.trim() !== '');
let ids = 0;
const run = fc.record({ result: fc.option(text, { nil: undefined }) }).map(({ result }) => {
  ids += 1;
  const call = { id: `c${ids}`, name: 'look_up', arguments: {}, argumentsText: '{}' };
  const made = new ToolRun(call, { clock, endsCall: false });
  if (result !== undefined) made.settle({ text: result, error: null });
  return made;
});
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ role: fc.constantFrom('user' as const, 'assistant' as const), text }),
  fc.record({
    role: fc.constant('tools' as const),
    text: fc.oneof(fc.constant(''), text),
    runs: fc.array(run, { minLength: 1, maxLength: 3 }),
  }),
);

describe('a conversation that is handed over', () => {
  it('is the same to the next model, message by message, and knows the same tools that run', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 8 }), (steps) => {
        const first = new Conversation('You bake.', steps);
        const second = new Conversation('You bake.', toSteps(leave(first), clock));
        expect(second.asking([])).toEqual(first.asking([]));
        expect(second.history()).toEqual(first.history());
        expect(second.unsettled([])).toEqual(first.unsettled([]));
        for (const each of first.unsettled([])) each.settle({ text: 'late', error: null });
        expect(second.asking([])).toEqual(first.asking([]));
      }),
    );
  });

  it('says of a tool that nobody runs any more that it was given up', () => {
    const call = { id: 'c0', name: 'look_up', arguments: {}, argumentsText: '{}' };
    const running = new ToolRun(call, { clock, endsCall: false });
    const takeover = leave(new Conversation('', [{ role: 'tools', text: '', runs: [running] }]));
    const steps = toSteps({ ...takeover, tools: undefined }, clock);
    expect(new Conversation('', steps).asking([]).at(-1)).toEqual({
      role: 'tool',
      toolCallId: 'c0',
      content: '{"error":"The tool was given up."}',
    });
  });
});

describe('what is owed', () => {
  const owes = (steps: readonly Step[], change: Parameters<typeof leave>[1] = {}) =>
    leave(new Conversation('You bake.', steps), change).owes;
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
    const takeover = leave(new Conversation(''), {
      unheardSince: [undefined, 4000, 3000],
      waitingSince: [undefined, 1000, 2000],
    });
    expect(takeover).toMatchObject({ unheardMs: 2000, waitedMs: 4000, turnIndex: 3 });
    expect(leave(new Conversation(''))).toMatchObject({ unheardMs: undefined, waitedMs: 0 });
  });
});
