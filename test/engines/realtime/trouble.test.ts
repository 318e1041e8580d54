import { describe, expect, it } from 'vitest';
import { ProviderError } from '../../../src/base/errors.js';
import { createAgentTools } from '../../../src/engines/tools/agent-tool.js';
import { FakeRealtimeModel, RealtimeRig } from '../realtime-rig.js';

const BROKEN = new ProviderError('It broke.', { status: 500, retryable: true });
const GREETING = 'Hello, this is the bakery on the square.';

describe('trouble', () => {
  it('ends the call with what happened, untold, behind what the caller still hears', async () => {
    const rig = new RealtimeRig().start();
    rig.model.answers('One two three four five six.');
    await rig.wait(500);
    rig.model.events.failed(BROKEN);
    expect([rig.ended, rig.model.isClosed]).toEqual([[], true]);
    expect(rig.logger.sentences('warn')).toEqual(['The realtime model failed.']);
    await rig.wait(2000);
    expect(rig.ended).toMatchObject([
      { reason: 'provider-failed', failure: { code: 'PROVIDER_FAILED', message: 'It broke.', untold: true } },
    ]);
    expect(rig.logger.sentences('warn')).toEqual(['The realtime model failed.']);
    expect(rig.turns).toMatchObject([{ agentText: 'One two three four five six.', interrupted: false }]);
  });

  it('in the middle of an answer leaves what came of it to be heard', async () => {
    const rig = new RealtimeRig().start();
    rig.model.begins('One two three four five six.');
    await rig.wait(300);
    const inHandMs = rig.pacer.pushedMs - rig.pacer.playedMs;
    expect(inHandMs).toBeGreaterThan(500);
    rig.model.events.failed(BROKEN);
    await rig.wait(inHandMs - 50);
    expect(rig.ended).toEqual([]);
    await rig.wait(250);
    expect(rig.ended).toMatchObject([{ reason: 'provider-failed', failure: { waitedMs: 10 } }]);
    expect(rig.turns).toMatchObject([{ agentText: expect.stringMatching(/^One two three four/) }]);
  });

  it('behind the last words of a call ends it as they do', async () => {
    const rig = new RealtimeRig({ tools: createAgentTools([]) }).start();
    rig.model.hears('That is all.');
    rig.model.answers('Goodbye to you!', [{ id: 'c1', name: 'end_call' }]);
    await rig.wait(100);
    rig.model.events.failed(BROKEN);
    await rig.wait(2000);
    expect(rig.ended).toMatchObject([{ reason: 'agent-hangup', failure: undefined }]);
  });

  it('ends the call at once where nothing is heard, the caller interrupts, is on hold, or there is too much to say', async () => {
    const when = async (play: (rig: RealtimeRig) => void, then?: (rig: RealtimeRig) => void) => {
      const rig = new RealtimeRig().start();
      play(rig);
      await rig.wait(300);
      rig.model.events.failed(BROKEN);
      const endedAtOnce = rig.ended.length === 1;
      then?.(rig);
      return [endedAtOnce, rig.ended.length === 1];
    };
    const speaks = (rig: RealtimeRig) => rig.model.answers('One two three four five six.');
    expect(await when(() => {})).toEqual([true, true]);
    expect(await when(speaks, (rig) => rig.engine.pushDtmf('1'))).toEqual([false, true]);
    expect(await when(speaks, (rig) => rig.engine.hold())).toEqual([false, true]);
    const holds = (rig: RealtimeRig) => {
      speaks(rig);
      rig.engine.hold();
    };
    expect(await when(holds)).toEqual([true, true]);
    const babbles = (rig: RealtimeRig) => rig.model.answers('One two three four five six. '.repeat(20));
    expect(await when(babbles)).toEqual([true, true]);
  });

  it('is over with a call that ends before the caller has heard everything', async () => {
    const rig = new RealtimeRig().start();
    rig.model.answers('One two three four five six.');
    await rig.wait(300);
    rig.model.events.failed(BROKEN);
    rig.engine.close();
    await rig.wait(5000);
    expect(rig.ended).toEqual([]);
    expect(rig.clock.pending).toBe(0);
  });

  it('in the opening of a session ends the call, and foreign words stay out of the record', () => {
    const model = new FakeRealtimeModel();
    model.open = () => {
      throw new Error('secret');
    };
    const rig = new RealtimeRig({ model, firstMessage: 'Hello!' });
    rig.engine.start();
    expect(rig.ended).toMatchObject([{ reason: 'provider-failed', failure: { code: 'PROVIDER_FAILED' } }]);
    expect(JSON.stringify(rig.ended)).not.toContain('secret');
  });

  it('of a model that is never ready is found within five seconds, whether there is something to say or not', async () => {
    for (const firstMessage of ['Hello!', undefined]) {
      const rig = new RealtimeRig({ firstMessage });
      rig.engine.start();
      await rig.wait(4500);
      expect(rig.ended).toMatchObject([
        {
          reason: 'provider-failed',
          failure: { message: 'The realtime model does not answer.', untold: true },
        },
      ]);
    }
  });

  it('of a model that does not answer is found within five seconds', async () => {
    const rig = new RealtimeRig().start();
    rig.model.hears('Hello?');
    await rig.wait(2000);
    expect(rig.model.asked).toEqual(['respond']);
    await rig.wait(2000);
    expect(rig.ended).toMatchObject([{ reason: 'provider-failed', at: 4000 }]);
  });

  it.each([null, undefined, {}, 'session', Promise.resolve()])('is a session that is none: %j', (session) => {
    const model = new FakeRealtimeModel();
    model.open = () => session as never;
    const rig = new RealtimeRig({ model, firstMessage: 'Hello!' });
    rig.engine.start();
    expect(rig.ended).toMatchObject([
      { reason: 'provider-failed', failure: { code: 'PROVIDER_FAILED', untold: true } },
    ]);
  });

  describe('of a model whose answer is empty', () => {
    const empty = (rig: RealtimeRig) => rig.model.ends(rig.model.begins(''));

    it('is mended by asking once more', async () => {
      const rig = new RealtimeRig().start();
      rig.model.hears('Hello?');
      empty(rig);
      expect(rig.model.asked).toEqual(['respond']);
      rig.model.answers('How can I help you?');
      await rig.wait(3000);
      expect(rig.turns).toMatchObject([{ userText: 'Hello?', agentText: 'How can I help you?' }]);
      rig.model.hears('Hello again?');
      empty(rig);
      expect(rig.model.asked).toEqual(['respond', 'respond']);
      rig.model.answers('Yes.');
      await rig.wait(3000);
      expect(rig.ended).toEqual([]);
    });

    it('ends the call when the next one is empty, too', async () => {
      const rig = new RealtimeRig().start();
      rig.model.hears('Hello?');
      empty(rig);
      empty(rig);
      await rig.wait(0);
      expect(rig.ended).toMatchObject([
        {
          reason: 'provider-failed',
          failure: { message: 'The realtime model does not answer.', untold: true },
        },
      ]);
    });

    it('leaves no more time than the caller had before', async () => {
      const rig = new RealtimeRig().start();
      rig.model.hears('Hello?');
      await rig.wait(1900);
      empty(rig);
      await rig.wait(2100);
      expect(rig.ended).toMatchObject([{ reason: 'provider-failed', at: 4000 }]);
    });

    it('is that of a text that was to be said, which is told again', () => {
      const rig = new RealtimeRig({ firstMessage: GREETING }).start();
      empty(rig);
      expect(rig.model.asked).toEqual([`say ${GREETING}`, `say ${GREETING}`]);
      empty(rig);
      expect(rig.ended).toMatchObject([{ reason: 'provider-failed' }]);
    });

    it('is one behind a tool also where something was said before that, and is asked for once more', async () => {
      const tools = createAgentTools([
        { name: 'look_up', description: 'Looks it up.', execute: () => Promise.resolve('ten') },
      ]);
      const rig = new RealtimeRig({ tools }).start();
      const asked = async () => {
        rig.model.hears('How much?');
        rig.model.answers('One moment.', [{ id: 'c1', name: 'look_up' }]);
        await rig.wait(0);
        empty(rig);
      };
      await asked();
      expect(rig.model.asked.slice(-2)).toEqual(['respond', 'respond']);
      rig.model.answers('Ten dollars.');
      await rig.wait(3000);
      expect(rig.turns).toMatchObject([{ agentText: 'One moment. Ten dollars.' }]);
      // Whoever has nothing to add has said all there was.
      await asked();
      empty(rig);
      await rig.wait(3000);
      expect([rig.turns.length, rig.ended]).toEqual([2, []]);
    });

    it('is none behind a sound without words, nor where the caller interrupts', async () => {
      const rig = new RealtimeRig().start();
      rig.model.hears('');
      empty(rig);
      expect(rig.model.asked).toEqual([]);
      rig.model.hears(undefined);
      empty(rig);
      empty(rig);
      rig.model.hears('Hello?');
      rig.model.events.responseStarted('cut');
      rig.model.events.responseEnded({ responseId: 'cut', reason: 'interrupted', toolCalls: [] });
      await rig.wait(500);
      expect(rig.ended).toEqual([]);
    });
  });

  it('is told with how long the caller has heard nothing while they waited', async () => {
    const words = 'One two three four five six.';
    const waited = async (play: (rig: RealtimeRig) => void | Promise<void>) => {
      const rig = new RealtimeRig().start();
      await play(rig);
      if (rig.ended.length === 0) rig.model.events.failed(BROKEN);
      await rig.wait(2000);
      return rig.ended[0]?.failure?.waitedMs;
    };
    const unasked = await waited((rig) => rig.wait(9000));
    const unanswered = await waited(async (rig) => {
      rig.model.hears('Hello?');
      await rig.wait(4000);
    });
    const spokenTo = await waited(async (rig) => {
      rig.model.begins(words);
      await rig.wait(500);
    });
    let soundMs = 0;
    const brokenOff = await waited(async (rig) => {
      rig.model.begins(words);
      await rig.wait(0);
      soundMs = rig.pacer.pushedMs;
      await rig.wait(soundMs + 300);
    });
    expect(soundMs).toBeGreaterThan(500);
    expect({ unasked, unanswered, spokenTo, brokenOff }).toEqual({
      unasked: 0,
      unanswered: 4000,
      // So late a mark tells that all was heard.
      spokenTo: 10,
      brokenOff: 300,
    });
  });

  it.each([
    [1000, 3000],
    [3900, 1200],
  ])(
    'of a model that is back after %i ms and does not answer is found after %i ms more',
    async (gapMs, leftMs) => {
      const rig = new RealtimeRig().start();
      rig.model.begins('One');
      rig.model.events.reconnected({ gapMs });
      await rig.wait(leftMs - 1);
      expect(rig.ended).toEqual([]);
      await rig.wait(1);
      expect(rig.ended).toMatchObject([{ reason: 'provider-failed' }]);
    },
  );

  it('of a model that stops in the middle of an answer is found, too', async () => {
    const rig = new RealtimeRig().start();
    rig.model.begins('One');
    await rig.wait(6000);
    expect(rig.ended).toMatchObject([{ reason: 'provider-failed' }]);
  });

  it.each<[string, (model: FakeRealtimeModel) => void]>([
    ['never comes to an end', (model) => model.begins('x'.repeat(13_000))],
    [
      'gives audio that is none',
      (model) => {
        model.begins('One');
        const audio = 'text' as unknown as Uint8Array;
        model.events.audio({ responseId: 'r1', itemId: 'item-r2', audio });
      },
    ],
  ])('of a model that %s ends the call', (_, misbehave) => {
    const rig = new RealtimeRig().start();
    misbehave(rig.model);
    expect(rig.ended).toMatchObject([{ reason: 'provider-failed', failure: { code: 'PROVIDER_FAILED' } }]);
  });

  it('of a model that writes without an end is found: what nobody can listen to is no sign of life', async () => {
    const rig = new RealtimeRig().start();
    rig.model.hears('How much?');
    const responseId = rig.model.begins('Ten.');
    rig.model.events.text({ responseId, itemId: `item-${responseId}`, delta: 'x'.repeat(10_000) });
    for (let waitedMs = 0; waitedMs < 4000; waitedMs += 500) {
      await rig.wait(500);
      rig.model.events.text({ responseId, itemId: `item-${responseId}`, delta: 'more' });
    }
    expect(rig.ended).toMatchObject([{ reason: 'provider-failed' }]);
    const [turn] = rig.turns;
    expect(`${turn?.agentText}${turn?.agentTextUnheard}`.length).toBeLessThanOrEqual(8000);
    const warnings = rig.logger.sentences('warn').filter((line) => line.includes('sent too much'));
    expect(warnings).toHaveLength(1);
  });

  it('of a model that calls tools without an end has no more than 64 of a response taken, and all answered', async () => {
    const rig = new RealtimeRig().start();
    rig.model.hears('How much?');
    const calls = Array.from({ length: 1000 }, (_, index) => ({ id: `c${index}`, name: 'look_up' }));
    rig.model.answers('', calls);
    await rig.wait(0);
    expect(rig.transcript.filter(({ role }) => role === 'tool')).toHaveLength(64);
    const results = rig.model.asked.filter((sentence) => sentence.startsWith('results')).join(' ');
    for (const { id } of calls) expect(results).toContain(`${id}=`);
    expect(results).toContain('c64={"error":"Not done: too many tools in one answer.');
    expect(rig.model.asked.at(-1)).toBe('respond');
    const warnings = rig.logger.sentences('warn').filter((line) => line.includes('sent too much'));
    expect(warnings).toHaveLength(1);
  });

  it('of a text of the caller without an end keeps 8,000 characters of it', async () => {
    const rig = new RealtimeRig().start();
    rig.model.hears('x'.repeat(10_000));
    rig.model.answers('Yes.');
    await rig.wait(1000);
    expect(rig.turns[0]?.userText).toHaveLength(8000);
  });

  it('of a model whose session rejects ends the call, and not the process', async () => {
    const model = new FakeRealtimeModel();
    model.open = () => Promise.reject(new Error('secret')) as never;
    const rig = new RealtimeRig({ model });
    rig.engine.start();
    await rig.wait(0);
    expect(rig.ended).toMatchObject([{ reason: 'provider-failed' }]);
  });

  it('of a connection while a tool runs leaves its result to come', async () => {
    let settle: (value: unknown) => void = () => {};
    const execute = () =>
      new Promise((resolve) => {
        settle = resolve;
      });
    const tools = createAgentTools([{ name: 'look_up', description: 'Looks it up.', execute }]);
    const rig = new RealtimeRig({ tools }).start();
    rig.model.hears('How much?');
    rig.model.answers('', [{ id: 'c1', name: 'look_up' }]);
    await rig.wait(0);
    rig.model.events.reconnected({ gapMs: 200 });
    expect(rig.model.context.history().map(({ role }) => role)).toEqual(['user', 'assistant']);
    settle(10);
    await rig.wait(0);
    expect(rig.model.asked).toEqual(['results c1=10', 'respond']);
    expect(rig.model.context.history().map(({ role }) => role)).toEqual(['user', 'assistant', 'tool']);
  });

  it('of a connection in the middle of what the caller says leaves it to be heard again, once', async () => {
    const rig = new RealtimeRig().start();
    const { events, context } = rig.model;
    events.speechStarted();
    events.userText({ itemId: 'before', text: 'Which', final: false });
    events.lost?.();
    expect(context.history()).toEqual([]);
    events.reconnected({ gapMs: 200 });
    expect(rig.model.asked).toEqual([]);
    rig.model.hears('Which cakes?');
    rig.model.answers('Apple.');
    await rig.wait(1000);
    expect(rig.turns).toMatchObject([{ userText: 'Which cakes?', agentText: 'Apple.' }]);
    const entries = rig.facts.flatMap((fact) => (fact.type === 'transcript.segment' ? [fact.entry] : []));
    expect(entries.findLast(({ id }) => id === 'user-before')).toMatchObject({ text: '', final: true });
  });

  it('of a connection before the words of the caller have come leaves them to be heard again, also in an answer that is silent yet', async () => {
    const rig = new RealtimeRig().start();
    const { events, context } = rig.model;
    rig.model.hears();
    events.responseStarted('r0');
    events.lost?.();
    events.reconnected({ gapMs: 200 });
    expect([rig.model.asked, context.history()]).toEqual([[], []]);
    rig.model.hears('Which cakes?');
    rig.model.answers('Apple.');
    await rig.wait(1000);
    expect(rig.turns).toMatchObject([{ userText: 'Which cakes?', agentText: 'Apple.' }]);
    expect(rig.ended).toEqual([]);
  });

  it('of a connection has nothing heard again that began too long ago, or that has its words', async () => {
    const rig = new RealtimeRig().start();
    const { events, context } = rig.model;
    rig.model.hears('Hello?');
    rig.model.answers('Yes.');
    await rig.wait(1000);
    events.speechStarted();
    events.userText({ itemId: 'long', text: 'Once upon', final: false });
    await rig.wait(5020);
    events.lost?.();
    expect(context.history().map(({ content }) => content)).toEqual(['Hello?', 'Yes.', 'Once upon']);
  });

  it('of a connection that hears the caller once more is not asked, unless nothing comes of it', async () => {
    const rig = new RealtimeRig().start();
    rig.model.hears('Hello?');
    await rig.wait(2000);
    expect(rig.model.asked).toEqual(['respond']);
    rig.model.events.lost?.();
    rig.model.events.reconnected({ gapMs: 200, hearsAgain: true });
    await rig.wait(1899);
    expect(rig.model.asked).toEqual(['respond']);
    await rig.wait(1);
    expect(rig.model.asked).toEqual(['respond', 'respond']);
    await rig.wait(1900);
    expect(rig.ended).toMatchObject([{ reason: 'provider-failed' }]);
  });

  it('of a connection has what was under way asked for again', async () => {
    const rig = new RealtimeRig().start();
    rig.model.hears('Hello?');
    rig.model.begins('Yes, I');
    rig.model.events.reconnected({ gapMs: 200 });
    rig.model.events.reconnected({ gapMs: 10, isPlanned: true });
    const remedies = rig.facts.filter(({ type }) => type === 'provider.reconnected');
    expect(remedies).toMatchObject([{ stage: 'engine', code: 'PROVIDER_FAILED', gapMs: 200 }]);
    expect(rig.model.asked).toEqual(['respond', 'respond']);
    expect(rig.model.context.history()).toEqual([
      { role: 'user', content: 'Hello?' },
      { role: 'assistant', content: 'Yes, I' },
    ]);
    rig.model.answers('am here.');
    await rig.wait(2000);
    expect(rig.turns).toMatchObject([{ userText: 'Hello?', agentText: 'Yes, I am here.' }]);
  });

  it.each([
    ['nothing', '', GREETING],
    ['a piece of a word', 'Hel', GREETING],
    ['its first words', 'Hello, this is the', 'bakery on the square.'],
    ['other words', 'Good day, here is', undefined],
  ])('of a connection that has given %s of the greeting has the rest of it said', async (_, given, rest) => {
    const rig = new RealtimeRig({ firstMessage: GREETING }).start();
    if (given === '') rig.model.events.responseStarted('r0');
    else rig.model.begins(given);
    rig.model.events.lost?.();
    await rig.wait(300);
    rig.model.events.reconnected({ gapMs: 300 });
    expect(rig.model.asked).toEqual([`say ${GREETING}`, rest === undefined ? 'respond' : `say ${rest}`]);
    if (rest === undefined) return;
    expect(
      rig.model.context
        .history()
        .map(({ content }) => content)
        .join(' '),
    ).toBe(GREETING.slice(0, -rest.length).trim());
    rig.model.answers(rest);
    await rig.wait(4000);
    expect(rig.turns).toMatchObject([{ userText: '', agentText: GREETING, agentTextUnheard: '' }]);
  });

  it('of two connections in the greeting has the same rest of it said', () => {
    const rig = new RealtimeRig({ firstMessage: GREETING }).start();
    rig.model.begins('Hello, this is the');
    for (const gapMs of [200, 300]) {
      rig.model.events.lost?.();
      rig.model.events.reconnected({ gapMs });
    }
    const rest = 'say bakery on the square.';
    expect(rig.model.asked).toEqual([`say ${GREETING}`, rest, rest]);
  });

  it('of a connection whose words are far ahead of their audio has what did not sound said', () => {
    const rig = new RealtimeRig({ firstMessage: GREETING }).start();
    rig.model.events.responseStarted('r1');
    rig.model.events.text({ responseId: 'r1', itemId: 'i1', delta: GREETING });
    rig.model.events.audio({ responseId: 'r1', itemId: 'i1', audio: new Uint8Array(2 * 16 * 700) });
    rig.model.events.lost?.();
    rig.model.events.reconnected({ gapMs: 300 });
    expect(rig.model.asked).toEqual([`say ${GREETING}`, 'say this is the bakery on the square.']);
  });

  it('of a connection that has given all of the greeting but its end asks for nothing more', async () => {
    const rig = new RealtimeRig({ firstMessage: 'Hello!' }).start();
    const responseId = rig.model.begins('Hello!');
    const audio = new Uint8Array(2 * 16 * 800);
    rig.model.events.audio({ responseId, itemId: `item-${responseId}`, audio });
    rig.model.events.lost?.();
    rig.model.events.reconnected({ gapMs: 200 });
    await rig.wait(6000);
    expect(rig.model.asked).toEqual(['say Hello!']);
    expect(rig.turns).toMatchObject([{ agentText: 'Hello!' }]);
    expect(rig.ended).toEqual([]);
  });

  it('of every connection that is asked has failed; one that was heard counts no more', async () => {
    const rig = new RealtimeRig().start();
    const breaks = (times: number) => {
      for (let index = 0; index < times; index += 1) {
        rig.model.events.lost?.();
        rig.model.events.reconnected({ gapMs: 10 });
      }
    };
    rig.model.hears('How much?');
    breaks(3);
    rig.model.answers('Ten.');
    await rig.wait(1000);
    rig.model.hears('And now?');
    breaks(3);
    expect(rig.model.asked.filter((each) => each === 'respond')).toHaveLength(6);
    expect(rig.ended).toEqual([]);
    breaks(1);
    expect(rig.model.asked.filter((each) => each === 'respond')).toHaveLength(6);
    expect(rig.ended).toMatchObject([{ reason: 'provider-failed' }]);
  });
});
