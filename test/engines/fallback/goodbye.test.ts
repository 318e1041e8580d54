// An engine fails in the middle of a goodbye: what was left of it is said once, and the call ends with it.
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../support/fake-clock.js';
import { END_CALL } from '../call-rig.js';
import {
  askedWith,
  FakeStages,
  FallbackRig,
  GONE,
  modelThenStages,
  talkingToModel,
} from '../fallback-rig.js';
import { FakeRealtimeModel } from '../realtime-rig.js';

const GOODBYE = 'Thank you for your call, goodbye.';
/** So long that a model that is gone is not heard to the end of it. */
const REST = `for your call. ${'We thank you for your patience. '.repeat(14)}Goodbye.`;
const ENDLESS_GOODBYE = `Thank you ${REST}`;
const LONG_GOODBYE =
  'Thank you for calling the bakery today. We are open again tomorrow at eight. Until then, goodbye.';

/** A call whose model has said the beginning of its goodbye. */
async function leavingModel() {
  const scene = await talkingToModel();
  const { first, rig } = scene;
  first.hears('That is all.');
  first.answers(ENDLESS_GOODBYE, [{ id: 'c1', name: 'end_call' }]);
  await rig.wait(500);
  return scene;
}

/** The same with the voice of a pipeline, which fails at the last sentence of it. */
async function leavingStages() {
  const first = new FakeStages();
  first.voice.failOn = 'goodbye';
  const second = new FakeRealtimeModel();
  const rig = new FallbackRig({ modes: [first, second] });
  first.model.answer(LONG_GOODBYE, END_CALL);
  await rig.start();
  await rig.says(first, 'That is all.');
  return { first, second, rig };
}

/** What the transcript says of the tool that ends the call: nobody has kept it from ending. */
const endOf = (rig: FallbackRig) => rig.transcript.find(({ role }) => role === 'tool')?.text;

const toolCalls = (rig: FallbackRig) => rig.turns.flatMap((turn) => turn.toolCalls.map(({ name }) => name));

describe('a goodbye of a realtime model that is cut off', () => {
  it('is brought to its end by the pipeline, word for word, and the call with it', async () => {
    const { first, second, rig } = await leavingModel();
    first.events.failed(GONE);
    await rig.wait(27_000);
    expect(second.model.requests).toEqual([]);
    expect(second.voice.spoken.join(' ')).toBe(REST);
    expect(rig.said.slice(1)).toEqual([
      ['That is all.', 'Thank you'],
      ['', REST],
    ]);
    expect(toolCalls(rig)).toEqual(['end_call']);
    expect(endOf(rig)).toMatch(/^end_call: Your goodbye was cut off/);
    expect(rig.ended).toMatchObject([{ reason: 'agent-hangup', failure: undefined }]);
  });

  it('that was heard to its end, which nobody has told yet, ends the call, and nobody takes its place', async () => {
    const { first, second, rig } = await talkingToModel();
    first.hears('That is all.');
    first.answers('Bye.', [{ id: 'c1', name: 'end_call' }]);
    await rig.wait(205);
    expect(rig.turns).toHaveLength(1);
    first.events.failed(GONE);
    await rig.wait(1000);
    expect(second.voice.spoken).toEqual([]);
    expect(rig.said.at(-1)).toEqual(['That is all.', 'Bye.']);
    expect(rig.replacements).toEqual([]);
    expect(rig.ended).toMatchObject([{ reason: 'agent-hangup', failure: undefined }]);
  });

  it('that was heard ends the call though the model is lost while that is written down', async () => {
    const clock = new FakeClock();
    const beforeOutside = () => new Promise<void>((resolve) => void clock.after(400, resolve));
    const { first, second, rig } = await talkingToModel({ clock, beforeOutside });
    first.hears('That is all.');
    first.answers('Bye.', [{ id: 'c1', name: 'end_call' }]);
    await rig.wait(400);
    expect(rig.engine.state.floor.floor).toMatchObject({ phase: 'ending', hangUpFor: 'agent-hangup' });
    first.events.failed(GONE);
    await rig.wait(1000);
    expect(second.voice.spoken).toEqual([]);
    expect(rig.replacements).toEqual([]);
    expect(rig.ended).toMatchObject([{ reason: 'agent-hangup', failure: undefined }]);
  });

  it('is said by the third engine where the second fails in it', async () => {
    const [first, third] = [new FakeRealtimeModel(), new FakeRealtimeModel()];
    const second = new FakeStages();
    const idle = { afterMs: 1000, prompts: [], goodbye: GOODBYE };
    const rig = new FallbackRig({ modes: [first, second, third], idle });
    await rig.start();
    first.ready();
    await rig.wait(1000);
    first.begins('Thank you for');
    await rig.wait(700);
    second.voice.failOn = 'goodbye';
    first.events.failed(GONE);
    await rig.wait(100);
    third.ready();
    const [[, heard = ''] = []] = rig.said;
    expect(heard).toMatch(/^Thank you/);
    const rest = GOODBYE.slice(heard.length).trim();
    expect(third.asked).toEqual([`say ${rest}`]);
    third.answers(rest);
    await rig.wait(2000);
    expect(rig.said).toEqual([
      ['', heard],
      ['', rest],
    ]);
    expect(rig.ended).toMatchObject([{ reason: 'idle' }]);
  });

  it('does not keep a caller who has something to say', async () => {
    const { first, second, rig } = await leavingModel();
    first.events.failed(GONE);
    await rig.wait(400);
    second.model.answer('At noon.');
    await rig.says(second, 'Wait, when do you close?');
    await rig.wait(1000);
    expect(rig.ended).toEqual([]);
    expect(askedWith(second).slice(-3)).toEqual([
      'tool: Your goodbye was cut off. The call ends with the rest of it, unless the caller speaks.',
      'assistant: for your call.',
      'user: Wait, when do you close?',
    ]);
    expect(rig.said.at(-1)).toEqual(['Wait, when do you close?', 'At noon.']);
  });

  it('that a hold cuts off as well is said behind it', async () => {
    const { first, second, rig } = await leavingModel();
    first.events.failed(GONE);
    rig.engine.hold();
    await rig.wait(5000);
    expect(second.voice.spoken).toEqual([]);
    rig.engine.resume('continue');
    await rig.wait(27_000);
    expect(second.voice.spoken.join(' ')).toBe(REST);
    expect(rig.ended).toMatchObject([{ reason: 'agent-hangup' }]);
  });
});

