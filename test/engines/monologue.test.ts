import { describe, expect, it } from 'vitest';
import { CallRig } from './call-rig.js';

const ANSWER = 'Let me stop you here for a moment. I have understood so far that you want a table.';

/** A caller who talks for `seconds`, two words in each of them, which the recognizer gives in pieces of ten seconds. */
async function talk(rig: CallRig, seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second += 1) {
    await rig.voiced(1000);
    const piece = Array.from({ length: (second % 10) + 1 }, (_, at) => `blah${second - at} blah`).join(' ');
    if (second % 10 === 9) rig.ears.events.final(`${piece}.`);
    else rig.ears.events.partial(piece);
  }
}

describe('a monologue', () => {
  it('is answered after a minute, in its next short pause, though the caller goes on at once', async () => {
    const rig = await new CallRig({}).start();
    rig.model.answer(ANSWER).answer('Yes.');
    await talk(rig, 61);
    expect(rig.model.requests).toHaveLength(0);
    await rig.quiet(220);
    await talk(rig, 3);
    expect(rig.model.requests).toHaveLength(1);
    expect(rig.heardMs).toBeGreaterThan(500);
  });

  it('is answered after one and a half in any case, into what the caller says', async () => {
    const rig = await new CallRig({}).start();
    rig.model.answer(ANSWER).answer('Yes.');
    await talk(rig, 89);
    expect(rig.model.requests).toHaveLength(0);
    await talk(rig, 3);
    expect(rig.model.requests).toHaveLength(1);
    expect(rig.voice.spoken[0]).toBe('Let me stop you here for a moment.');
    expect(rig.heardMs).toBeGreaterThan(500);
    expect(rig.player.clears).toBe(0);
  });

  it('goes on with the next turn when the caller stops, its last words included', async () => {
    const rig = await new CallRig({}).start();
    rig.model.answer(ANSWER).answer('A table for two.');
    await talk(rig, 90);
    await rig.voiced(600);
    rig.ears.events.final('and that is all.');
    await rig.quiet(9000);
    expect(rig.turns).toMatchObject([
      { agentText: ANSWER, interrupted: false },
      { userText: 'and that is all.', agentText: 'A table for two.' },
    ]);
    expect(rig.turns[0]?.userText.split(' ').length).toBeGreaterThan(150);
  });

  it('can be gone on with by a caller who insists', async () => {
    const rig = await new CallRig({}).start();
    rig.model.answer(ANSWER).answer('Yes.');
    await talk(rig, 90);
    await talk(rig, 5);
    expect(rig.player.clears).toBe(1);
    const [turn] = rig.turns;
    expect(turn).toMatchObject({ interrupted: true });
    // The caller had two seconds to notice.
    expect(turn?.agentText.length).toBeGreaterThan(20);
  });
});
