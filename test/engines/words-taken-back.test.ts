import { describe, expect, it } from 'vitest';
import { createPipelineRecipe } from '../../src/engines/pipeline/recipe.js';
import { DEFAULT_TURN_TAKING } from '../../src/engines/turn-taking.js';
import { Circuits } from '../../src/providers/circuits.js';
import { SpeechToTextChain } from '../../src/providers/fallback/speech-to-text-chain.js';
import type { SpeechToTextContext, SpeechToTextSession } from '../../src/providers/speech-to-text.js';
import { FakeClock } from '../support/fake-clock.js';
import { CallRig, FakeRecognizer, type RigOptions } from './call-rig.js';
import { FakeStages, FallbackRig, GONE } from './fallback-rig.js';

const WELCOME =
  'Welcome to the bakery. We have seven kinds of cakes, with nuts, with cream and with raisins.';

/** Two recognizers, and a call that has both as one. */
async function chained(options: RigOptions = {}) {
  const clock = new FakeClock();
  const [first, second] = [new FakeRecognizer(), new FakeRecognizer()];
  const stt = new SpeechToTextChain({ members: [first, second], circuits: new Circuits(clock), clock });
  const rig = new CallRig({ clock, stt, ...options });
  rig.model.answer('Sure.');
  await rig.start();
  return { rig, first, second };
}

/** The loud frames that recognizers of `stages` are sent. */
function loudFrames({ ears }: FakeStages): Int16Array[] {
  const frames: Int16Array[] = [];
  const open = ears.open.bind(ears);
  ears.open = (context: SpeechToTextContext): SpeechToTextSession => ({
    ...open(context),
    pushAudio: (frame) => void (frame[0] !== 0 && frames.push(frame.slice())),
  });
  return frames;
}

/** A breath of twelve seconds, written word by word. */
async function breathe(rig: Pick<CallRig, 'voiced'>, ears: FakeRecognizer) {
  for (let second = 1; second <= 12; second += 1) {
    await rig.voiced(1000);
    ears.events.partial(words(1, second));
  }
}

const words = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, at) => `word${first + at}`).join(' ');

describe('Words of a breath that is longer than the sound that is kept', () => {
  const told = ({ transcript }: CallRig) => transcript.filter(({ role }) => role === 'user');

  it('stay as far as nobody hears them again', async () => {
    const rig = await new CallRig({}).start();
    rig.model.answer('Sure.');
    await breathe(rig, rig.ears);
    await rig.quiet(300);
    rig.ears.events.troubled?.(GONE);
    await rig.quiet(500);
    expect(told(rig)).toMatchObject([{ text: words(1, 8), final: false }]);
    rig.ears.events.reconnected?.({ gapMs: 500, lostMs: 0 });
    rig.ears.events.partial(words(8, 10));
    rig.ears.events.final(words(8, 12));
    await rig.quiet(2500);
    expect(told(rig)).toMatchObject([{ text: words(1, 12), final: true }]);
    expect(rig.model.requests.map(({ messages }) => messages.at(-1)?.content)).toEqual([words(1, 12)]);
  });

  it('are more when the connection is long in coming', async () => {
    const rig = await new CallRig({}).start();
    await breathe(rig, rig.ears);
    rig.ears.events.troubled?.(GONE);
    await rig.quiet(1500);
    rig.ears.events.reconnected?.({ gapMs: 1500, lostMs: 0 });
    expect(told(rig)).toMatchObject([{ text: words(1, 9), final: false }]);
  });

  it('stay, too, when a second connection breaks', async () => {
    const rig = await new CallRig({}).start();
    rig.model.answer('Sure.');
    await breathe(rig, rig.ears);
    rig.ears.events.troubled?.(GONE);
    rig.ears.events.reconnected?.({ gapMs: 0, lostMs: 0 });
    rig.ears.events.partial(words(8, 12));
    rig.ears.events.troubled?.(GONE);
    rig.ears.events.reconnected?.({ gapMs: 0, lostMs: 0 });
    rig.ears.events.final(words(8, 12));
    await rig.quiet(2500);
    expect(rig.model.requests[0]?.messages.at(-1)?.content).toBe(words(1, 12));
  });

  it('are a turn when what is heard again comes to nothing', async () => {
    const rig = await new CallRig({}).start();
    rig.model.answer('Sure.');
    await breathe(rig, rig.ears);
    rig.ears.events.troubled?.(GONE);
    rig.ears.events.reconnected?.({ gapMs: 0, lostMs: 0 });
    await rig.quiet(900);
    rig.ears.events.final('');
    await rig.quiet(2500);
    expect(rig.model.requests[0]?.messages.at(-1)?.content).toBe(words(1, 7));
  });

  it('stay when another recognizer goes on', async () => {
    const { rig, first, second } = await chained();
    await breathe(rig, first);
    first.events.failed(GONE);
    second.events.final(words(8, 12));
    await rig.quiet(2500);
    expect(rig.model.requests[0]?.messages.at(-1)?.content).toBe(words(1, 12));
  });

  it('go to the voice mode that goes on', async () => {
    const [stages, next] = [new FakeStages(), new FakeStages()];
    next.model.answer('Sure.').answer('Sure.');
    const heard = loudFrames(next);
    const rig = await new FallbackRig({ modes: [stages, next] }).start();
    await breathe(rig, stages.ears);
    await rig.quiet(100);
    stages.ears.events.failed(GONE);
    await rig.wait(10);
    // A tenth of the five seconds is silence.
    expect(heard).toHaveLength(245);
    next.ears.events.final(words(8, 12));
    await rig.quiet(2500);
    const asked = next.model.requests.at(-1)?.messages.at(-1)?.content;
    // One mode knows nothing of the words of another: that at the seam comes twice.
    expect(asked).toBe(`${words(1, 8)} ${words(8, 12)}`);
  });

  it('are no more than they were at the end of the turn', async () => {
    const rig = await new CallRig({}).start();
    rig.model.answer('Sure.');
    rig.model.answer('Yes.');
    await breathe(rig, rig.ears);
    rig.ears.events.final(words(1, 12));
    await rig.quiet(2500);
    await rig.voiced(1000);
    rig.ears.events.partial('Thank');
    rig.ears.events.troubled?.(GONE);
    rig.ears.events.reconnected?.({ gapMs: 0, lostMs: 0 });
    rig.ears.events.final('Thank you.');
    await rig.quiet(2500);
    expect(rig.model.requests.at(-1)?.messages.at(-1)?.content).toBe('Thank you.');
  });
});

