// The caller's one wait in a call that goes from one engine to the next: whoever is next has what is left of it.
import { describe, expect, it } from 'vitest';
import { Circuits } from '../../../src/providers/circuits.js';
import { FakeStages, FallbackRig, GONE } from '../fallback-rig.js';
import { FakeRealtimeModel } from '../realtime-rig.js';

/** Behind it there is no time for the carrier to be heard within five seconds. */
const LONGEST_WAIT_MS = 4600;

async function talking(...others: FakeRealtimeModel[]) {
  const first = new FakeRealtimeModel();
  const rig = new FallbackRig({ modes: [first, ...others] });
  await rig.start();
  first.ready();
  first.hears('Three loaves.');
  first.answers('At noon.');
  await rig.quiet(1000);
  return { first, rig };
}

describe('the wait of a caller', () => {
  it('goes on with an engine that is never ready', async () => {
    const [first, second] = [new FakeRealtimeModel(), new FakeRealtimeModel()];
    const rig = new FallbackRig({ modes: [first, second], firstMessage: 'Hello!' });
    await rig.start();
    await rig.wait(10_000);
    expect(second.context).toBeDefined();
    expect(rig.ended).toMatchObject([{ reason: 'provider-failed', at: 4500 }]);
  });

  it('goes on with an engine that is ready and does not answer, asked for it once', async () => {
    const second = new FakeRealtimeModel();
    const { first, rig } = await talking(second);
    await rig.voiced(400);
    await rig.quiet(2000);
    const finishedAt = rig.clock.now() - 2000;
    first.events.failed(GONE);
    await rig.wait(0);
    second.ready();
    await rig.wait(6000);
    expect(second.asked.slice(0, 1)).toEqual(['respond']);
    const [end] = rig.ended;
    const waitedMs = (end?.at ?? 0) - finishedAt;
    expect(end).toMatchObject({ reason: 'provider-failed', failure: { untold: true } });
    expect(waitedMs).toBeLessThanOrEqual(LONGEST_WAIT_MS);
    expect(end?.failure?.waitedMs).toBeGreaterThan(waitedMs - 100);
    expect(end?.failure?.waitedMs).toBeLessThanOrEqual(waitedMs);
  });

  it('begins anew where they said nothing, or had an answer', async () => {
    const second = new FakeRealtimeModel();
    const { first, rig } = await talking(second);
    await rig.quiet(4000);
    first.events.failed(GONE);
    await rig.wait(0);
    await rig.wait(4400);
    expect(rig.ended).toEqual([]);
    second.ready();
    await rig.wait(20_000);
    expect([second.asked, rig.ended]).toEqual([[], []]);
  });

  it('leaves a lost connection what is left of it to be made again', async () => {
    const second = new FakeRealtimeModel();
    const { first, rig } = await talking(second);
    await rig.voiced(400);
    await rig.quiet(2000);
    first.events.lost?.({ agoMs: 2000 });
    await rig.quiet(920);
    expect(second.context).toBeUndefined();
    await rig.quiet(40);
    expect(second.context).toBeDefined();
  });

  it('leaves no time for a third engine that two have taken, and some where the second failed at once', async () => {
    for (const isQuick of [false, true]) {
      const [second, third] = [new FakeRealtimeModel(), new FakeRealtimeModel()];
      const { first, rig } = await talking(second, third);
      first.hears('And the rye?');
      const finishedAt = rig.clock.now() - 500;
      await rig.wait(2600);
      if (isQuick) second.events.failed(GONE);
      await rig.wait(6000);
      expect(third.context !== undefined).toBe(isQuick);
      expect(rig.ended).toMatchObject([{ reason: 'provider-failed', failure: { untold: true } }]);
      expect((rig.ended[0]?.at ?? 0) - finishedAt).toBeLessThanOrEqual(LONGEST_WAIT_MS + 500);
    }
  });
});

describe('a language model that was given up', () => {
  /** Five callers whose words come `lateMs` after the last sound, of a model that answers after another second, or never. */
  async function isDistrusted(lateMs: number, answerMs: number): Promise<boolean> {
    let circuits: Circuits | undefined;
    const first = new FakeStages();
    for (let call = 0; call < 5; call += 1) {
      const second = new FakeRealtimeModel();
      const rig = new FallbackRig({
        modes: [first, second],
        circuits: (clock) => (circuits ??= new Circuits(clock)),
      });
      await rig.start();
      first.model.answers.push(async function* () {
        await new Promise<void>((resolve) => void rig.clock.after(answerMs, resolve));
        yield { type: 'text' as const, delta: 'It is ready.' };
      });
      await rig.voiced(400);
      await rig.quiet(lateMs);
      first.ears.events.final('And the rye?');
      await rig.quiet(4000);
      expect(second.context).toBeDefined();
    }
    return circuits?.isOpen(first.model) ?? false;
  }

  it('is not asked by other calls for a while, where it had its time', async () => {
    expect(await isDistrusted(300, 10_000)).toBe(true);
  });

  it('is asked by other calls, where the recognizer had taken its time', async () => {
    expect(await isDistrusted(2300, 1000)).toBe(false);
  });
});
