// With the detector that real calls have: what is speech over the agent, and what is not.
import { describe, expect, it } from 'vitest';
import { makeSpeechTones } from '../../src/testing/index.js';
import { CallRig, lateEars, MS_PER_CHAR } from './call-rig.js';

const LONG = 'We are open from eight to six. On Saturday we close at noon. Come whenever you like.';

/** Two tones of a key. Source: ITU-T Q.23. */
function keyTone(ms: number): Int16Array {
  return Int16Array.from(
    { length: ms * 16 },
    (_, at) =>
      7000 * (Math.sin((2 * Math.PI * 770 * at) / 16_000) + Math.sin((2 * Math.PI * 1336 * at) / 16_000)),
  );
}

function whiteNoise(ms: number): Int16Array {
  let state = 1;
  return Int16Array.from({ length: ms * 16 }, () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return (state / 0x7fffffff - 0.5) * 6000;
  });
}

async function hear(rig: CallRig, sound: Int16Array): Promise<void> {
  for (let at = 0; at + 320 <= sound.length; at += 320) {
    await rig.clock.advanceAsync(20);
    rig.engine.pushAudio(sound.subarray(at, at + 320));
    await rig.clock.advanceAsync(0);
  }
}

describe('sound over the agent', () => {
  it.each([
    ['speech', makeSpeechTones(2000), 1],
    ['the tones of keys', keyTone(2000), 0],
    ['a click', keyTone(20), 0],
  ])('%s', async (_, sound, clears) => {
    const rig = await new CallRig({
      ears: lateEars(),
      firstMessage: LONG,
      turnTaking: { keysInterrupt: false },
    }).start();
    await hear(rig, new Int16Array(16_000));
    await hear(rig, sound);
    expect(rig.player.clears).toBe(clears);
    rig.engine.close();
  });

  it('without words, like noise that sets in, costs the agent a pause at most: everything is said', async () => {
    const rig = await new CallRig({ ears: lateEars(), firstMessage: LONG }).start();
    await hear(rig, new Int16Array(16_000));
    await hear(rig, whiteNoise(2000));
    await hear(rig, new Int16Array(16 * (3000 + LONG.length * MS_PER_CHAR)));
    expect(rig.turns.at(-1)).toMatchObject({ interrupted: false });
    expect(rig.turns.at(-1)?.agentText).toMatch(/Come whenever you like\.$/);
    expect(rig.model.requests).toEqual([]);
  });

  it('of a key that is told beside its tone is that key once, and no word', async () => {
    const rig = await new CallRig({
      ears: lateEars(),
      firstMessage: LONG,
      turnTaking: { keysInterrupt: false },
    }).start();
    rig.model.answer('You chose five.');
    await hear(rig, new Int16Array(16_000));
    rig.engine.pushDtmf('5');
    await hear(rig, keyTone(500));
    await hear(rig, new Int16Array(LONG.length * MS_PER_CHAR * 16));
    await hear(rig, new Int16Array(48_000));
    expect(rig.player.clears).toBe(0);
    expect(rig.turns).toMatchObject([
      { agentText: LONG },
      { userText: 'The caller pressed 5', agentText: 'You chose five.' },
    ]);
  });
});
