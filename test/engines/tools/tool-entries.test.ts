import { describe, expect, it } from 'vitest';
import type { CallEvent } from '../../../src/contract/call-event.js';
import type { CallRecord } from '../../../src/contract/call-record.js';
import { createAgentTools } from '../../../src/engines/tools/agent-tool.js';
import type { Tool } from '../../../src/engines/tools/tool.js';
import { reduceCall } from '../../../src/events/reduce.js';
import type { LanguageModelEvent } from '../../../src/providers/language-model.js';
import { CallRig, type RigOptions } from '../call-rig.js';
import { RealtimeRig } from '../realtime-rig.js';

let calls = 0;

function call(name: string, args: Record<string, unknown> = {}): LanguageModelEvent {
  calls += 1;
  return {
    type: 'tool-call',
    id: `call_${calls}`,
    name,
    arguments: args,
    argumentsText: JSON.stringify(args),
  };
}

/** A rig with one tool, `look_up`, that the test answers. */
async function rigWithTool(options: RigOptions = {}) {
  const runs: { resolve: (value: unknown) => void; reject: (error: unknown) => void }[] = [];
  const tool: Tool = {
    name: 'look_up',
    description: 'Looks it up.',
    execute: () => new Promise((resolve, reject) => void runs.push({ resolve, reject })),
  };
  const rig = await new CallRig({ ...options, tools: createAgentTools([tool], options.clock) }).start();
  return { rig, runs };
}

const toolEntries = (rig: Pick<CallRig, 'transcript'>) =>
  rig.transcript.filter(({ role }) => role === 'tool');

/** The record that a reader of the facts has. */
function recordOf(rig: CallRig): CallRecord {
  let record: CallRecord | undefined;
  rig.facts.forEach((fact, index) => {
    record = reduceCall(record, {
      callId: 'call-1',
      nodeId: 'n',
      seq: index + 1,
      at: 0,
      ...fact,
    } as CallEvent);
  });
  if (record === undefined) throw new Error('no facts');
  return record;
}

describe('a tool in the transcript', () => {
  it('stands there while it runs, and with its result when it is done', async () => {
    const { rig, runs } = await rigWithTool();
    rig.model.answer(call('look_up')).answer('At nine.');
    await rig.says('When?');
    const startedAt = rig.clock.wallNow();
    await rig.quiet(500);
    const [running] = toolEntries(rig);
    expect(running).toMatchObject({ turnIndex: 0, text: 'look_up', final: false });
    expect(Math.abs((running?.at ?? 0) - startedAt)).toBeLessThan(400);
    runs[0]?.resolve({ free: ['nine', 'ten'] });
    await rig.quiet(2000);
    expect(toolEntries(rig)).toEqual([{ ...running, text: 'look_up: {"free":["nine","ten"]}', final: true }]);
    expect(recordOf(rig).transcript.map(({ role }) => role)).toEqual(['user', 'tool', 'agent']);
  });

  it('tells its error in the words of the record', async () => {
    const { rig, runs } = await rigWithTool();
    rig.model.answer(call('look_up')).answer('Sorry.');
    await rig.says('When?');
    runs[0]?.reject(new Error('password=1234'));
    await rig.quiet(1000);
    expect(toolEntries(rig)).toMatchObject([{ text: 'look_up failed: The tool failed.', final: true }]);
  });

  it('has an entry for every call, those that were refused included', async () => {
    const { rig, runs } = await rigWithTool();
    rig.model.answer(call('look_up'), call('nobody'), call('send_dtmf', { digits: 'x' })).answer('Done.');
    await rig.says('Do it.');
    runs[0]?.resolve(undefined);
    await rig.quiet(1000);
    expect(toolEntries(rig).map(({ id, text }) => [id, text])).toEqual([
      ['tool-1', 'look_up: done'],
      ['tool-2', 'nobody failed: There is no tool of that name.'],
      ['tool-3', expect.stringMatching(/^send_dtmf failed: The arguments do not fit/)],
    ]);
    expect(rig.turns[0]?.toolCalls.map(({ name }) => name)).toEqual(['look_up', 'nobody', 'send_dtmf']);
  });

  it('is no speech: the ear, the turns and the history know nothing of the entry', async () => {
    const { rig, runs } = await rigWithTool();
    rig.model.answer(call('look_up')).answer('At nine.');
    await rig.says('When?');
    runs[0]?.resolve('secret text');
    await rig.quiet(2000);
    expect(rig.voice.spoken).toEqual(['At nine.']);
    expect(rig.turns).toMatchObject([{ agentText: 'At nine.', agentTextUnheard: '' }]);
  });

  it('has a short name, whatever the model calls it', async () => {
    const { rig } = await rigWithTool();
    rig.model.answer(call('n'.repeat(1_000_000))).answer('Sorry.');
    await rig.says('Do it.');
    await rig.quiet(1000);
    expect(toolEntries(rig)[0]?.text.length).toBeLessThan(120);
    expect(rig.turns[0]?.toolCalls[0]?.name).toBe('n'.repeat(64));
  });
});

