import { describe, expect, it, vi } from 'vitest';
import type { LanguageModelEvent } from '../../../src/providers/language-model.js';
import type { Tool } from '../../../src/engines/tools/tool.js';
import { playing } from '../call-rig.js';
import { call, heldTool, lastMessages, results, rigWith } from './tools-rig.js';

/** A caller who may interrupt an agent whose tool runs. */
async function interruptedTool() {
  const { tool, runs } = heldTool();
  const rig = await rigWith([tool]);
  const said = 'Let me look for a slot that suits you well.';
  rig.model.answer(said, call('find_slot', { day: 'Friday' }));
  await rig.says('When?');
  await rig.quiet(1000);
  return { rig, runs, said };
}

describe('tools', () => {
  it('are offered in the same order with every request, with what every agent has', async () => {
    const rig = await rigWith([heldTool().tool], { transferTargets: { sales: '+15550123' } });
    rig.model.answer('Yes.').answer('No.');
    await rig.says('Hello?');
    await rig.quiet(1000);
    await rig.says('Hello again?');
    const [first, second] = rig.model.requests;
    expect(first?.tools?.map(({ name }) => name)).toEqual([
      'find_slot',
      'end_call',
      'transfer_call',
      'send_dtmf',
    ]);
    expect(JSON.stringify(second?.tools)).toBe(JSON.stringify(first?.tools));
    expect(JSON.stringify(first?.tools)).not.toContain('+1555');
  });

  it('run side by side while the text before them is spoken, and the model goes on with their results', async () => {
    const [one, two] = [heldTool('one'), heldTool('two')];
    const rig = await rigWith([one.tool, two.tool], { systemPrompt: 'Be kind.' });
    rig.model.answer('Let me look.', call('one', { day: 'Friday' }), call('two', { day: 'Monday' }));
    rig.model.answer('Friday at nine.');
    await rig.says('When?');
    expect([one.runs[0]?.args, two.runs[0]?.args]).toEqual([{ day: 'Friday' }, { day: 'Monday' }]);
    expect(one.runs[0]?.context).toMatchObject({
      callId: 'call-1',
      caller: '+15550100',
      callee: '+15550111',
    });
    const keys = [one, two].map(({ runs }) => runs[0]?.context.idempotencyKey);
    expect(keys).toEqual(['call-1.tool-1', 'call-1.tool-2']);
    expect(rig.voice.spoken).toEqual(['Let me look.']);
    await rig.quiet(300);
    two.runs[0]?.resolve({ free: [] });
    await rig.quiet(20);
    expect(rig.model.requests).toHaveLength(1);
    one.runs[0]?.resolve('at nine');
    await rig.quiet(3000);
    expect(lastMessages(rig)).toMatchObject([
      { role: 'system' },
      { role: 'user', content: 'When?' },
      {
        role: 'assistant',
        content: 'Let me look.',
        toolCalls: [{ name: 'one', argumentsText: '{"day":"Friday"}' }, { name: 'two' }],
      },
      { role: 'tool', content: 'at nine' },
      { role: 'tool', content: '{"free":[]}' },
    ]);
    expect(rig.turns).toMatchObject([
      {
        userText: 'When?',
        agentText: 'Let me look. Friday at nine.',
        toolCalls: [
          {
            id: 'tool-1',
            name: 'one',
            arguments: { text: '{"day":"Friday"}', cut: false },
            result: { text: 'at nine', cut: false },
            error: null,
          },
          { id: 'tool-2', name: 'two', result: { text: '{"free":[]}' }, error: null },
        ],
      },
    ]);
    const [record] = rig.turns[0]?.toolCalls ?? [];
    expect(record?.durationMs).toBeGreaterThanOrEqual(300);
    expect(record?.startedAt).toBeGreaterThan(rig.turns[0]?.startedAt ?? 0);
  });

  it('leave a history whose start stays the same, byte for byte', async () => {
    const { tool, runs } = heldTool();
    const rig = await rigWith([tool]);
    rig.model
      .answer('Let me look. ', call('find_slot', { day: 'Friday' }))
      .answer('At *nine*.')
      .answer('Bye.');
    await rig.says('When?');
    runs[0]?.resolve('nine');
    await rig.quiet(3000);
    await rig.says('Thanks.');
    const [, second, third] = rig.model.requests.map(({ messages }) => JSON.stringify(messages));
    expect(third?.startsWith(second?.slice(0, -1) ?? '-')).toBe(true);
    expect(lastMessages(rig).slice(-2)).toEqual([
      { role: 'assistant', content: 'At nine.' },
      { role: 'user', content: 'Thanks.' },
    ]);
  });

  it.each<[string, NonNullable<Tool['execute']>, string, string]>([
    [
      'throws',
      () => {
        throw new Error('password=1234');
      },
      '{"error":"The tool failed."}',
      'The tool failed.',
    ],
    ['rejects', () => Promise.reject(new Error('x')), '{"error":"The tool failed."}', 'The tool failed.'],
    ['gives what is not JSON', () => 7n, '{"error":"The tool failed."}', 'The tool failed.'],
    [
      'does not answer in time',
      () => new Promise(() => {}),
      '{"error":"The tool did not answer in time."}',
      'The tool did not answer in time.',
    ],
  ])(
    'tell the model and the record of one that %s, and the call goes on',
    async (_, execute, text, error) => {
      const rig = await rigWith([{ name: 'broken', description: 'Breaks.', execute }]);
      rig.model.answer(call('broken')).answer('That did not work.');
      await rig.says('Do it.');
      await rig.quiet(13_000);
      expect(results(rig)).toEqual([text]);
      expect(rig.turns).toMatchObject([
        { agentText: 'That did not work.', toolCalls: [{ name: 'broken', error }] },
      ]);
      expect(JSON.stringify(rig.facts)).not.toContain('1234');
      expect(rig.ended).toEqual([]);
    },
  );

  it('give the model the beginning of megabytes', async () => {
    const rig = await rigWith([{ name: 'big', description: 'Big.', execute: () => 'ab'.repeat(2_000_000) }]);
    rig.model.answer(call('big')).answer('Long.');
    await rig.says('Do it.');
    await rig.quiet(1000);
    const [text = ''] = results(rig);
    expect(text.length).toBeLessThan(17_000);
    expect(text).toMatch(/^abab[\s\S]*cut off/);
    expect(rig.turns[0]?.toolCalls[0]?.error).toMatch(/cut off/);
  });

  it.each<[string, LanguageModelEvent, RegExp]>([
    ['are no JSON', call('find_slot', '{"day": '), /not a JSON object/],
    ['lack something', call('find_slot', {}), /must have \\?"day/],
    ['are of another type', call('find_slot', { day: 5 }), /must be of type string/],
    ['are for a tool that is not there', call('find_slots', { day: 'Friday' }), /no tool of that name/],
  ])('are not run with arguments that %s', async (_, event, sentence) => {
    const { tool, runs } = heldTool();
    const rig = await rigWith([tool]);
    rig.model.answer(event).answer('Sorry.');
    await rig.says('When?');
    await rig.quiet(1000);
    expect(runs).toEqual([]);
    expect(results(rig)[0]).toMatch(sentence);
    expect(rig.turns[0]?.toolCalls[0]?.error).toMatch(new RegExp(sentence.source.replace('\\\\?', '')));
  });

  it('are cancelled when the caller hangs up', async () => {
    const { tool, runs } = heldTool();
    const rig = await rigWith([tool]);
    rig.model.answer('Let me look.', call('find_slot', { day: 'Friday' }));
    await rig.says('When?');
    await rig.quiet(500);
    const signal = runs[0]?.context.signal;
    expect(signal?.aborted).toBe(false);
    rig.engine.close();
    expect(signal?.aborted).toBe(true);
    expect(rig.turns[0]?.toolCalls).toMatchObject([{ error: expect.stringContaining('ended') }]);
    runs[0]?.reject(new Error('late'));
    await rig.clock.advanceAsync(20_000);
    expect(rig.model.requests).toHaveLength(1);
    expect(rig.clock.pending).toBe(0);
  });

  it('survive a barge-in: what the caller asks then is answered at once, and the result follows', async () => {
    const { rig, runs, said } = await interruptedTool();
    rig.model.answer('Yes, until six.').answer('It is at nine.');
    await rig.says('And are you open in the afternoon?', 700);
    expect(rig.turns).toMatchObject([{ interrupted: true, toolCalls: [{ durationMs: null, error: null }] }]);
    expect(runs[0]?.context.signal.aborted).toBe(false);
    const [, assistant, result, user] = lastMessages(rig);
    expect(assistant?.role === 'assistant' && said.startsWith(assistant.content)).toBe(true);
    expect(assistant?.content).not.toBe(said);
    expect(result).toMatchObject({ role: 'tool', content: expect.stringContaining('still running') });
    expect(user).toEqual({ role: 'user', content: 'And are you open in the afternoon?' });
    await rig.quiet(3000);
    expect(rig.turns[1]).toMatchObject({ agentText: 'Yes, until six.', toolCalls: [] });
    runs[0]?.resolve('nine');
    await rig.quiet(3000);
    expect(lastMessages(rig).slice(2)).toEqual([
      expect.objectContaining({ role: 'tool', content: 'nine' }),
      { role: 'user', content: 'And are you open in the afternoon?' },
      { role: 'assistant', content: 'Yes, until six.' },
      { role: 'system', content: expect.stringContaining('find_slot') },
    ]);
    expect(rig.turns[2]).toMatchObject({ userText: '', agentText: 'It is at nine.' });
    expect(runs).toHaveLength(1);
    await rig.quiet(5000);
    expect(rig.turns).toHaveLength(3);
  });

  it('that end while the agent answers something else are told behind that', async () => {
    const { rig, runs } = await interruptedTool();
    rig.model.answer('Yes, until six on every day of the week.').answer('It is at nine.');
    await rig.says('And are you open in the afternoon?', 700);
    await rig.quiet(500);
    runs[0]?.reject(new Error('lost'));
    await rig.quiet(500);
    expect(rig.model.requests).toHaveLength(2);
    await rig.quiet(5000);
    expect(rig.turns.map(({ agentText }) => agentText).slice(1)).toEqual([
      'Yes, until six on every day of the week.',
      'It is at nine.',
    ]);
    expect(results(rig)).toEqual(['{"error":"The tool failed."}']);
  });

  it('that end while the caller speaks are known to the answer', async () => {
    const { rig, runs } = await interruptedTool();
    rig.model.answer('Yes, until six.').answer('Parking is free, and the slot is at nine.');
    await rig.says('And are you open in the afternoon?', 700);
    await rig.quiet(3000);
    await rig.voiced(300);
    runs[0]?.resolve('nine');
    await rig.says('And where do I park?');
    await rig.quiet(5000);
    expect(lastMessages(rig).slice(-2)).toEqual([
      { role: 'system', content: expect.stringContaining('find_slot') },
      { role: 'user', content: 'And where do I park?' },
    ]);
    expect(rig.model.requests).toHaveLength(3);
    expect(rig.turns).toHaveLength(3);
  });

  it('are not run twice by a model that cannot wait', async () => {
    const { rig, runs } = await interruptedTool();
    rig.model
      .answer(
        'I am still looking.',
        call('find_slot', { day: 'Friday' }),
        call('find_slot', { day: 'Monday' }),
      )
      .answer('It is at nine.');
    await rig.says('Hurry up, please.', 700);
    await rig.quiet(3000);
    expect(runs.map(({ args }) => args)).toEqual([{ day: 'Friday' }, { day: 'Monday' }]);
    runs[0]?.resolve('nine');
    runs[1]?.resolve('ten');
    await rig.quiet(5000);
    expect(results(rig)).toEqual(['nine', 'nine', 'ten']);
    expect(rig.turns).toHaveLength(2);
    expect(rig.turns[1]).toMatchObject({ agentText: 'I am still looking. It is at nine.' });
  });

  it('are waited for with a filler, and nobody asks meanwhile whether the caller is there', async () => {
    const { tool, runs } = heldTool();
    const idle = { afterMs: 1000, prompts: ['Are you still there?'], goodbye: 'Goodbye.' };
    const rig = await rigWith([tool], { idle, turnTaking: { fillers: ['One moment.'] } });
    rig.model.answer(call('find_slot', { day: 'Friday' })).answer('At nine.');
    await rig.says('A slot please.');
    await rig.quiet(4000);
    expect(rig.voice.spoken).toEqual(['One moment.']);
    runs[0]?.resolve('nine');
    await rig.quiet(3000);
    expect(rig.transcript.map(({ text }) => text)).toEqual([
      'A slot please.',
      'find_slot: nine',
      'One moment.',
      'At nine.',
      'Are you still there?',
    ]);
  });

  it('are not forgotten when a sound without words silences the agent behind them', async () => {
    const { tool, runs } = heldTool();
    const rig = await rigWith([tool]);
    rig.model.answer('Let me look for it.', call('find_slot', { day: 'Friday' })).answer('At nine.');
    await rig.says('A slot please.');
    await rig.quiet(playing('Let me look for it.'));
    await rig.voiced(700);
    await rig.quiet(2500);
    expect(rig.turns).toEqual([]);
    runs[0]?.resolve('nine');
    await rig.quiet(2000);
    expect(results(rig)).toEqual(['nine']);
    expect(rig.turns).toMatchObject([{ agentText: 'Let me look for it. At nine.', interrupted: false }]);
  });

  it('survive a caller who goes on before a word was heard', async () => {
    const { tool, runs } = heldTool();
    const rig = await rigWith([tool]);
    rig.model.answer(call('find_slot', { day: 'Friday' })).answer('At nine.');
    await rig.says('A slot please.');
    runs[0]?.resolve('nine');
    rig.model.answers.unshift(async function* () {
      await new Promise(() => {});
      yield { type: 'text', delta: 'never' };
    });
    await rig.quiet(100);
    await rig.says('On Friday.', 700);
    await rig.quiet(2000);
    expect(lastMessages(rig)).toMatchObject([
      { role: 'user', content: 'A slot please.' },
      { role: 'assistant', content: '', toolCalls: [{ name: 'find_slot' }] },
      { role: 'tool', content: 'nine' },
      { role: 'user', content: 'On Friday.' },
    ]);
    expect(rig.turns).toMatchObject([
      { userText: 'A slot please. On Friday.', agentText: 'At nine.', toolCalls: [{ name: 'find_slot' }] },
    ]);
  });

  it('come to an end in a model that calls them for ever', async () => {
    const execute = vi.fn(() => 'again');
    const rig = await rigWith([{ name: 'loop', description: 'Loops.', execute }]);
    for (let round = 0; round < 20; round += 1) rig.model.answer(call('loop'));
    await rig.says('Do it.');
    await rig.quiet(5000);
    expect(execute).toHaveBeenCalledTimes(5);
    expect(rig.model.requests).toHaveLength(7);
    expect(results(rig).at(-1)).toMatch(/too many/);
    expect(rig.turns).toHaveLength(1);
  });

  it('are run sixteen at a time at most', async () => {
    const execute = vi.fn(() => 'done');
    const rig = await rigWith([{ name: 'many', description: 'Many.', execute }]);
    rig.model.answer(...Array.from({ length: 40 }, () => call('many'))).answer('Done.');
    await rig.says('Do it.');
    await rig.quiet(1000);
    expect(execute).toHaveBeenCalledTimes(16);
    expect(results(rig)).toHaveLength(40);
  });
});
