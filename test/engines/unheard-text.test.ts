import { describe, expect, it } from 'vitest';
import type { Guardrail } from '../../src/engines/pipeline/speaking/guardrails.js';
import { CallRig, FakeVoice, type RigOptions } from './call-rig.js';

const SENTENCES = ['We are open from eight to six.', 'On Saturday we close at noon.', 'Come when you like.'];
const ANSWER = SENTENCES.join(' ');

/** An answer that does not come. */
async function* never(): AsyncGenerator<never> {
  await new Promise(() => {});
}

const whole = (rig: CallRig) =>
  rig.turns.map((turn) => `${turn.agentText} ${turn.agentTextUnheard}`.trim()).join(' ');

/** A rig whose agent has been answering for 800 ms, and is then interrupted. */
async function interrupted(options: RigOptions = {}): Promise<CallRig> {
  const rig = await new CallRig(options).start();
  rig.model.answer(ANSWER).answers.push(() => never());
  await rig.says('When?');
  await rig.quiet(500);
  rig.ears.events.partial('no wait please');
  return rig;
}

describe('what was generated and not heard', () => {
  it('includes what a guardrail looks at in the moment of an interruption, and what waits behind that', async () => {
    const guardrail: Guardrail = (text) => (text === SENTENCES[1] ? new Promise(() => {}) : true);
    const rig = await interrupted({ guardrails: [guardrail] });
    expect(rig.turns).toMatchObject([{ interrupted: true }]);
    expect(rig.turns[0]?.agentText).not.toBe('');
    expect(whole(rig)).toBe(ANSWER);
    await rig.quiet(2000);
    expect(rig.voice.spoken).toEqual([SENTENCES[0]]);
  });

  it('includes it when nothing at all was heard, in the turn that goes on', async () => {
    const rig = await new CallRig({ guardrails: [() => new Promise(() => {})] }).start();
    rig.model.answer(ANSWER).answers.push(() => never());
    await rig.says('When?');
    await rig.quiet(200);
    await rig.says('And on Sunday?', 700);
    await rig.quiet(1000);
    rig.engine.close();
    expect(rig.turns).toMatchObject([{ agentText: '', agentTextUnheard: ANSWER }]);
  });

  it('includes what a guardrail has dropped, and not what it has said in other words', async () => {
    const guardrails: Guardrail[] = [
      (text) => text !== SENTENCES[0],
      (text) => (text === SENTENCES[1] ? 'On Saturday it is noon.' : true),
    ];
    const rig = await new CallRig({ guardrails }).start();
    rig.model.answer(ANSWER);
    await rig.says('When?');
    await rig.quiet(5000);
    expect(rig.turns).toMatchObject([
      { agentText: `On Saturday it is noon. ${SENTENCES[2]}`, agentTextUnheard: SENTENCES[0] },
    ]);
  });

  it('has what a guardrail has dropped where it stood, before, in and behind a piece', async () => {
    const said = [
      'No one.',
      'Hi.',
      'No two.',
      'We are open from eight to six.',
      'No three.',
      'Bye.',
      'No four.',
    ];
    const rig = await new CallRig({ guardrails: [(text) => !text.startsWith('No ')] }).start();
    rig.model.answers.push(async function* () {
      yield { type: 'text', delta: `${said.join(' ')} And` };
      await new Promise(() => {});
    });
    await rig.says('When?');
    await rig.quiet(200);
    expect(rig.voice.spoken).toEqual(['Hi. We are open from eight to six.']);
    await rig.quiet(400);
    rig.ears.events.partial('no wait please');
    const [turn] = rig.turns;
    expect(turn?.agentText).toMatch(/^Hi\. We are/);
    const rest = said[3]?.slice((turn?.agentText ?? '').length - 'Hi. '.length).trim();
    expect(turn?.agentTextUnheard).toBe(`No one. No two. ${rest} No three. Bye. No four. And`);
  });

  it('includes sentences that were never synthesized, and the one that is not yet complete', async () => {
    const rig = await new CallRig({}).start();
    rig.model.answers.push(async function* () {
      yield { type: 'text', delta: `${ANSWER} And then` };
      await new Promise(() => {});
    });
    await rig.says('When?');
    await rig.quiet(1000);
    rig.ears.events.partial('no wait please');
    expect(rig.voice.spoken).toHaveLength(2);
    expect(whole(rig)).toBe(`${ANSWER} And then`);
  });

  it('includes a sentence that the voice had no sound for', async () => {
    const voice = new FakeVoice();
    const session = voice.open();
    voice.open = () => ({
      ...session,
      async *synthesize(text: string) {
        if (text !== SENTENCES[0]) yield* session.synthesize(text);
      },
    });
    const rig = await new CallRig({ voice }).start();
    rig.model.answer(ANSWER);
    await rig.says('When?');
    await rig.quiet(5000);
    expect(rig.turns).toMatchObject([
      { agentText: `${SENTENCES[1]} ${SENTENCES[2]}`, agentTextUnheard: SENTENCES[0] },
    ]);
  });

  it('includes what was still to come when a failure was told instead', async () => {
    const rig = await new CallRig({ guardrails: [(text) => text !== SENTENCES[2]] }).start();
    rig.model.answer(`${ANSWER} `, 'And the end', new Error('broken'));
    await rig.says('When?');
    await rig.quiet(9000);
    const [turn] = rig.turns;
    expect(turn?.agentText).toMatch(/^We are open .* noon\. I am sorry/);
    expect(turn?.agentTextUnheard).toBe(`${SENTENCES[2]} And the end`);
  });

  it('is said after all when the interruption had no words, what the guardrails have not seen included', async () => {
    const seen: string[] = [];
    const guardrails: Guardrail[] = [
      async (text) => {
        if (seen.push(text) > 1 && seen.length < 4)
          await new Promise<void>((done) => void rig.clock.after(900, done));
        return true;
      },
    ];
    const rig: CallRig = new CallRig({ guardrails });
    await rig.start();
    rig.model.answer(ANSWER);
    await rig.says('When?');
    await rig.quiet(600);
    await rig.voiced(600);
    expect(seen).toEqual(SENTENCES);
    expect(rig.player.clears).toBe(1);
    await rig.quiet(9000);
    expect(rig.turns.at(-1)?.agentText).toBe(ANSWER);
  });

  it('is the audio that was at the carrier when the voice broke, and the carrier is cleared of it', async () => {
    const rig = new CallRig({ firstMessage: ANSWER });
    rig.voice.failOn = 'Saturday';
    await rig.start();
    await rig.quiet(3000);
    expect(rig.ended).toMatchObject([{ reason: 'provider-failed', failure: { untold: true } }]);
    expect(rig.player.clears).toBe(1);
    expect(rig.heardMs).toBeLessThan(100);
    expect(rig.turns).toMatchObject([{ agentText: '', agentTextUnheard: ANSWER }]);
  });
});
