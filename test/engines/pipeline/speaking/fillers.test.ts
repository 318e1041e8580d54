import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../../../src/base/log.js';
import { CallerWait } from '../../../../src/engines/pipeline/caller-wait.js';
import { Fillers } from '../../../../src/engines/pipeline/speaking/fillers.js';
import { Guardrails } from '../../../../src/engines/pipeline/speaking/guardrails.js';
import { createAgentTools } from '../../../../src/engines/tools/agent-tool.js';
import type { LanguageModelEvent } from '../../../../src/providers/language-model.js';
import { CallRig, FakeVoice, MS_PER_CHAR, type RigOptions } from '../../call-rig.js';
import { FakeClock } from '../../../support/fake-clock.js';
import { A_CALL } from '../../a-call.js';

const turnTaking = { fillers: ['One moment.', 'Let me see.'] };
const LOOK_UP: LanguageModelEvent = {
  type: 'tool-call',
  id: 'call_1',
  name: 'look_up',
  arguments: {},
  argumentsText: '{}',
};

/** A rig with a tool that takes its time. */
async function rigWithTool(toolMs: number, options: RigOptions = {}): Promise<CallRig> {
  const wait = () => new Promise((done) => void rig.clock.after(toolMs, () => done('found')));
  const tools = createAgentTools([{ name: 'look_up', description: 'Looks it up.', execute: wait }]);
  const rig: CallRig = new CallRig({
    ...options,
    turnTaking: { ...turnTaking, ...options.turnTaking },
    tools,
  });
  return rig.start();
}

const fillers = (rig: CallRig) => rig.transcript.filter(({ id }) => id.startsWith('filler'));
const wait = (rig: CallRig, ms: number) =>
  new Promise<void>((done) => void rig.clock.after(ms, () => done()));