describe('Words that another recognizer will hear again', () => {
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

  it('are waited for while a recognizer that is behind still writes them, up to three seconds', async () => {
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

  it('are taken as they are when the recognizer never comes to an end of them', async () => {
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

  it('are heard by the next voice mode when the next recognizer fails as well', async () => {
    const [first, second] = [new FakeRecognizer(), new FakeRecognizer()];
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

describe('A piece of words that a turn has taken before its recognizer was done with it', () => {
  const HALF = 'I want to';
  const WHOLE = 'I want to book a table.';

  /** A caller who was answered after half a sentence, because no more of it came. */
  async function half(answer: string) {
    const rig = new CallRig();
    rig.model.answer(answer).answer('For how many?');
    await rig.start();
    await rig.voiced(1000);
    rig.ears.events.partial(HALF);
    await rig.quiet(2500);
    expect(rig.model.requests).toHaveLength(1);
    return rig;
  }

  const saidBy = (rig: CallRig, role: string) =>
    rig.transcript.filter((entry) => entry.role === role).map(({ text }) => text);

  it.each([
    ['comes again over another connection', true, ['I', 'I want to', 'I want to book']],
    ['comes again at once as a whole', true, []],
    ['goes on late', false, ['I want to', 'I want to book a']],
  ])('stands once in the record when it %s', async (_, isLost, partials) => {
    const rig = await half('What would you like to do today?');
    if (isLost) rig.ears.events.troubled?.(GONE);
    for (const text of partials) rig.ears.events.partial(text);
    rig.ears.events.final(WHOLE);
    await rig.quiet(4000);
    expect(saidBy(rig, 'user')).toEqual([HALF, 'book a table.']);
    expect(rig.turns.map(({ userText }) => userText).join(' ')).toBe(WHOLE);
    expect(saidBy(rig, 'agent').at(-1)).toBe('For how many?');
  });

  it('is no new turn when there was nothing more to it', async () => {
    const rig = await half('What would you like to do today?');
    rig.ears.events.troubled?.(GONE);
    rig.ears.events.partial(HALF);
    rig.ears.events.final(HALF);
    await rig.quiet(4000);
    expect(rig.model.requests).toHaveLength(1);
    expect(rig.turns).toMatchObject([{ userText: HALF, interrupted: false }]);
  });

  it.each([
    ['heard again before', [HALF]],
    ['lost for good before', []],
  ])('hides nothing that is said in the same words later, %s', async (_, again) => {
    const rig = await half('What would you like to do today?');
    rig.ears.events.troubled?.(GONE);
    for (const text of again) rig.ears.events.final(text);
    await rig.quiet(3000);
    await rig.says(HALF);
    await rig.quiet(3000);
    expect(rig.turns.map(({ userText }) => userText)).toEqual([HALF, HALF]);
  });
});
