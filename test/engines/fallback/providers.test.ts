// Who serves a call, where its stages and its voice mode change both.
import { describe, expect, it } from 'vitest';
import { Circuits } from '../../../src/providers/circuits.js';
import type { Replacement } from '../../../src/providers/remedy.js';
import { FakeStages, FallbackRig, GONE, talkingToModel } from '../fallback-rig.js';
import { FakeRealtimeModel } from '../realtime-rig.js';

const OTHER_EARS: Replacement = { from: 'fake-stt', to: 'other-stt', code: 'PROVIDER_FAILED', gapMs: 0 };
const SERVING = { engine: null, stt: 'other-stt', llm: 'fake-llm', tts: 'fake-tts' };

describe('the providers of a call', () => {
  it('are told as they are when a stage changed before its engine was heard', async () => {
    const { first, second, rig } = await talkingToModel();
    const open = second.ears.open.bind(second.ears);
    second.ears.open = (context) => {
      const session = open(context);
      context.events.replaced?.(OTHER_EARS);
      return session;
    };
    second.model.answer('Ten dollars.');
    first.hears('What is it?');
    first.events.failed(GONE);
    await rig.wait(1000);
    expect(rig.replacements.map(({ from, to, provider }) => [from, to, provider])).toEqual([
      ['fake-stt', 'other-stt', SERVING],
      ['fake-realtime', 'other-stt + fake-llm + fake-tts', SERVING],
    ]);
  });

  it('are told so when the call begins with another mode', async () => {
    const [first, second] = [new FakeRealtimeModel(), new FakeStages()];
    const circuits = (clock: { now(): number }) => {
      const broken = new Circuits(clock);
      for (let failures = 0; failures < 5; failures += 1) broken.failed(first);
      return broken;
    };
    const rig = new FallbackRig({ modes: [first, second], circuits });
    await rig.start();
    second.ears.events.replaced?.(OTHER_EARS);
    expect(rig.replacements.map(({ from, mode, provider }) => [from, mode, provider])).toEqual([
      ['fake-realtime', 'pipeline', { ...SERVING, stt: 'fake-stt' }],
      ['fake-stt', 'pipeline', SERVING],
    ]);
  });

  it('are not those of an engine that has left', async () => {
    const first = new FakeStages();
    const second = new FakeRealtimeModel();
    const rig = new FallbackRig({ modes: [first, second] });
    await rig.start();
    first.ears.events.failed(GONE);
    await rig.wait(0);
    first.ears.events.replaced?.(OTHER_EARS);
    first.ears.events.reconnected?.({ gapMs: 10, lostMs: 0 });
    second.ready();
    expect(rig.replacements).toMatchObject([{ from: 'fake-stt', to: 'fake-realtime', mode: 'realtime' }]);
    expect(rig.facts.filter(({ type }) => type === 'provider.reconnected')).toEqual([]);
  });
});