describe('a goodbye of a pipeline that is cut off', () => {
  it('is brought to its end by the model, word for word, and the call with it', async () => {
    const { second, rig } = await leavingStages();
    await rig.wait(2000);
    second.ready();
    const [, agentText = ''] = rig.said.at(-1) ?? [];
    expect(agentText).toMatch(/^Thank you for calling the bakery today\./);
    const rest = LONG_GOODBYE.slice(agentText.length).trim();
    expect(second.asked).toEqual([`say ${rest}`]);
    second.answers(rest);
    await rig.wait(5000);
    expect(rig.said).toEqual([
      ['That is all.', agentText],
      ['', rest],
    ]);
    expect(toolCalls(rig)).toEqual(['end_call']);
    expect(endOf(rig)).toMatch(/^end_call: Your goodbye was cut off/);
    expect(rig.ended).toMatchObject([{ reason: 'agent-hangup', failure: undefined }]);
  });
});

describe('a goodbye to a silent caller that is cut off', () => {
  const idle = { afterMs: 1000, prompts: [], goodbye: GOODBYE };

  /** The beginning of it was said by a model. */
  async function tiredModel() {
    const scene = modelThenStages({ idle, interruptible: false });
    await scene.rig.start();
    scene.first.ready();
    await scene.rig.wait(1000);
    scene.first.begins(ENDLESS_GOODBYE);
    await scene.rig.wait(500);
    return scene;
  }

  it('is brought to its end by the pipeline, word for word, and the call with it', async () => {
    const { first, second, rig } = await tiredModel();
    first.events.failed(GONE);
    await rig.wait(3000);
    expect([second.model.requests, second.voice.spoken]).toEqual([[], ['you for your call, goodbye.']]);
    expect(rig.ended).toMatchObject([{ reason: 'idle', failure: undefined }]);
  });

  it('is brought to its end behind a hold in which the model fails', async () => {
    const { first, second, rig } = await tiredModel();
    rig.engine.hold();
    first.events.failed(GONE);
    await rig.wait(500);
    rig.engine.resume('continue');
    await rig.wait(5000);
    expect([second.model.requests, second.voice.spoken.length]).toEqual([[], 1]);
    expect(rig.ended).toMatchObject([{ reason: 'idle' }]);
  });

  it('is nothing to a caller who has said something in it', async () => {
    const { first, second, rig } = await tiredModel();
    second.model.answer('At noon.');
    first.events.speechStarted();
    first.events.speechEnded({ itemId: 'u1', agoMs: 0 });
    first.events.userText({ itemId: 'u1', text: 'When do you close?', final: true });
    first.events.failed(GONE);
    await rig.wait(700);
    expect([second.model.requests.length, second.voice.spoken]).toEqual([1, ['At noon.']]);
  });

  it.each([
    ['at once', false],
    ['behind a hold', true],
  ])('is brought to its end by the model, %s', async (_, isHeld) => {
    const [first, second] = [new FakeStages(), new FakeRealtimeModel()];
    const goodbye = 'I cannot hear you. Goodbye.';
    const rig = await new FallbackRig({ modes: [first, second], idle: { ...idle, goodbye } }).start();
    first.voice.hangs = true;
    await rig.quiet(1300);
    if (isHeld) rig.engine.hold();
    if (isHeld) first.ears.events.failed(GONE);
    await rig.wait(3500);
    rig.engine.resume('continue');
    second.ready();
    const [[, heard] = []] = rig.said;
    const rest = goodbye.slice(heard?.length).trim();
    expect(second.asked).toEqual([`say ${rest}`]);
    second.answers(rest);
    await rig.wait(2000);
    expect(rig.said).toEqual([
      ['', heard],
      ['', rest],
    ]);
    expect(rig.ended).toMatchObject([{ reason: 'idle' }]);
  });
});

