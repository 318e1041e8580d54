// What nobody has heard in a call that another engine takes over: who says nothing of it hangs, unless there was nothing; and an answer
// that is owed is not asked for twice.
import { describe, expect, it } from 'vitest';
import { setPhrasesFor } from '../../../src/engines/languages/set-phrases.js';
import { askedWith, GONE, modelThenStages, talkingToModel } from '../fallback-rig.js';

const { call: APOLOGY } = setPhrasesFor(undefined).apologies;

describe('a call of which nobody has heard the last', () => {
  it.each([
    [800, 'is given up when a recognizer has no word on what nobody has heard'],
    [400, 'listens on when a recognizer has no word on what may be a cough'],
  ])('with a sound of %i ms %s', async (soundMs) => {
    const { first, second, rig } = await talkingToModel();
    await rig.voiced(soundMs);
    await rig.quiet(2900);
    first.events.failed(GONE);
    await rig.wait(1699);
    expect(second.voice.spoken).toEqual([]);
    await rig.wait(50);
    const isSpeech = soundMs > 400;
    expect(second.voice.spoken.join(' ')).toBe(isSpeech ? APOLOGY : '');
    await rig.wait(6000);
    const failure = { message: 'The recognizer does not answer.', stage: 'stt' };
    expect(rig.ended).toMatchObject(isSpeech ? [{ reason: 'provider-failed', failure }] : []);
  });

  it('takes what a recognizer gives for want of an answer for no answer', async () => {
    const { first, second, rig } = await talkingToModel();
    first.events.failed(GONE);
    await rig.wait(100);
    second.ears.onFinish = () => {
      second.ears.events.unanswered?.();
      second.ears.events.final('');
    };
    await rig.voiced(800);
    await rig.quiet(4500);
    expect(second.voice.spoken).toEqual([]);
    await rig.quiet(200);
    expect(second.voice.spoken.join(' ')).toBe(APOLOGY);
  });

  it('keeps a recognizer that has said something before, though it does not answer', async () => {
    const { first, second, rig } = await talkingToModel();
    first.events.failed(GONE);
    await rig.wait(100);
    second.model.answer('Ten dollars.');
    await rig.says(second, 'What is it?');
    await rig.quiet(1000);
    second.ears.onFinish = () => {
      second.ears.events.unanswered?.();
      second.ears.events.final('');
    };
    await rig.voiced(800);
    await rig.quiet(6000);
    expect(rig.ended).toEqual([]);
  });

  it('is asked nothing twice: words that come again are waited for, new ones cut an answer off', async () => {
    const { first, second, rig } = await talkingToModel();
    second.model.answer('Ten dollars.');
    first.events.speechStarted();
    await rig.voiced(800);
    first.events.interrupted();
    first.events.speechEnded({ itemId: 'u9', agoMs: 0 });
    await rig.quiet(3000);
    expect(second.model.requests).toEqual([]);
    second.ears.events.final('What is it?');
    await rig.quiet(2000);
    expect(second.model.requests).toHaveLength(1);
    expect(askedWith(second).at(-1)).toBe('user: What is it?');
    expect(rig.said.at(-1)).toEqual(['What is it?', 'Ten dollars.']);
  });

  it('hears nothing again of which the words have come, whenever the speech began', async () => {
    const { first, second, rig } = await talkingToModel();
    let voiced = 0;
    const open = second.ears.open.bind(second.ears);
    second.ears.open = (context) => ({
      ...open(context),
      pushAudio(frame) {
        if (frame[0] !== 0) voiced += 1;
      },
    });
    second.model.answer('One dollar.');
    first.events.speechStarted();
    await rig.voiced(1000);
    first.events.speechEnded({ itemId: 'u9', agoMs: 0 });
    await rig.quiet(500);
    first.events.userText({ itemId: 'u9', text: 'And the rye?', final: true });
    await rig.quiet(4000);
    expect([voiced, second.model.requests.length]).toEqual([0, 1]);
    expect(askedWith(second).at(-1)).toBe('user: And the rye?');
  });

  it('owes an answer that a sound from before does not cut off, and words do', async () => {
    const { first, second, rig } = await talkingToModel();
    const slow = async function* () {
      await new Promise<void>((resolve) => void rig.clock.after(1500, resolve));
      yield { type: 'text' as const, delta: 'Ten dollars.' };
    };
    second.model.answers.push(slow, slow);
    first.hears('What is it?');
    first.events.lost?.();
    await rig.voiced(800);
    await rig.quiet(600);
    first.events.failed(GONE);
    await rig.quiet(800);
    expect(second.model.requests).toHaveLength(1);
    expect(second.model.requests[0]?.signal.aborted).toBe(false);
    second.ears.events.final('And the rye?');
    expect(second.model.requests[0]?.signal.aborted).toBe(true);
    await rig.quiet(3500);
    expect(askedWith(second).at(-1)).toBe('user: What is it? And the rye?');
    expect(rig.said.at(-1)).toEqual(['And the rye?', 'Ten dollars.']);
  });

  it('waits for the recognizer that has heard that there was nothing', async () => {
    const { first, second, rig } = await talkingToModel();
    await rig.voiced(400);
    await rig.quiet(2900);
    first.events.failed(GONE);
    await rig.wait(500);
    second.ears.events.final('');
    await rig.wait(5000);
    expect(rig.ended).toEqual([]);
  });

  it.each([true, false])(
    'is asked nothing before it has heard the question (transcribed: %s)',
    async (isTranscribed) => {
      const { first, second, rig } = modelThenStages();
      first.transcribesCaller = isTranscribed;
      await rig.start();
      first.ready();
      first.hears('Three loaves.');
      first.answers('At noon.');
      await rig.quiet(1000);
      second.model.answer('Ten dollars.');
      first.events.speechStarted();
      await rig.voiced(600);
      await rig.quiet(500);
      first.events.speechEnded({ itemId: 'u9', agoMs: 500 });
      await rig.quiet(300);
      first.events.failed(GONE);
      await rig.quiet(300);
      expect(second.model.requests).toEqual([]);
      second.ears.events.final('What is it?');
      await rig.quiet(5000);
      expect(askedWith(second).at(-1)).toBe('user: What is it?');
      expect(second.model.requests).toHaveLength(1);
      expect(rig.said.at(-1)).toEqual(['What is it?', 'Ten dollars.']);
    },
  );
});