describe('a filler', () => {
  it('is due 1.2 s after the end of speech while a tool runs, and comes once in the turn', async () => {
    const rig = await rigWithTool(3000);
    const second = { ...LOOK_UP, id: 'call_2' };
    rig.model.answer(LOOK_UP).answer(second).answer('It is at nine.');
    await rig.says('When?');
    const endOfSpeech = 400;
    await rig.clock.advanceAsync(endOfSpeech + 1200 - rig.clock.now() - 20);
    expect(fillers(rig)).toEqual([]);
    await rig.quiet(40);
    expect(fillers(rig)).toMatchObject([{ text: 'One moment.', turnIndex: 0, role: 'agent', final: true }]);
    await rig.quiet(9000);
    expect(fillers(rig)).toHaveLength(1);
    expect(rig.turns).toMatchObject([{ agentText: 'It is at nine.', agentTextUnheard: '' }]);
    expect(JSON.stringify(rig.model.requests)).not.toContain('moment');
  });

  it('does not come when the answer said something before the tool', async () => {
    const rig = await rigWithTool(3000);
    rig.model.answer('Let me look.', LOOK_UP).answer('It is at nine.');
    await rig.says('When?');
    await rig.quiet(6000);
    expect(fillers(rig)).toEqual([]);
  });

  it('is over before the answer begins, and the answer is not delayed without need', async () => {
    const rig = await rigWithTool(1000);
    rig.model.answer(LOOK_UP).answer('It is at nine.');
    await rig.says('When?');
    await rig.quiet(5000);
    const heard = new Int16Array(Uint8Array.from(rig.player.heard()).buffer).filter((sample) => sample !== 0);
    expect(heard.length / 16).toBeCloseTo(('One moment.'.length + 'It is at nine.'.length) * MS_PER_CHAR, -1);
    expect(rig.turns[0]?.agentText).toBe('It is at nine.');
  });

  it('is no part of what was heard of an answer whose voice is slow', async () => {
    const voice = new FakeVoice();
    const session = voice.open();
    voice.open = () => ({
      ...session,
      async *synthesize(text: string) {
        if (text.startsWith('We')) await wait(rig, 2500);
        yield* session.synthesize(text);
      },
    });
    const rig: CallRig = new CallRig({ voice, turnTaking });
    await rig.start();
    const answer = 'We are open from eight to six on every day of the week.';
    rig.model.answer(answer).answer('Yes?');
    await rig.says('When?');
    await rig.quiet(1500);
    expect(fillers(rig)).toHaveLength(1);
    await rig.quiet(1000);
    await rig.quiet(600);
    rig.ears.events.partial('no wait');
    const [turn] = rig.turns;
    expect(turn?.interrupted).toBe(true);
    expect(turn?.agentText.length).toBeLessThanOrEqual((rig.heardMs - 11 * MS_PER_CHAR) / MS_PER_CHAR + 1);
    expect(`${turn?.agentText} ${turn?.agentTextUnheard}`.trim()).toBe(answer);
  });

  it('that sounds when the caller speaks takes nothing of the answer with it', async () => {
    const rig = await rigWithTool(2500);
    rig.model.answer(LOOK_UP).answer('On Friday, then.').answer('It is at nine.');
    await rig.says('When?');
    await rig.quiet(900);
    expect(fillers(rig)).toHaveLength(1);
    rig.ears.events.partial('on Friday please');
    expect(rig.player.clears).toBe(1);
    expect(fillers(rig)).toMatchObject([{ interrupted: true }]);
    expect(rig.turns).toEqual([]);
    rig.ears.events.final('On Friday please.');
    await rig.quiet(6000);
    expect(fillers(rig)).toHaveLength(1);
    expect(rig.turns).toMatchObject([
      { userText: 'When? On Friday please.', agentText: 'On Friday, then.', toolCalls: [{ error: null }] },
      { userText: '', agentText: 'It is at nine.' },
    ]);
  });

  it('that sounds when the line goes is kept as far as it was heard', async () => {
    const rig = await new CallRig({ turnTaking: { fillers: ['One moment please, I am looking.'] } }).start();
    rig.model.answers.push(async function* () {
      await wait(rig, 3000);
      yield { type: 'text', delta: 'At nine.' };
    });
    await rig.says('When?');
    await rig.quiet(900);
    rig.engine.hold();
    expect(fillers(rig)).toMatchObject([{ text: 'One', interrupted: true }]);
    await rig.quiet(2000);
    expect(rig.heardMs).toBeLessThan(500);
  });

  it('does not come on top of an apology', async () => {
    const rig = await new CallRig({ turnTaking }).start();
    rig.model.answers.push(async function* () {
      await wait(rig, 800);
      yield { type: 'text', delta: '' };
      throw new Error('broken');
    });
    await rig.says('When?');
    await rig.quiet(6000);
    expect(fillers(rig)).toEqual([]);
    expect(rig.ended).toMatchObject([{ reason: 'provider-failed' }]);
  });
});

it('keeps a bounded number of the texts that guardrails make of fillers', async () => {
  const clock = new FakeClock();
  const voice = new FakeVoice();
  const texts = [...Array.from({ length: 20 }, (_, turn) => `Text ${turn}.`), 'Text 19.', 'Text 0.'];
  let pushedMs = 0;
  const playout = {
    push(pcm: Int16Array) {
      pushedMs += pcm.length / 16;
    },
    mark() {},
    clear: () => pushedMs,
    pause() {},
    resume() {},
    onNextFrameSent() {},
    get pushedMs() {
      return pushedMs;
    },
    get playedMs() {
      return pushedMs;
    },
  };
  const said: string[] = [];
  const session = voice.open();
  const fillers = new Fillers({
    phrases: () => ['One moment.'],
    guardrails: new Guardrails({
      guardrails: [() => texts.shift() ?? false],
      call: A_CALL,
      clock,
      logger: silentLogger,
    }),
    voice: () => session,
    playout,
    wait: new CallerWait(),
    clock,
    logger: silentLogger,
    tell: ({ text }) => void said.push(text),
    sounds: () => {},
  });
  for (let turnIndex = 0; turnIndex < 22; turnIndex += 1) {
    fillers.prepare();
    await clock.advanceAsync(10);
    fillers.arm({ turnIndex, delayMs: 0, isAwaited: () => true });
    await clock.advanceAsync(10);
  }
  fillers.close();
  expect(said).toHaveLength(22);
  expect(voice.spoken.filter((text) => text === 'Text 19.')).toHaveLength(1);
  expect(voice.spoken.filter((text) => text === 'Text 0.')).toHaveLength(2);
});
