import { describe, expect, it, vi } from 'vitest';
import { ANSWER, GREETING } from '../answering-rig.js';
import { lexiconFor } from '../../../src/engines/languages/lexicon.js';
import * as history from '../../../src/conversation/history.js';
import { CallRig, lateEars, MS_PER_CHAR, playing } from '../call-rig.js';

describe('barge-in', () => {
  it('takes no look at the whole conversation for a word of the caller', async () => {
    const rig = await new CallRig({}).start();
    rig.model.answer(ANSWER);
    await rig.says('When?');
    await rig.quiet(1500);
    const looks = vi.spyOn(history, 'toolsIn');
    rig.ears.events.partial('Hm');
    rig.ears.events.partial('Hm hm');
    await rig.voiced(100);
    expect(looks).not.toHaveBeenCalled();
    looks.mockRestore();
  });

  it('stops the agent in one tick and keeps only the words that were heard', async () => {
    const rig = await new CallRig({}).start();
    rig.model.answer(ANSWER).answer('All right, tell me then.');
    await rig.says('When?');
    await rig.quiet(1000);
    await rig.voiced(500);
    expect(rig.player.clears).toBe(1);
    expect(rig.player.aheadMs).toBe(0);
    rig.ears.events.partial('one question');
    expect(rig.model.requests[0]?.signal.aborted).toBe(true);
    const [turn] = rig.turns;
    expect(turn?.interrupted).toBe(true);
    expect(ANSWER.startsWith(turn?.agentText ?? 'nothing')).toBe(true);
    expect(`${turn?.agentText} ${turn?.agentTextUnheard}`).toBe(ANSWER);
    // What was heard at 50 ms a character, cut at a word.
    const heardChars = rig.heardMs / MS_PER_CHAR;
    expect(turn?.agentText.length).toBeLessThanOrEqual(heardChars + 1);
    expect(turn?.agentText.length).toBeGreaterThan(heardChars - 10);
    const said = rig.transcript.findLast(({ role }) => role === 'agent');
    expect(said).toMatchObject({ text: turn?.agentText, final: true, interrupted: true });

    const heard = rig.heardMs;
    rig.ears.events.final('One question.');
    await rig.quiet(600);
    expect(rig.model.requests[1]?.messages).toEqual([
      { role: 'user', content: 'When?' },
      { role: 'assistant', content: turn?.agentText },
      { role: 'user', content: 'One question.' },
    ]);
    await rig.quiet(4000);
    // Nothing but the new answer was heard after the cut.
    expect(rig.heardMs - heard).toBeCloseTo('All right, tell me then.'.length * MS_PER_CHAR, -2);
  });

  it.each([
    ['two words', 'what about', 1],
    ['a stop word', 'stop', 1],
    ['a sign of listening', 'mm-hm', 0],
    ['agreement', 'okay', 0],
  ])('decides by the words: %s', async (_, text, clears) => {
    const rig = await new CallRig({ firstMessage: ANSWER }).start();
    await rig.quiet(500);
    await rig.voiced(200);
    rig.ears.events.partial(text);
    await rig.quiet(20);
    expect(rig.player.clears).toBe(clears);
  });

  it('goes on speaking over a mumble and a backchannel, which are no turns', async () => {
    const rig = await new CallRig({ ears: lateEars(), firstMessage: ANSWER }).start();
    await rig.quiet(500);
    await rig.voiced(200);
    await rig.quiet(800);
    await rig.voiced(200);
    rig.ears.events.final('yeah');
    await rig.quiet(playing(ANSWER));
    expect(rig.player.clears).toBe(0);
    expect(rig.turns).toHaveLength(1);
    expect(rig.turns[0]).toMatchObject({ agentText: ANSWER, interrupted: false });
    expect(rig.model.requests).toHaveLength(0);
  });

  it('goes on with the sentence that was cut, when the sound that cut it off had no words', async () => {
    const rig = await new CallRig({ ears: lateEars(), firstMessage: ANSWER }).start();
    await rig.quiet(900);
    await rig.voiced(600);
    expect(rig.player.clears).toBe(1);
    await rig.quiet(2600 + playing(ANSWER));
    expect(rig.turns).toHaveLength(2);
    expect(rig.turns[0]?.agentText).toBe('We are open from eight to');
    expect(rig.turns[1]).toMatchObject({ agentText: ANSWER, interrupted: false });
  });

  it('merges what is said before the answer sounds, and leaves no trace of that answer', async () => {
    const rig = await new CallRig({}).start();
    rig.model.answers.push(async function* () {
      await new Promise(() => {});
      yield { type: 'text', delta: 'never' };
    });
    rig.model.answer('Two tables, certainly.');
    await rig.says('A table for two.');
    await rig.voiced(300);
    expect(rig.model.requests[0]?.signal.aborted).toBe(true);
    rig.ears.events.final('No, two tables.');
    await rig.quiet(3000);
    expect(rig.model.requests[1]?.messages).toEqual([
      { role: 'user', content: 'A table for two. No, two tables.' },
    ]);
    expect(rig.turns).toHaveLength(1);
    expect(rig.turns[0]).toMatchObject({
      userText: 'A table for two. No, two tables.',
      agentText: 'Two tables, certainly.',
    });
    expect(rig.transcript.map((entry) => [entry.role, entry.turnIndex])).toEqual([
      ['user', 0],
      ['user', 0],
      ['agent', 0],
    ]);
  });

  it('ignores everything that comes late from a stage that was stopped', async () => {
    const rig = await new CallRig({}).start();
    let late: (() => void) | undefined;
    rig.model.answers.push(async function* () {
      yield { type: 'text', delta: 'This is the first sentence. ' };
      await new Promise<void>((resolve) => {
        late = resolve;
      });
      yield { type: 'text', delta: 'This is the late sentence.' };
      yield { type: 'end-call' };
    });
    rig.model.answer('Fresh answer to you.');
    await rig.says('Go.');
    await rig.quiet(400);
    await rig.voiced(500);
    rig.ears.events.partial('something');
    late?.();
    await rig.quiet(20);
    rig.ears.events.final('Something else.');
    await rig.quiet(3000);
    expect(rig.voice.spoken).toEqual(['This is the first sentence.', 'Fresh answer to you.']);
    expect(rig.ended).toEqual([]);
  });

  it('lets the agent finish where it may not be interrupted, and answers afterwards', async () => {
    const rig = await new CallRig({ firstMessage: GREETING, interruptible: false }).start();
    rig.model.answer('You said something.');
    await rig.quiet(300);
    await rig.says('Please be quiet now.', 600);
    expect(rig.player.clears).toBe(0);
    await rig.quiet(playing(GREETING) + 2000);
    expect(rig.turns[0]).toMatchObject({ agentText: GREETING, interrupted: false });
    expect(rig.turns[1]).toMatchObject({
      userText: 'Please be quiet now.',
      agentText: 'You said something.',
    });
  });
});

