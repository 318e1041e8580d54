// Keys that come in the last moment: as a hold begins, as the agent takes leave, as the model is lost.
import { describe, expect, it } from 'vitest';
import type { RealtimeContext, RealtimeSession } from '../../src/providers/realtime-model.js';
import { CallRig } from './call-rig.js';
import { FakeStages, FallbackRig, GONE } from './fallback-rig.js';
import { FakeRealtimeModel, RealtimeRig } from './realtime-rig.js';

const GOODBYE =
  'Thank you for calling the bakery today. We are open again tomorrow at eight. Until then, goodbye.';
const GOODBYE_MS = GOODBYE.length * 50;
const IDLE = { afterMs: 1000, prompts: [], goodbye: GOODBYE };
const PRESSED = 'The caller pressed 1';

async function pressesBeforeHold(rig: CallRig | RealtimeRig): Promise<void> {
  rig.engine.pushDtmf('1');
  await rig.quiet(200);
  rig.engine.hold();
  await rig.quiet(1000);
  rig.engine.resume('continue');
  await rig.quiet(3000);
}

describe('a key that is being pressed as a hold begins is answered behind it', () => {
  it('by a pipeline', async () => {
    const rig = await new CallRig({}).start();
    rig.model.answer('Yes.');
    await pressesBeforeHold(rig);
    expect(rig.turns[0]?.userText).toBe(PRESSED);
  });

  it('by a realtime model', async () => {
    const rig = new RealtimeRig({});
    rig.engine.start();
    await rig.wait(0);
    rig.model.ready();
    await pressesBeforeHold(rig);
    expect(rig.model.asked).toContain(`user: ${PRESSED}`);
  });
});

describe('who presses a key in the goodbye to a silent caller is not hung up on', () => {
  it.each([[{ turnTaking: { keysInterrupt: false } }], [{ interruptible: false }]])(
    'by a pipeline with %j',
    async (options) => {
      const rig = await new CallRig({ idle: IDLE, ...options }).start();
      rig.model.answer('Yes.');
      await rig.quiet(1000 + GOODBYE_MS - 700);
      expect(rig.heardMs).toBeGreaterThan(0);
      expect(rig.ended).toEqual([]);
      rig.engine.pushDtmf('1');
      await rig.quiet(4000);
      expect(rig.ended).toEqual([]);
      expect(rig.model.requests).toHaveLength(1);
    },
  );

  it('by a realtime model', async () => {
    const rig = new RealtimeRig({ idle: IDLE, turnTaking: { keysInterrupt: false } });
    rig.engine.start();
    await rig.wait(0);
    rig.model.ready();
    rig.model.answers('Hello.');
    await rig.quiet(2500);
    rig.model.answers(GOODBYE);
    await rig.quiet(GOODBYE_MS - 700);
    expect(rig.ended).toEqual([]);
    rig.engine.pushDtmf('1');
    await rig.quiet(4000);
    expect(rig.model.asked).toContain(`user: ${PRESSED}`);
  });

  it('but the call ends where nobody can hear them any more', async () => {
    const rig = await new CallRig({ idle: IDLE, interruptible: false }).start();
    rig.model.answer('Yes.');
    await rig.quiet(1000 + GOODBYE_MS - 2000);
    rig.engine.pushDtmf('1');
    await rig.quiet(200);
    rig.ears.events.failed(GONE);
    await rig.quiet(60_000);
    expect(rig.ended).toHaveLength(1);
  });
});

/** Its connection is gone as the agent is to be cut off. */
class TornModel extends FakeRealtimeModel {
  override open(context: RealtimeContext): RealtimeSession {
    return {
      ...super.open(context),
      cancel() {
        throw new Error('socket is closed');
      },
    };
  }
}

it.each(['1', '#'])('key %s with which a realtime model is lost is answered by the next', async (key) => {
  const first = new TornModel();
  const second = new FakeStages();
  const rig = await new FallbackRig({ modes: [first, second] }).start();
  first.ready();
  first.begins('We are open from eight to six. On Saturday we close at noon.');
  await rig.quiet(500);
  second.model.answer('Yes.');
  rig.engine.pushDtmf(key);
  await rig.quiet(3000);
  expect(JSON.stringify(second.model.requests).split(`pressed ${key}`)).toHaveLength(2);
});
