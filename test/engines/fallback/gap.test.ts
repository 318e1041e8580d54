// How long a call was without the engine that was replaced: counted from when it was of no use to the caller, not from when that was found.
import { describe, expect, it } from 'vitest';
import { FakeStages, FallbackRig, GONE, talkingToModel } from '../fallback-rig.js';
import { FakeRealtimeModel } from '../realtime-rig.js';

async function talkingToStages() {
  const first = new FakeStages();
  const second = new FakeRealtimeModel();
  const rig = new FallbackRig({ modes: [first, second] });
  first.model.answer('At noon.');
  await rig.start();
  await rig.says(first, 'Three loaves.');
  await rig.quiet(1000);
  return { first, second, rig };
}

describe('the time that a call was without an engine', () => {
  it('begins with the lost connection of a recognizer, though nobody has spoken since', async () => {
    const { first, rig } = await talkingToStages();
    first.ears.events.troubled?.(GONE);
    await rig.quiet(500);
    first.ears.events.troubled?.(GONE);
    await rig.quiet(300);
    first.ears.events.failed(GONE);
    await rig.wait(0);
    expect(rig.replacements).toMatchObject([{ stage: 'stt', gapMs: 800 }]);
  });

  it('begins with the last that came of the connection, where that was found later', async () => {
    const { first, rig } = await talkingToStages();
    await rig.quiet(3000);
    first.ears.events.troubled?.(GONE, { agoMs: 3000 });
    await rig.quiet(500);
    first.ears.events.troubled?.(GONE, { agoMs: 0 });
    first.ears.events.failed(GONE);
    await rig.wait(0);
    expect(rig.replacements).toMatchObject([{ stage: 'stt', gapMs: 3500 }]);
  });

  it('does not count a connection that came back', async () => {
    const { first, rig } = await talkingToStages();
    first.ears.events.troubled?.(GONE);
    await rig.quiet(500);
    first.ears.events.reconnected?.({ gapMs: 500, lostMs: 0 });
    await rig.quiet(500);
    first.ears.events.failed(GONE);
    await rig.wait(0);
    expect(rig.replacements).toMatchObject([{ stage: 'stt', gapMs: 0 }]);
  });

  it('begins when a voice that breaks off was heard to the end of what it gave', async () => {
    const { first, second, rig } = await talkingToStages();
    first.voice.hangs = true;
    first.model.answer('There are seven kinds of cakes.');
    await rig.says(first, 'Which cakes are there?');
    while (second.asked.length === 0) await rig.wait(20);
    second.ready();
    second.answers('With nuts and with cream.');
    // Nothing more came behind what the caller had heard: the wait is over then.
    expect(rig.replacements).toMatchObject([{ stage: 'tts', from: 'fake-tts', gapMs: 2950 }]);
  });

  it('begins with the last sign of a model that breaks off', async () => {
    const { first, second, rig } = await talkingToModel();
    second.model.answer('With nuts.');
    first.hears('Which cakes are there?');
    first.begins('There are seven kinds of cakes.');
    await rig.wait(4000);
    expect(rig.replacements).toMatchObject([{ stage: 'engine', gapMs: 2450 }]);
  });

  it('begins when the connection of a model died, though that was found later', async () => {
    const { first, rig } = await talkingToModel();
    await rig.quiet(5000);
    first.events.lost?.({ agoMs: 3000 });
    await rig.quiet(500);
    first.events.failed(GONE);
    await rig.wait(0);
    expect(rig.replacements).toMatchObject([{ stage: 'engine', gapMs: 3500 }]);
  });

  it('begins with the end of a hold, in the tick of which the engine fails as well', async () => {
    const { first, rig } = await talkingToStages();
    rig.engine.hold();
    first.ears.events.troubled?.(GONE);
    await rig.wait(5000);
    first.ears.events.failed(GONE);
    rig.engine.resume('listen');
    await rig.wait(0);
    expect(rig.replacements).toMatchObject([{ gapMs: 0 }]);
  });
});