/** Words that the recognizer writes while they are said, and its last word on them after the sound. */
async function murmurs(rig: CallRig, text: string, { ms, interim }: { ms: number; interim: boolean }) {
  await rig.voiced(ms);
  if (interim) for (let end = 1; end < text.length; end += 3) rig.ears.events.partial(text.slice(0, end));
  await rig.quiet(200);
  rig.ears.events.final(text);
}

describe('a sign of listening', () => {
  const languages = ['en', 'de', 'es', 'fr', 'it', 'pt', 'nl', 'sv'];

  it.each(
    languages.flatMap((language) =>
      [true, false].flatMap((interim) => [700, 1400].map((ms) => [language, interim, ms] as const)),
    ),
  )('is never an interruption (%s, interim %s, %i ms)', async (language, interim, ms) => {
    for (const sign of [...lexiconFor(language).backchannels, 'mm-hmm'].slice(-3)) {
      const rig = await new CallRig({ firstMessage: ANSWER, language }).start();
      await rig.quiet(1500);
      await murmurs(rig, `${sign}, ${sign}`, { ms, interim });
      await rig.quiet(20);
      expect(rig.player.aheadMs, sign).toBeGreaterThan(0);
      await rig.quiet(playing(ANSWER));
      expect(rig.turns, sign).toMatchObject([{ agentText: ANSWER, interrupted: false }]);
      // Said once, from the first word to the last.
      expect(Math.abs(rig.heardMs - ANSWER.length * MS_PER_CHAR), sign).toBeLessThan(120);
      expect(rig.model.requests, sign).toEqual([]);
      rig.engine.close();
    }
  });

  it('costs neither the rest that the model has not given yet nor a tool', async () => {
    const rig = await new CallRig({}).start();
    rig.model.answers.push(async function* () {
      yield { type: 'text', delta: 'We are open from eight to six. ' };
      await new Promise<void>((resolve) => rig.clock.after(1500, resolve));
      yield { type: 'text', delta: 'On Saturday we close at noon.' };
    });
    await rig.says('When?');
    await rig.quiet(500);
    await murmurs(rig, 'mm-hmm', { ms: 700, interim: false });
    await rig.quiet(6000);
    expect(rig.turns).toMatchObject([
      { agentText: 'We are open from eight to six. On Saturday we close at noon.', interrupted: false },
    ]);
    expect(rig.model.requests).toHaveLength(1);
  });

  it('of which more comes is what the caller says', async () => {
    const rig = await new CallRig({ firstMessage: ANSWER }).start();
    rig.model.answer('On Sunday, too.');
    await rig.quiet(1500);
    await rig.voiced(700);
    rig.ears.events.partial('yeah');
    await rig.voiced(300);
    rig.ears.events.final('yeah and on Sunday?');
    await rig.quiet(600);
    expect(rig.turns).toMatchObject([{ interrupted: true }]);
    expect(rig.model.requests[0]?.messages.at(-1)).toEqual({ role: 'user', content: 'yeah and on Sunday?' });
  });

  it('does not leave the agent silent where it is the last that is heard of the caller', async () => {
    const rig = await new CallRig({ ears: lateEars(), firstMessage: ANSWER, idle: undefined }).start();
    await rig.quiet(1500);
    await rig.voiced(700);
    rig.ears.events.partial('okay');
    // No frame comes any more.
    await rig.clock.advanceAsync(4000 + playing(ANSWER));
    expect(rig.turns).toMatchObject([{ agentText: ANSWER, interrupted: false }]);
  });
});

