// What the wait of a caller leaves to an engine that takes the call over.
import { describe, expect, it } from 'vitest';
import { FakeStages, FallbackRig, GONE, modelThenStages } from './fallback-rig.js';

/** The next answer of `stages` takes `ms`. */
function thinks(rig: FallbackRig, { model }: FakeStages, ms: number): void {
  model.answers.push(async function* () {
    await new Promise<void>((done) => void rig.clock.after(ms, () => done()));
    yield { type: 'text', delta: 'We close at six.' };
  });
}

describe('a pipeline that takes a call over', () => {
  it.each([900, 1200, 1450])(
    'has time for a model of %i ms where a realtime model went silent',
    async (ms) => {
      const { first, second, rig } = modelThenStages({});
      await rig.start();
      first.ready();
      first.hears('When do you close?');
      thinks(rig, second, ms);
      await rig.wait(9000);
      expect(rig.ended).toEqual([]);
      expect(rig.turns.at(-1)).toMatchObject({ agentText: 'We close at six.' });
    },
  );

  it('has all of its time where nobody heard a caller who heard the agent', async () => {
    const [first, second] = [new FakeStages(), new FakeStages()];
    const rig = new FallbackRig({ modes: [first, second] });
    const long =
      'We are open from eight to six on all days of the week but Sunday, and on Saturday we close at noon.';
    first.model.answer(`${long} Come whenever you like, and bring your friends along, too.`);
    await rig.start();
    await rig.says(first, 'When are you open?');
    await rig.wait(1000);
    first.ears.events.troubled?.(GONE);
    thinks(rig, second, 3500);
    await rig.wait(3900);
    first.ears.events.failed(GONE);
    await rig.wait(7000);
    expect(rig.ended).toEqual([]);
    expect(rig.turns.at(-1)).toMatchObject({ agentText: 'We close at six.' });
  });
});