describe('a greeting of which the caller has heard the beginning', () => {
  const firstMessage = 'Hello, this is the bakery in the town.';

  it('is brought to its end by a pipeline, word for word', async () => {
    const { first, second, rig } = modelThenStages({ firstMessage });
    await rig.start();
    first.ready();
    first.begins(firstMessage.slice(0, 24));
    await rig.quiet(1000);
    first.events.failed(GONE);
    await rig.quiet(3000);
    const [heard = ''] = rig.said.map(([, said]) => said);
    expect(heard).toMatch(/^Hello, this/);
    expect(second.voice.spoken).toEqual([firstMessage.slice(heard.length).trim()]);
    expect(second.model.requests).toEqual([]);
  });

  it('is brought to its end by a realtime model, and may be interrupted no more than before', async () => {
    const [first, second] = [new FakeStages(), new FakeRealtimeModel()];
    const rig = await new FallbackRig({ modes: [first, second], firstMessage }).start();
    await rig.quiet(1000);
    first.ears.events.failed(GONE);
    await rig.quiet(100);
    second.ready();
    const [heard = ''] = rig.said.map(([, said]) => said);
    expect(heard).toMatch(/^Hello, this/);
    expect(second.asked).toEqual([`say ${firstMessage.slice(heard.length).trim()}`]);
  });

  it('is left where it was by a caller who has said something since', async () => {
    const { first, second, rig } = modelThenStages({ firstMessage });
    second.model.answer('We are open.');
    await rig.start();
    first.ready();
    first.begins(firstMessage);
    await rig.quiet(1000);
    first.hears('Are you open?');
    await rig.quiet(20);
    first.events.failed(GONE);
    await rig.quiet(1000);
    expect(askedWith(second).at(-1)).toBe('user: Are you open?');
    expect(second.voice.spoken).toEqual(['We are open.']);
  });
});

it('a long goodbye whose voice fails at its first piece is said whole by who goes on', async () => {
  const [first, second] = [new FakeStages(), new FakeStages()];
  first.voice.failOn = 'One';
  const sentences = [...'abcdefghijklmnop'].map((letter) => `Then comes the sentence ${letter}.`);
  const goodbye = `One is the first. ${sentences.join(' ')}`;
  const idle = { afterMs: 1000, prompts: [], goodbye };
  const rig = await new FallbackRig({ modes: [first, second], idle }).start();
  await rig.quiet(60_000);
  expect(second.voice.spoken.length).toBeGreaterThan(1);
  expect(second.voice.spoken.join(' ')).toBe(goodbye);
  expect(rig.ended).toMatchObject([{ reason: 'idle', failure: undefined }]);
});
