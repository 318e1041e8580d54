import { describe, expect, it } from 'vitest';
import { ANSWER } from './answering-rig.js';
import { CallRig, playing } from './call-rig.js';

describe('a silent caller', () => {
  const idle = { afterMs: 10_000, prompts: ['Are you there?', 'Hello?'], goodbye: 'Goodbye then.' };

  it('is asked, asked again, and let go', async () => {
    const rig = await new CallRig({ firstMessage: 'Hi.', idle }).start();
    await rig.quiet(10_100);
    expect(rig.voice.spoken).toEqual(['Hi.']);
    await rig.quiet(5000);
    expect(rig.voice.spoken).toEqual(['Hi.', 'Are you there?']);
    await rig.quiet(11_000);
    expect(rig.voice.spoken.at(-1)).toBe('Hello?');
    expect(rig.ended).toEqual([]);
    await rig.quiet(11_500);
    expect(rig.turns.map(({ agentText }) => agentText)).toEqual([
      'Hi.',
      'Are you there?',
      'Hello?',
      'Goodbye then.',
    ]);
    expect(rig.ended).toMatchObject([{ reason: 'idle', failure: undefined }]);
  });

  it('is asked when an onMessage has said nothing, counted from the end of that turn', async () => {
    const rig = await new CallRig({ onMessage: () => '', idle }).start();
    await rig.says('Hello?');
    expect(rig.turns).toMatchObject([{ userText: 'Hello?', agentText: '' }]);
    await rig.quiet(9000);
    expect(rig.voice.spoken).toEqual([]);
    await rig.quiet(1500);
    expect(rig.voice.spoken).toEqual(['Are you there?']);
  });

  it('counts from the end of playback, and afresh after a word', async () => {
    const rig = await new CallRig({ firstMessage: ANSWER, idle }).start();
    rig.model.answer('At six.');
    await rig.quiet(playing(ANSWER) + 9500);
    expect(rig.voice.spoken).not.toContain('Are you there?');
    await rig.quiet(1500);
    expect(rig.voice.spoken.at(-1)).toBe('Are you there?');
    await rig.says('When do you close?');
    await rig.quiet(11_000);
    expect(rig.voice.spoken.slice(-2)).toEqual(['At six.', 'Are you there?']);
  });

  it('is not asked while the agent thinks, and not on hold', async () => {
    const rig = await new CallRig({ idle }).start();
    rig.engine.hold();
    await rig.quiet(30_000);
    expect(rig.voice.spoken).toEqual([]);
    rig.engine.resume('listen');
    await rig.quiet(10_500);
    expect(rig.voice.spoken).toEqual(['Are you there?']);
  });

  it('is asked in spite of a sound that never ends and has no words', async () => {
    const rig = await new CallRig({ idle }).start();
    await rig.voiced(21_000);
    expect(rig.voice.spoken).toContain('Are you there?');
  });

  it('may still interrupt the goodbye', async () => {
    const rig = await new CallRig({ idle: { ...idle, prompts: [], goodbye: ANSWER } }).start();
    rig.model.answer('I thought so.');
    await rig.quiet(11_500);
    await rig.says('Wait, I am here.');
    await rig.quiet(3000);
    expect(rig.ended).toEqual([]);
    expect(rig.turns.at(-1)).toMatchObject({ agentText: 'I thought so.' });
  });
});
