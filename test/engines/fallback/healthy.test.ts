// A voice mode that works as fast as most answers the caller whom another one has kept waiting: it does not apologize.
import { describe, expect, it } from 'vitest';
import { FakeStages, FallbackRig } from '../fallback-rig.js';
import { FakeRealtimeModel } from '../realtime-rig.js';

const THINKING_MS = 1500;
const VOICE_MS = 300;
const QUESTION = 'What is it?';
const ANSWER = 'Ten dollars.';

/** A pipeline whose model and voice take their time. */
function ordinaryStages(rig: () => FallbackRig): FakeStages {
  const stages = new FakeStages();
  const after = (ms: number) => new Promise<void>((resolve) => void rig().clock.after(ms, resolve));
  stages.model.answers.push(async function* () {
    await after(THINKING_MS);
    yield { type: 'text', delta: ANSWER };
  });
  const open = stages.voice.open.bind(stages.voice);
  stages.voice.open = (context) => {
    const session = open(context);
    return {
      ...session,
      async *synthesize(text: string) {
        await after(VOICE_MS);
        yield* session.synthesize(text);
      },
    };
  };
  return stages;
}

/** It is connected at once, and answers as late when it is asked. */
async function ordinaryModel(rig: FallbackRig, model: FakeRealtimeModel): Promise<void> {
  while (model.context === undefined) await rig.quiet(20);
  model.ready();
  await rig.quiet(THINKING_MS - 20);
  expect(model.asked).toContain('respond');
  model.answers(ANSWER);
}

async function expectAnswer(rig: FallbackRig): Promise<void> {
  await rig.quiet(3000);
  expect(rig.ended).toEqual([]);
  expect(rig.said.at(-1)?.[1]).toBe(ANSWER);
}

describe('an ordinary voice mode behind one that hangs', () => {
  it.each(['with its words', 'unheard'])('answers as a pipeline what a model left, %s', async (kind) => {
    const first = new FakeRealtimeModel();
    const second = ordinaryStages(() => rig);
    second.ears.onFinish = () => void rig.clock.after(300, () => second.ears.events.final(QUESTION));
    const rig: FallbackRig = await new FallbackRig({ modes: [first, second] }).start();
    first.ready();
    first.events.speechStarted();
    await rig.voiced(800);
    await rig.quiet(500);
    first.events.speechEnded({ itemId: 'u1', agoMs: 500 });
    if (kind !== 'unheard') first.events.userText({ itemId: 'u1', text: QUESTION, final: true });
    await rig.quiet(5000);
    await expectAnswer(rig);
    expect(second.model.requests).toHaveLength(1);
  });

  it('answers as a model what another model left', async () => {
    const [first, second] = [new FakeRealtimeModel(), new FakeRealtimeModel()];
    const rig = await new FallbackRig({ modes: [first, second] }).start();
    first.ready();
    first.events.speechStarted();
    await rig.voiced(800);
    await rig.quiet(500);
    first.events.speechEnded({ itemId: 'u1', agoMs: 500 });
    first.events.userText({ itemId: 'u1', text: QUESTION, final: true });
    await ordinaryModel(rig, second);
    await expectAnswer(rig);
  });

  it.each(['llm', 'tts'])('answers as a model what a pipeline left whose %s hangs', async (stage) => {
    const [first, second] = [new FakeStages(), new FakeRealtimeModel()];
    if (stage === 'llm')
      first.model.answers.push(async function* () {
        await new Promise(() => {});
        yield { type: 'text', delta: '' };
      });
    else {
      first.model.answer(ANSWER);
      const open = first.voice.open.bind(first.voice);
      first.voice.open = (context) => ({
        ...open(context),
        async *synthesize() {
          await new Promise(() => {});
          yield new Int16Array(0);
        },
      });
    }
    const rig = await new FallbackRig({ modes: [first, second] }).start();
    await rig.voiced(800);
    first.ears.events.final(QUESTION);
    await ordinaryModel(rig, second);
    await expectAnswer(rig);
  });
});