describe('a result that comes after its turn was interrupted', () => {
  const SAID = 'Let me look for a slot that suits you well.';

  async function interrupted() {
    const made = await rigWithTool();
    made.rig.model.answer(SAID, call('look_up')).answer('It is at nine.');
    await made.rig.says('When?');
    await made.rig.quiet(1000);
    await made.rig.voiced(700);
    return made;
  }

  it('is in the entry of the turn that wanted it, and completes no turn again', async () => {
    const { rig, runs } = await interrupted();
    rig.model.answer('At nine, as I said.');
    rig.ears.events.final('And in the afternoon?');
    expect(rig.turns).toMatchObject([{ interrupted: true, toolCalls: [{ durationMs: null, error: null }] }]);
    expect(toolEntries(rig)).toMatchObject([{ turnIndex: 0, text: 'look_up', final: false }]);
    await rig.quiet(1500);
    runs[0]?.resolve('nine');
    await rig.quiet(20);
    expect(toolEntries(rig)).toMatchObject([{ turnIndex: 0, text: 'look_up: nine', final: true }]);
    await rig.quiet(3000);
    expect(rig.turns.map(({ index }) => index)).toEqual([0, 1, 2]);
    expect(rig.turns[2]).toMatchObject({ agentText: 'At nine, as I said.', toolCalls: [] });
    const record = recordOf(rig);
    expect(record.transcript.find(({ role }) => role === 'tool')).toMatchObject({
      turnIndex: 0,
      text: 'look_up: nine',
    });
    // So long it took, and not only until the caller spoke.
    const toolMs = record.turns[0]?.toolCalls[0]?.durationMs;
    expect(record.turns[0]?.toolCalls).toMatchObject([
      {
        result: { text: 'nine' },
        name: 'look_up',
        startedAt: expect.any(Number),
        durationMs: toolMs,
        error: null,
      },
    ]);
    expect(toolMs).toBeGreaterThan(2500);
  });

  it('is in the next request, behind what was heard before the tool', async () => {
    const { rig, runs } = await interrupted();
    runs[0]?.resolve('nine');
    rig.ears.events.final('And in the afternoon?');
    await rig.quiet(1500);
    const { messages = [] } = rig.model.requests[1] ?? {};
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'user']);
    expect(messages[1]?.content).toBe(rig.turns[0]?.agentText);
    expect(messages[2]?.content).toBe('nine');
  });

  it('is in the next request as an error, when it is one', async () => {
    const { rig, runs } = await interrupted();
    rig.ears.events.final('And in the afternoon?');
    runs[0]?.reject(null);
    await rig.quiet(1500);
    expect(rig.model.requests[1]?.messages[2]).toMatchObject({
      role: 'tool',
      content: '{"error":"The tool failed."}',
    });
    expect(toolEntries(rig)[0]?.text).toBe('look_up failed: The tool failed.');
  });

  it('does not come when the call ends before, which the entry says', async () => {
    const { rig, runs } = await interrupted();
    rig.engine.close();
    const facts = rig.facts.length;
    expect(toolEntries(rig)).toMatchObject([
      { text: 'look_up failed: The call ended before the tool was done.', final: true },
    ]);
    runs[0]?.resolve('nine');
    await rig.clock.advanceAsync(1000);
    expect(rig.facts).toHaveLength(facts);
  });
});

it('shows the end of the call that a tool has brought about as no failure', async () => {
  const rig = await new CallRig({ transferTargets: { sales: '+15550123' } }).start();
  rig.model.answer(call('transfer_call', { to: 'sales' }));
  rig.transfer = () => new Promise(() => {});
  await rig.says('Connect me.');
  rig.engine.close();
  expect(toolEntries(rig)).toMatchObject([{ text: 'transfer_call: The call ends.', final: true }]);
});

describe('a tool of a realtime model in the transcript', () => {
  it('is an entry of the turn that called it, also when it is done behind it', async () => {
    let finish = (_: unknown): void => {};
    const tool: Tool = {
      name: 'look_up',
      description: 'Looks it up.',
      execute: () =>
        new Promise((resolve) => {
          finish = resolve;
        }),
    };
    const rig = new RealtimeRig({ tools: createAgentTools([tool]) }).start();
    rig.model.answers('Hello.');
    await rig.wait(1000);
    rig.model.hears('How much?');
    rig.model.answers('One moment.', [
      { id: 'c1', name: 'look_up' },
      { id: 'c2', name: 'nothing' },
    ]);
    await rig.wait(300);
    const [running, failed] = toolEntries(rig);
    expect(running).toMatchObject({ turnIndex: 1, text: 'look_up', final: false });
    const error = 'nothing failed: There is no tool of that name.';
    expect(failed).toMatchObject({ turnIndex: 1, text: error, final: true });
    rig.model.hears('Never mind.');
    rig.model.answers('As you like.');
    await rig.wait(1000);
    finish({ price: 10 });
    await rig.wait(0);
    expect(toolEntries(rig)).toEqual([{ ...running, text: 'look_up: {"price":10}', final: true }, failed]);
  });
});
