// The agent's own sorry: when it is stated that the caller was told, and how long they had waited for it.
import { describe, expect, it } from 'vitest';
import { setPhrasesFor } from '../../../../src/engines/languages/set-phrases.js';
import { CallRig, FakeVoice, MS_PER_CHAR, type RigOptions } from '../../call-rig.js';

const { call: APOLOGY } = setPhrasesFor(undefined).apologies;

const NO_FILLERS = { fillers: [] };
const GONE = new Error('gone');
const LONG = 'We are open from eight to six on every day of the week but for the days that are holidays. ';

/** The caller has asked something, and the model gives nothing. Resolves when they have been silent for `ms`. */
async function unanswered(ms: number, options: RigOptions = {}): Promise<CallRig> {
  const rig = await new CallRig({ turnTaking: NO_FILLERS, ...options }).start();
  rig.model.answers.push(async function* () {
    await new Promise(() => {});
  });
  await rig.voiced(400);
  rig.ears.events.final('When?');
  await rig.quiet(ms);
  return rig;
}

function sorries(rig: CallRig): number[] {
  return rig.facts.flatMap((fact) => (fact.type === 'apology.spoken' ? [fact.waitedMs] : []));
}

describe('an apology of the agent', () => {
  it('is stated once, with the silence since the caller has spoken', async () => {
    const rig = await unanswered(9000);
    expect(rig.ended).toMatchObject([{ reason: 'provider-failed' }]);
    expect(sorries(rig)).toEqual([4200]);
    expect(rig.player.sent[0]?.at).toBe(400 + 4200);
  });

  it('is stated with the silence since the failure where the caller did not wait', async () => {
    const voice = new FakeVoice();
    const rig: CallRig = new CallRig({ voice });
    const open = voice.open.bind(voice);
    voice.open = (context) => {
      const session = open(context);
      return {
        ...session,
        async *synthesize(text: string) {
          await new Promise<void>((done) => void rig.clock.after(300, () => done()));
          yield* session.synthesize(text);
        },
      };
    };
    await rig.start();
    await rig.quiet(20_000);
    rig.ears.events.failed(GONE);
    await rig.quiet(280);
    expect(sorries(rig)).toEqual([]);
    await rig.quiet(20);
    expect(sorries(rig)).toEqual([300]);
  });

  it('does not count a sound without words, for which nobody waits any more', async () => {
    const rig = await new CallRig({}).start();
    await rig.voiced(200);
    await rig.quiet(20_000);
    rig.ears.events.failed(GONE);
    await rig.quiet(1000);
    expect(sorries(rig)).toEqual([0]);
  });

  it('behind what the agent is saying is stated when it begins itself', async () => {
    const rig = await new CallRig({ firstMessage: LONG }).start();
    await rig.quiet(200);
    rig.ears.events.failed(GONE);
    await rig.quiet(LONG.length * MS_PER_CHAR - 1000);
    expect(sorries(rig)).toEqual([]);
    await rig.quiet(1000);
    expect(sorries(rig)).toEqual([0]);
  });

  it('is not stated where the call ends before it is heard', async () => {
    const rig = await new CallRig({ firstMessage: LONG }).start();
    await rig.quiet(200);
    rig.ears.events.failed(GONE);
    await rig.quiet(200);
    rig.engine.close();
    await rig.quiet(8000);
    expect(sorries(rig)).toEqual([]);
  });

  it('is not stated where a guardrail keeps it from being said', async () => {
    const rig = await unanswered(9000, { guardrails: [(text) => !/sorry|again later/.test(text)] });
    expect(rig.ended).toMatchObject([{ reason: 'provider-failed' }]);
    expect(sorries(rig)).toEqual([]);
  });

  it('that has not begun behind a long answer in its time is left to the carrier', async () => {
    const rig = await new CallRig({ firstMessage: LONG.repeat(4) }).start();
    await rig.quiet(200);
    rig.ears.events.failed(GONE);
    await rig.quiet(7980);
    expect(rig.ended).toEqual([]);
    await rig.quiet(20);
    expect(rig.voice.spoken.join(' ')).not.toContain('sorry');
    expect(rig.ended).toMatchObject([{ reason: 'provider-failed', failure: { untold: true, waitedMs: 0 } }]);
    await rig.quiet(20_000);
    expect(sorries(rig)).toEqual([]);
  });

  it('that begins late behind a long answer is heard to its end', async () => {
    const rig = await new CallRig({ firstMessage: LONG.repeat(2) }).start();
    await rig.quiet(200);
    rig.ears.events.failed(GONE);
    await rig.quiet(8000);
    expect([sorries(rig), rig.ended]).toEqual([[], []]);
    await rig.quiet(5000);
    expect(sorries(rig)).toEqual([0]);
    expect(rig.ended).toMatchObject([{ reason: 'provider-failed' }]);
    expect(rig.ended[0]?.failure).not.toHaveProperty('untold');
    expect(rig.turns.at(-1)?.agentText).toContain(APOLOGY);
  });

  it('that does not come to its end ends with what the voice has given of it', async () => {
    const voice = new FakeVoice();
    const open = voice.open.bind(voice);
    voice.open = (context) => {
      const session = open(context);
      return {
        ...session,
        async *synthesize(text: string) {
          for await (const chunk of session.synthesize(text)) {
            yield chunk;
            await new Promise<void>((done) => void rig.clock.after(3500, () => done()));
          }
        },
      };
    };
    const rig: CallRig = new CallRig({ voice });
    await rig.start();
    rig.ears.events.failed(GONE);
    await rig.quiet(7980);
    expect(rig.ended).toEqual([]);
    await rig.quiet(20);
    expect(rig.ended).toMatchObject([{ reason: 'provider-failed' }]);
    expect(rig.ended[0]?.failure).not.toHaveProperty('untold');
    expect(sorries(rig)).toEqual([0]);
  });

  it('that has no voice is left to the carrier, with how long the caller has waited', async () => {
    const voice = new FakeVoice();
    voice.failOn = 'sorry';
    const rig = await unanswered(9000, { voice });
    expect(rig.ended).toMatchObject([
      { reason: 'provider-failed', failure: { untold: true, waitedMs: 4200 } },
    ]);
    expect(sorries(rig)).toEqual([]);
  });

  it('that comes after an application took its time is stated with all of it', async () => {
    const rig = await unanswered(40_000, { onMessage: () => new Promise(() => {}) });
    for (const _ of ['again', 'and again']) {
      expect(sorries(rig)).toEqual([]);
      await rig.says('Hello?');
      await rig.quiet(40_000);
    }
    const [waitedMs] = sorries(rig);
    expect(waitedMs).toBeGreaterThanOrEqual(30_000);
    expect(waitedMs).toBeLessThan(31_000);
  });

  it.each(['the voice gives nothing of it', 'a guardrail blocks it'])(
    'is left to the carrier where %s',
    async (why) => {
      const isBlocked = why.startsWith('a guardrail');
      const mute = new FakeVoice();
      mute.open = () => ({
        async *synthesize() {
          yield* [];
        },
        close() {},
      });
      const options = isBlocked ? { guardrails: [() => false] } : { voice: mute };
      const rig = await new CallRig({ ...options, turnTaking: NO_FILLERS }).start();
      rig.ears.events.failed(GONE);
      await rig.quiet(5000);
      expect(rig.ended).toMatchObject([{ reason: 'provider-failed', failure: { untold: true } }]);
    },
  );
});