describe('a sound without words, where words come while they are said', () => {
  const LOUD = 5000;
  const isAt = (dB: number) => LOUD * 10 ** (dB / 20);

  /** The agent answers a caller whose words were that loud. */
  async function answering(): Promise<CallRig> {
    const rig = await new CallRig({}).start();
    rig.model.answer(`${ANSWER} ${ANSWER}`).answer('Very well.');
    await rig.says('When?');
    await rig.quiet(1500);
    return rig;
  }

  it('interrupts nobody before the caller has said a word, which does', async () => {
    const rig = await new CallRig({ firstMessage: `${ANSWER} ${ANSWER}` }).start();
    await rig.quiet(1500);
    await rig.voiced(1500, 20_000);
    expect(rig.player.clears).toBe(0);
    rig.ears.events.partial('what about');
    expect(rig.player.clears).toBe(1);
  });

  it.each([-6, -10, -15, -25])('interrupts nobody where it is quieter than the caller: %i dB', async (dB) => {
    const rig = await answering();
    for (let count = 0; count < 3; count += 1) {
      await rig.voiced(700, isAt(dB));
      await rig.quiet(300);
    }
    expect(rig.player.clears).toBe(0);
  });

  it.each([-4, 0, 6])('silences the agent within half a second where it is as loud: %i dB', async (dB) => {
    const rig = await answering();
    await rig.voiced(460, isAt(dB));
    expect(rig.player.clears).toBe(0);
    await rig.voiced(40, isAt(dB));
    expect(rig.player.clears).toBe(1);
  });

  it.each([0, -6, -15, -30])('becomes an interruption with the first two words: %i dB', async (dB) => {
    const rig = await answering();
    await rig.voiced(300, isAt(dB));
    rig.ears.events.partial('what about');
    expect([rig.player.clears, rig.player.aheadMs]).toEqual([1, 0]);
  });
});

describe('an answer that sounds without words have cut', () => {
  const LONG = Array.from({ length: 12 }, (_, at) => `This is sentence ${at + 1} of a long answer.`).join(
    ' ',
  );

  /** The first of them; each of the others is half as loud again. */
  const COUGH = 1200;

  /** The agent has been cut `times` by coughs, and goes on. */
  async function coughedAt(times: number): Promise<CallRig> {
    const rig = await new CallRig({ ears: lateEars(), firstMessage: LONG }).start();
    rig.model.answer('Very well.');
    for (let cough = 1; cough <= times; cough += 1) {
      await rig.quiet(1000);
      await rig.voiced(600, COUGH * 1.5 ** cough);
      expect(rig.player.clears).toBe(cough);
      rig.ears.events.final('');
      await rig.quiet(2600);
      expect(rig.player.aheadMs).toBeGreaterThan(0);
    }
    return rig;
  }

  const times = [1, 2, 3, 4, 5, 8];

  it.each(
    times.flatMap((count) =>
      ['stop', 'wait, please stop', 'I would like to say something', 'halt', 'arrête maintenant'].map(
        (text) => [count, text] as const,
      ),
    ),
  )('%i times stops for words: "%s"', async (count, text) => {
    const rig = await coughedAt(count);
    await rig.voiced(300);
    rig.ears.events.partial(text);
    await rig.quiet(20);
    expect(rig.player.aheadMs).toBe(0);
    rig.ears.events.final(text);
    await rig.quiet(1000);
    expect(rig.model.requests.at(-1)?.messages.at(-1)).toEqual({ role: 'user', content: text });
  });

  it('three times stops for a word that is in no list, when the caller has gone quiet', async () => {
    const rig = await coughedAt(3);
    await rig.voiced(300);
    rig.ears.events.final('Aufhören');
    await rig.quiet(1200);
    expect(rig.model.requests).toHaveLength(1);
  });

  it('is not cut by such a sound again for a minute, and by a louder one it is', async () => {
    const rig = await coughedAt(1);
    for (let more = 0; more < 5; more += 1) {
      await rig.voiced(700, COUGH * 1.5);
      await rig.quiet(1500);
    }
    expect(rig.player.clears).toBe(1);
    await rig.voiced(700, COUGH * 3);
    expect(rig.player.clears).toBe(2);
  });

  it('is cut by a caller as loud as such a sound, with words', async () => {
    const rig = await coughedAt(1);
    await rig.voiced(300, COUGH);
    rig.ears.events.partial('I would like');
    expect(rig.player.aheadMs).toBe(0);
  });
});
