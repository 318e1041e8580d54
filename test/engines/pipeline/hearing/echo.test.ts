import { describe, expect, it } from 'vitest';
import { ANSWER, answering, REST_OF_ANSWER } from '../../answering-rig.js';
import { CallRig, lateEars, MS_PER_CHAR, playing } from '../../call-rig.js';

describe('echo and care', () => {
  it.each([
    ['the agent’s words', 'open from eight to', 0],
    ['nearly the agent’s words', 'open fron eight to', 0],
    ['other words', 'no I meant Sunday', 1],
    ['a stop word', 'stop', 1],
  ])('hears %s over the agent', async (_, text, clears) => {
    const rig = await answering(1400);
    rig.ears.events.partial(text);
    await rig.quiet(20);
    expect(rig.player.clears).toBe(clears);
    if (clears === 0) expect(rig.transcript.filter(({ role }) => role === 'user')).toHaveLength(1);
  });

  it('takes an answer in the agent’s own words when it comes after them', async () => {
    const rig = await new CallRig({ firstMessage: 'Would you like red wine or white wine?' }).start();
    rig.model.answer('A good choice.');
    await rig.quiet(playing('Would you like red wine or white wine?') + 400);
    await rig.says('red wine or white wine');
    expect(rig.model.requests).toHaveLength(1);
  });

  it('goes on after an echo that was loud enough to interrupt', async () => {
    const rig = await answering(1500);
    await rig.voiced(500);
    expect(rig.player.clears).toBe(1);
    rig.ears.onFinish = () => rig.ears.events.final('eight to six on Saturday');
    await rig.quiet(600 + playing(ANSWER));
    expect(rig.model.requests).toHaveLength(1);
    expect(rig.turns.at(-1)).toMatchObject({ userText: '', agentText: REST_OF_ANSWER });
    expect(rig.transcript.filter(({ role }) => role === 'user')).toHaveLength(1);
  });

  it('does not stop for a sound that may be an echo by its level, but for words in it', async () => {
    // The voice of the rig is at 1000, and nothing is known of the caller's.
    const rig = await new CallRig({ ears: lateEars(), firstMessage: ANSWER }).start();
    await rig.quiet(1400);
    await rig.voiced(1500, 120);
    expect(rig.player.clears).toBe(0);
    rig.ears.events.partial('no I meant Sunday');
    expect(rig.player.clears).toBe(1);
    const deaf = await new CallRig({
      ears: lateEars(),
      firstMessage: ANSWER,
      turnTaking: { echoGuard: false },
    }).start();
    await deaf.quiet(1400);
    await deaf.voiced(1500, 120);
    expect(deaf.player.clears).toBe(1);
  });

  it('does not take a loud caller for one, who uses some of the agent’s words', async () => {
    const rig = await answering(1400);
    await rig.voiced(300);
    rig.ears.events.partial('open for ate to');
    expect(rig.player.clears).toBe(1);
  });

  it('answers a quiet caller who takes up words of the agent after it', async () => {
    const question = 'Would you like red wine or white wine?';
    const rig = await new CallRig({ firstMessage: question }).start();
    rig.model.answer('A good choice.');
    await rig.quiet(playing(question) + 100);
    await rig.voiced(400, 120);
    rig.ears.events.final('the white wine please');
    await rig.quiet(600);
    expect(rig.model.requests).toHaveLength(1);
  });

  it('listens to the echo where it is told to', async () => {
    const rig = await answering(1400, { turnTaking: { echoGuard: false } });
    rig.ears.events.partial('open from eight to');
    expect(rig.player.clears).toBe(1);
  });

  it.each([
    ['at the start of a call', { turnTaking: { carefulMs: 3000 } }, 1200],
    ['in the first second of an answer', {}, 320],
    ['in the last second of an answer', {}, ANSWER.length * MS_PER_CHAR - 900],
  ])('needs more than half a second of voice %s', async (_, options, ms) => {
    const rig = await answering(ms, options);
    await rig.voiced(600);
    await rig.quiet(20);
    expect(rig.player.clears).toBe(0);
  });

  it.each([
    ['yeah okay right', 0],
    ['yeah what', 0],
    ['yeah what about Sunday', 1],
    ['wait', 1],
  ])('weighs the words in the first second: %s', async (text, clears) => {
    const rig = await answering(400);
    rig.ears.events.partial(text);
    expect(rig.player.clears).toBe(clears);
  });

  it('lets a greeting finish that must be heard, and answers afterwards', async () => {
    const rig = await new CallRig({
      firstMessage: ANSWER,
      turnTaking: { interruptibleGreeting: false },
    }).start();
    rig.model.answer('Yes, I am.').answer('At six.');
    await rig.quiet(1500);
    await rig.says('Stop. Are you a machine?');
    expect(rig.player.clears).toBe(0);
    await rig.quiet(playing(ANSWER));
    expect(rig.turns[1]).toMatchObject({ userText: 'Stop. Are you a machine?' });
    await rig.says('stop');
    await rig.quiet(1000);
    expect(rig.model.requests).toHaveLength(2);
  });
});
