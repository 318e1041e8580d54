// Since when something is owed to the caller: a wait for something else does not go on in it, and one that goes on leaves an answer time.
import { describe, expect, it } from 'vitest';
import { answering } from './answering-rig.js';
import { CallRig, FakeVoice } from './call-rig.js';

const NO_FILLERS = { fillers: [] };

/** The model's next answer takes `ms`. */
function thinks(rig: CallRig, ms: number, text: string): void {
  rig.model.answers.push(async function* () {
    await new Promise<void>((done) => void rig.clock.after(ms, () => done()));
    yield { type: 'text', delta: text };
  });
}

function hangs(rig: CallRig): void {
  rig.model.answers.push(async function* () {
    await new Promise(() => {});
  });
}

describe('an answer to keys', () => {
  it.each([
    ['into a prompt', 1500],
    ['behind it', 8000],
  ])('that were pressed %s has all of its time', async (_when, ms) => {
    const rig = await answering(ms, { turnTaking: NO_FILLERS });
    thinks(rig, 3500, 'Thank you.');
    for (const key of '1234') {
      rig.engine.pushDtmf(key);
      await rig.quiet(700);
    }
    await rig.quiet(9000);
    expect(rig.ended).toEqual([]);
    expect(rig.voice.spoken.at(-1)).toBe('Thank you.');
  });
});

describe('a sound without words', () => {
  /** A voice that takes 400 ms to sound. */
  function slowVoice(after: (ms: number, done: () => void) => void): FakeVoice {
    const voice = new FakeVoice();
    const open = voice.open.bind(voice);
    voice.open = (context) => {
      const session = open(context);
      return {
        ...session,
        async *synthesize(text: string) {
          await new Promise<void>((done) => after(400, done));
          yield* session.synthesize(text);
        },
      };
    };
    return voice;
  }

  it.each([1500, 1700, 1900])('takes nothing from an idle prompt %i ms behind it', async (coughAtMs) => {
    const idle = { afterMs: 6000, prompts: ['Are you there?'], goodbye: 'Goodbye then.' };
    const rig: CallRig = new CallRig({
      idle,
      voice: slowVoice((ms, done) => void rig.clock.after(ms, done)),
    });
    await rig.start();
    await rig.quiet(coughAtMs);
    await rig.voiced(100);
    await rig.quiet(8000);
    expect(rig.ended).toEqual([]);
    expect(rig.voice.spoken).toEqual(['Are you there?']);
  });

  it('takes nothing from what is gone on with after four seconds', async () => {
    const rig = await answering(2500, { turnTaking: { ...NO_FILLERS, resumeAfterMs: 4300 } });
    await rig.voiced(700);
    await rig.quiet(9000);
    expect(rig.ended).toEqual([]);
    expect(rig.voice.spoken.slice(3)).toEqual(['Come whenever you like.']);
  });
});

describe('an answer to words that came three seconds late', () => {
  async function late(answer: (rig: CallRig) => void) {
    const rig = await new CallRig({ turnTaking: NO_FILLERS }).start();
    answer(rig);
    await rig.voiced(400);
    const since = rig.clock.now();
    rig.ears.events.partial('When do');
    await rig.quiet(1400);
    rig.ears.events.partial('When do you');
    await rig.quiet(900);
    rig.ears.events.partial('When do you close');
    await rig.quiet(700);
    rig.ears.events.final('When do you close?');
    await rig.quiet(4000);
    return { rig, since };
  }

  it('has time for a model of a second and a half', async () => {
    const { rig, since } = await late((rig) => thinks(rig, 1500, 'At six.'));
    expect(rig.ended).toEqual([]);
    expect(rig.turns).toMatchObject([{ userText: 'When do you close?', agentText: 'At six.' }]);
    expect((rig.player.sent[0]?.at ?? Infinity) - since).toBeLessThanOrEqual(5000);
  });

  it('is measured from the end of the sound in which they were said, also where nobody waited for them any more', async () => {
    const rig = await new CallRig({ turnTaking: NO_FILLERS }).start();
    thinks(rig, 100, 'At six.');
    await rig.voiced(400);
    const since = rig.clock.now();
    await rig.quiet(3500);
    rig.ears.events.final('When do you close?');
    await rig.quiet(3000);
    const heardAt = rig.player.sent[0]?.at ?? 0;
    expect(rig.turns[0]?.latency.totalMs).toBeGreaterThanOrEqual(heardAt - since);
    expect(rig.turns[0]?.latency.totalMs).toBeLessThanOrEqual(heardAt - since + 40);
  });

  it('is given up in time for somebody to apologize', async () => {
    const { rig, since } = await late(hangs);
    expect(rig.voice.spoken).toEqual([expect.stringContaining('something went wrong')]);
    expect((rig.player.sent[0]?.at ?? Infinity) - since).toBeLessThanOrEqual(4640);
  });
});
