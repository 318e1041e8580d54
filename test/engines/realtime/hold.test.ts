import { describe, expect, it } from 'vitest';
import { RealtimeRig } from '../realtime-rig.js';

const FRAME = new Int16Array(320).fill(100);

describe('a hold', () => {
  it('silences the agent, and what it cut off is taken up again', async () => {
    const rig = new RealtimeRig().start();
    rig.model.answers('One two three four five six.');
    await rig.wait(500);
    rig.engine.hold();
    expect(rig.player.clears).toBe(1);
    rig.engine.pushAudio(FRAME);
    expect(rig.model.audioBytes).toBe(0);
    rig.engine.resume('continue');
    expect(rig.model.asked.at(-1)).toBe('respond');
  });

  it.each([true, false])('that ends with news has them told; cut off an answer: %s', async (isBusy) => {
    const rig = new RealtimeRig().start();
    if (isBusy) rig.model.answers('One two three four five six.');
    await rig.wait(500);
    rig.engine.hold();
    await rig.wait(100);
    rig.model.asked.length = 0;
    rig.engine.resume({ news: 'The line is busy.' });
    expect(rig.model.asked).toEqual(['say The line is busy.']);
    rig.model.answers('The line is busy.');
    await rig.wait(2000);
    expect(rig.turns.at(-1)).toMatchObject({ agentText: 'The line is busy.', interrupted: false });
  });

  it('leaves a greeting as uninterruptible as it was', async () => {
    const rig = new RealtimeRig({ firstMessage: 'Hello!', turnTaking: { interruptibleGreeting: false } });
    rig.start();
    rig.model.begins('Hello!');
    await rig.wait(100);
    rig.engine.hold();
    await rig.wait(100);
    rig.model.asked.length = 0;
    rig.engine.resume('continue');
    expect(rig.model.asked).toEqual(['interruptible false', 'say Hello!']);
    rig.model.answers('Hello!');
    await rig.wait(100);
    rig.engine.pushDtmf('1');
    rig.model.events.speechEnded({ itemId: 'u1', agoMs: 0 });
    expect(rig.model.asked.slice(2)).toEqual([]);
    await rig.wait(1000);
    expect(rig.model.asked.slice(2)).toEqual(['interruptible true', 'respond']);
    expect(rig.turns.at(-1)).toMatchObject({ agentText: 'Hello!', interrupted: false });
  });

  it('leaves a greeting to be interrupted that was so before', () => {
    const rig = new RealtimeRig({ firstMessage: 'Hello!' }).start();
    rig.engine.hold();
    rig.engine.resume('continue');
    expect(rig.model.asked).not.toContain('interruptible false');
    expect(rig.model.asked.at(-1)).toBe('say Hello!');
  });

  it('lets a call end with the goodbye to a silent caller that it cut off', async () => {
    const idle = { afterMs: 1000, prompts: [], goodbye: 'Goodbye.' };
    const rig = new RealtimeRig({ idle }).start();
    await rig.wait(1000);
    rig.model.begins('Goodbye.');
    await rig.wait(100);
    rig.engine.hold();
    rig.engine.resume('continue');
    rig.model.answers('Goodbye.');
    await rig.wait(1000);
    expect(rig.ended).toMatchObject([{ reason: 'idle' }]);
  });

  it('lets no response be heard that begins in it', async () => {
    const rig = new RealtimeRig().start();
    rig.model.hears('Hello?');
    rig.engine.hold();
    rig.model.answers('Yes?');
    await rig.wait(1000);
    expect(rig.heardMs).toBe(0);
    rig.engine.resume('continue');
    expect(rig.model.asked.at(-1)).toBe('respond');
  });
});
