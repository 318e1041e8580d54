// The recognizer fails while the agent says what the call ends with: nobody has to be heard any more.
import { describe, expect, it } from 'vitest';
import { CallRig, END_CALL, MS_PER_CHAR, playing, type RigOptions } from './call-rig.js';
import { FakeStages, FallbackRig, GONE, modelThenStages } from './fallback-rig.js';
import { FakeRealtimeModel } from './realtime-rig.js';

const GOODBYE =
  'Thank you for calling the bakery today. We are open again tomorrow at eight. Until then, goodbye.';
const IDLE = { afterMs: 1000, prompts: [], goodbye: GOODBYE };
const LOST = {
  type: 'incident.noted',
  code: 'provider-failed',
  message: 'fake-stt failed (PROVIDER_FAILED) and was not needed any more.',
};

const incidents = ({ facts }: CallRig | FallbackRig) => facts.filter(({ type }) => type === 'incident.noted');
const said = ({ turns }: CallRig | FallbackRig) =>
  turns
    .map(({ agentText }) => agentText)
    .filter((text) => text !== '')
    .join(' ');

/** A model's goodbye has begun to sound. */
async function leaving(options: RigOptions = {}): Promise<CallRig> {
  const rig = await new CallRig(options).start();
  rig.model.answer(GOODBYE, END_CALL);
  await rig.says('That is all.');
  await rig.quiet(600);
  expect(rig.heardMs).toBeGreaterThan(0);
  return rig;
}

/** So has that to a caller who says nothing. */
async function tired(): Promise<CallRig> {
  const rig = await new CallRig({ idle: IDLE }).start();
  await rig.quiet(2000);
  expect(rig.heardMs).toBeGreaterThan(0);
  return rig;
}

describe('a recognizer that fails in the goodbye', () => {
  it.each([
    ['of a model', leaving, 'agent-hangup'],
    ['to a silent caller', tired, 'idle'],
  ])('%s does not keep it from being said, nor the call from ending with it', async (_, begin, reason) => {
    const rig = await begin();
    rig.ears.events.failed(GONE);
    rig.ears.events.failed(GONE);
    await rig.quiet(playing(GOODBYE));
    expect(said(rig)).toBe(GOODBYE);
    expect(rig.ended).toMatchObject([{ reason, failure: undefined }]);
    expect(incidents(rig)).toEqual([LOST]);
  });

  it('leaves nobody who could be interrupted by', async () => {
    const rig = await leaving();
    rig.ears.events.failed(GONE);
    await rig.voiced(1000);
    rig.ears.events.final('Wait, one more question.');
    rig.engine.pushDtmf('1');
    await rig.quiet(playing(GOODBYE));
    expect(said(rig)).toBe(GOODBYE);
    expect(rig.ended).toMatchObject([{ reason: 'agent-hangup' }]);
  });

  it('to a silent caller is missed where the caller is not silent any more', async () => {
    const rig = await tired();
    await rig.voiced(100);
    rig.ears.events.failed(GONE);
    await rig.quiet(10_000);
    expect(said(rig)).toMatch(/sorry/);
    expect(rig.ended).toMatchObject([{ reason: 'provider-failed' }]);
    expect(incidents(rig)).toEqual([]);
  });

  it.each([
    ['continue', 'agent-hangup', GOODBYE],
    ['listen', 'provider-failed', /sorry/],
  ] as const)(
    'is missed behind a hold only where the caller is to be heard: %s',
    async (how, reason, text) => {
      const rig = await leaving();
      rig.ears.events.failed(GONE);
      rig.engine.hold();
      await rig.quiet(1000);
      expect(rig.ended).toEqual([]);
      rig.engine.resume(how);
      await rig.quiet(playing(GOODBYE));
      expect(said(rig)).toMatch(text);
      expect(rig.ended).toMatchObject([{ reason }]);
    },
  );

  it('is not missed behind a hold that came when all of it was heard', async () => {
    const rig = await leaving();
    // The two spaces between its sentences have no sound.
    while (rig.heardMs < (GOODBYE.length - 2) * MS_PER_CHAR) await rig.clock.advanceAsync(5);
    rig.ears.events.failed(GONE);
    expect(rig.ended).toEqual([]);
    rig.engine.hold();
    rig.engine.resume('continue');
    await rig.quiet(5000);
    expect(rig.turns.map(({ agentText }) => agentText)).toEqual([GOODBYE]);
    expect(rig.ended).toMatchObject([{ reason: 'agent-hangup' }]);
  });

  it('does not hide that the voice fails in it as well', async () => {
    const rig = await leaving();
    rig.voice.failOn = 'Until';
    rig.ears.events.failed(GONE);
    await rig.quiet(playing(GOODBYE));
    expect(rig.ended).toMatchObject([{ reason: 'provider-failed', failure: { stage: 'tts' } }]);
  });

  it('is not replaced by another voice mode', async () => {
    const [first, second] = [new FakeStages(), new FakeRealtimeModel()];
    const rig = new FallbackRig({ modes: [first, second] });
    first.model.answer(GOODBYE, END_CALL);
    await rig.start();
    await rig.says(first, 'That is all.');
    first.ears.events.failed(GONE);
    await rig.quiet(playing(GOODBYE));
    expect([said(rig), rig.replacements]).toEqual([GOODBYE, []]);
    expect(rig.ended).toMatchObject([{ reason: 'agent-hangup', failure: undefined }]);
    expect(incidents(rig)).toEqual([LOST]);
  });

  it('that another voice mode has begun leaves it to be brought to its end', async () => {
    const { first, second, rig } = modelThenStages({ idle: IDLE });
    await rig.start();
    first.ready();
    await rig.wait(1000);
    first.begins(GOODBYE.slice(0, 10));
    await rig.wait(500);
    first.events.failed(GONE);
    await rig.wait(500);
    second.ears.events.failed(GONE);
    await rig.quiet(GOODBYE.length * MS_PER_CHAR);
    expect(said(rig)).toBe(GOODBYE);
    expect(rig.ended).toMatchObject([{ reason: 'idle', failure: undefined }]);
  });
});
