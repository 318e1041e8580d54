import { describe, expect, it, vi } from 'vitest';
import { createPipelineRecipe } from '../../src/engines/pipeline-engine.js';
import { DEFAULT_TURN_TAKING } from '../../src/engines/turn-taking.js';
import { Circuits } from '../../src/providers/circuits.js';
import { SpeechToTextChain } from '../../src/providers/fallback/speech-to-text-chain.js';
import type { SpeechToTextContext, SpeechToTextSession } from '../../src/providers/speech-to-text.js';
import { FakeClock } from '../support/fake-clock.js';
import { CallRig, FakeRecogniser, type RigOptions } from './call-rig.js';
import { FakeStages, FallbackRig, GONE } from './fallback-rig.js';

vi.mock('../../src/engines/voice-activity.js', () => ({
  createVoiceActivity: () => ({ isVoiced: (frame: Int16Array) => frame[0] !== 0, close() {} }),
}));

const WELCOME =
  'Welcome to the bakery. We have seven kinds of cakes, with nuts, with cream and with raisins.';

/** Two recognisers, and a call that has both as one. */
async function chained(options: RigOptions = {}) {
  const clock = new FakeClock();
  const [first, second] = [new FakeRecogniser(), new FakeRecogniser()];
  const stt = new SpeechToTextChain({ members: [first, second], circuits: new Circuits(clock), clock });
  const rig = new CallRig({ clock, stt, ...options });
  rig.model.answer('Sure.');
  await rig.start();
  return { rig, first, second };
}

/** The loud frames that recognisers of `stages` are sent. */
function loudFrames({ ears }: FakeStages): Int16Array[] {
  const frames: Int16Array[] = [];
  const open = ears.open.bind(ears);
  ears.open = (context: SpeechToTextContext): SpeechToTextSession => ({
    ...open(context),
    pushAudio: (frame) => void (frame[0] !== 0 && frames.push(frame.slice())),
  });
  return frames;
}

describe('Words that another recogniser will hear again', () => {
  it('are waited for by a caller who has finished, and answered as soon as they are there', async () => {
    const { rig, first, second } = await chained();
    await rig.voiced(1000);
    first.events.partial('I want to book');
    await rig.quiet(600);
    first.events.failed(GONE);
    await rig.quiet(1200);
    expect([rig.model.requests.length, rig.transcript]).toEqual([0, []]);
    second.events.final('I want to book a table.');
    await rig.clock.advanceAsync(0);
    expect(rig.model.requests).toHaveLength(1);
    const entries = rig.transcript.filter(({ role }) => role === 'user');
    expect(entries).toMatchObject([{ text: 'I want to book a table.', final: true }]);
  });

  it('are not waited for without end', async () => {
    const { rig, first } = await chained();
    await rig.voiced(1000);
    first.events.final('Hello.');
    first.events.partial('I want to book');
    await rig.quiet(600);
    first.events.failed(GONE);
    await rig.clock.advanceAsync(1980);
    expect(rig.model.requests).toHaveLength(0);
    await rig.clock.advanceAsync(20);
    expect(rig.model.requests[0]?.messages.at(-1)).toMatchObject({ role: 'user', content: 'Hello.' });
  });

  it('are waited for, too, where they are taken back before the caller has finished', async () => {
    const { rig, first, second } = await chained();
    await rig.voiced(1000);
    first.events.final('Hello.');
    first.events.partial('I want to book');
    first.events.failed(GONE);
    await rig.quiet(800);
    expect(rig.model.requests).toHaveLength(0);
    second.events.final('I want to book a table.');
    await rig.clock.advanceAsync(0);
    const asked = { role: 'user', content: 'Hello. I want to book a table.' };
    expect(rig.model.requests[0]?.messages.at(-1)).toMatchObject(asked);
  });

  it('may come to nothing after all', async () => {
    const { rig, first, second } = await chained();
    await rig.voiced(1000);
    first.events.final('Hello.');
    first.events.partial('I want');
    first.events.failed(GONE);
    await rig.quiet(600);
    second.events.final('');
    await rig.clock.advanceAsync(0);
    expect(rig.model.requests[0]?.messages.at(-1)).toMatchObject({ role: 'user', content: 'Hello.' });
  });

  it.each([
    ['after the caller has finished', 600],
    ['before the caller has finished', 0],
  ])('leave the floor to a caller who interrupted with them, taken back %s', async (_, silentMs) => {
    const { rig, first, second } = await chained({
      firstMessage: WELCOME,
      turnTaking: { resumeAfterMs: 1000 },
    });
    await rig.clock.advanceAsync(3000);
    await rig.voiced(1000);
    first.events.partial('No wait cancel my order');
    await rig.quiet(silentMs);
    const spoken = [...rig.voice.spoken];
    first.events.failed(GONE);
    await rig.quiet(1500);
    expect(rig.voice.spoken).toEqual(spoken);
    second.events.final('No wait, cancel my order.');
    await rig.quiet(500);
    expect(rig.voice.spoken).toEqual([...spoken, 'Sure.']);
  });

  it('are waited for while a recogniser that is behind still writes them, up to three seconds', async () => {
    const { rig, first, second } = await chained();
    await rig.voiced(1000);
    first.events.partial('I want to');
    first.events.troubled?.(GONE);
    await rig.quiet(600);
    first.events.failed(GONE);
    for (const text of ['I want', 'I want to', 'I want to book', 'I want to book a']) {
      await rig.quiet(600);
      second.events.partial(text);
    }
    expect(rig.model.requests).toEqual([]);
    second.events.final('I want to book a table.');
    await rig.clock.advanceAsync(0);
    const asked = { role: 'user', content: 'I want to book a table.' };
    expect(rig.model.requests.map(({ messages }) => messages.at(-1))).toMatchObject([asked]);
  });

  it('are taken as they are when the recogniser never comes to an end of them', async () => {
    const { rig, first, second } = await chained();
    await rig.voiced(1000);
    first.events.partial('I want to');
    first.events.failed(GONE);
    for (let count = 0; count < 9; count += 1) {
      second.events.partial(`I want ${count}`);
      await rig.quiet(400);
    }
    expect(rig.model.requests).toHaveLength(1);
  });

  it('are heard by the next voice mode when the next recogniser fails as well', async () => {
    const [first, second] = [new FakeRecogniser(), new FakeRecogniser()];
    const { model, voice } = new FakeStages();
    const next = new FakeStages();
    const heard = loudFrames(next);
    const clock = new FakeClock();
    const stt = new SpeechToTextChain({ members: [first, second], circuits: new Circuits(clock), clock });
    const turnTaking = { ...DEFAULT_TURN_TAKING, carefulMs: 0, fillers: [] };
    const recipe = createPipelineRecipe({ stt, llm: model, tts: voice, turnTaking });
    const rig = await new FallbackRig({ modes: [recipe, next] }).start();
    await rig.voiced(1000);
    first.events.partial('I want to book');
    await rig.quiet(600);
    first.events.failed(GONE);
    await rig.quiet(100);
    second.events.failed(GONE);
    await rig.wait(10);
    expect([heard.length, rig.ended]).toEqual([50, []]);
  });
});
