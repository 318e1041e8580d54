// What is no wait of the caller: a hold, and a sound that a model which works has left alone.
import { describe, expect, it } from 'vitest';
import { FakeStages, FallbackRig, GONE } from '../fallback-rig.js';
import { FakeRealtimeModel } from '../realtime-rig.js';

const ANSWER = 'It is ready.';

function hangs({ model }: FakeStages): void {
  model.answers.push(async function* () {
    yield* [];
    await new Promise(() => {});
  });
}

function fails({ model }: FakeStages): void {
  model.answers.push(async function* () {
    yield* [];
    throw GONE;
  });
}

describe('a hold', () => {
  it.each([0, 60_000])('of %i ms takes nothing of the time of who goes on behind it', async (holdMs) => {
    const [first, second] = [new FakeStages(), new FakeStages()];
    const rig = await new FallbackRig({ modes: [first, second] }).start();
    hangs(first);
    await rig.says(first, 'And the rye?');
    rig.engine.hold();
    await rig.wait(holdMs);
    fails(first);
    second.model.answers.push(async function* () {
      await new Promise<void>((resolve) => void rig.clock.after(1700, resolve));
      yield { type: 'text', delta: ANSWER };
    });
    rig.engine.resume('continue');
    await rig.quiet(6000);
    expect([rig.ended, rig.said.at(-1)?.[1]]).toEqual([[], ANSWER]);
  });

  it('leaves the time for a third engine', async () => {
    const [first, second, third] = [new FakeStages(), new FakeStages(), new FakeStages()];
    const rig = await new FallbackRig({ modes: [first, second, third] }).start();
    hangs(first);
    await rig.says(first, 'And the rye?');
    rig.engine.hold();
    await rig.wait(20_000);
    fails(first);
    fails(second);
    third.model.answer(ANSWER);
    rig.engine.resume('continue');
    await rig.quiet(6000);
    expect([rig.ended, rig.said.at(-1)?.[1]]).toEqual([[], ANSWER]);
  });
});

describe('a noise that a model leaves alone', () => {
  it('takes nothing of the time that another connection of it has', async () => {
    const [first, second] = [new FakeRealtimeModel(), new FakeRealtimeModel()];
    const rig = await new FallbackRig({ modes: [first, second] }).start();
    first.ready();
    first.hears('Three loaves.');
    first.answers('At noon.');
    await rig.quiet(1000);
    await rig.voiced(200);
    await rig.quiet(3000);
    first.events.lost?.({ agoMs: 0 });
    await rig.quiet(600);
    first.events.reconnected?.({ gapMs: 600, isPlanned: true });
    await rig.quiet(1000);
    expect([second.context, rig.replacements]).toEqual([undefined, []]);
  });
});
