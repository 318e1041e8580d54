import { describe, expect, it } from 'vitest';
import { CarrierError } from '../../../src/base/errors.js';
import type { MachineVerdict } from '../../../src/carriers/carrier.js';
import type { EngineRecipe } from '../../../src/engines/engine.js';
import { FakeEngine } from '../../support/call-fakes.js';
import { OUTBOUND, Scene, type SceneKind } from '../scene.js';

const OUT: readonly SceneKind[] = [
  { steering: 'replies', direction: 'outbound' },
  { steering: 'commands', direction: 'outbound' },
];
const SPOKEN = `speak carrier-out-1 de-DE ${OUTBOUND.voicemailMessage}`;

describe.each(OUT)('an outbound call, $steering, that is answered', (kind) => {
  const verdict = (scene: Scene, value: MachineVerdict) =>
    scene.report({ type: 'machine-detection', verdict: value });
  /** The carrier's voice has finished. */
  const said = (scene: Scene) => {
    if (kind.steering === 'commands') scene.report({ type: 'speech-ended' });
    else scene.over('answered');
  };

  it.each(['human', 'unknown'] as const)('by %s goes on', async (value) => {
    const scene = new Scene(kind);
    await scene.up();
    verdict(scene, value);
    await scene.bench.pass(60_000);
    expect(scene.isLive).toBe(true);
    expect(scene.bench.engine.heard).toEqual(['start']);
    expect(scene.record.amd).toMatchObject({ answeredBy: value });
  });

  it('by a machine waits for the end of its greeting, leaves the message and hangs up', async () => {
    const scene = new Scene(kind);
    await scene.up();
    scene.agentSpeaks();
    verdict(scene, 'machine');
    expect(scene.bench.engine.heard).toEqual(['start', 'hold']);
    expect(scene.socket.sent.at(-1)).toBe('clear');
    await scene.bench.pass(8000);
    expect(scene.bench.rest.requests).toEqual([]);
    verdict(scene, 'machine-ready');
    expect(scene.bench.rest.requests).toEqual([SPOKEN]);
    verdict(scene, 'machine-ready');
    if (kind.steering === 'replies') scene.stop();
    await scene.bench.pass(2000);
    said(scene);
    expect(await scene.expectEnd()).toMatchObject({
      endReason: 'agent-hangup',
      outcome: 'voicemail',
      amd: { answeredBy: 'machine' },
    });
    expect(scene.bench.rest.requests).toEqual(
      kind.steering === 'commands' ? [SPOKEN, 'hangUp carrier-out-1'] : [SPOKEN],
    );
    expect(scene.bench.ofType('amd.detected', scene.callId)).toHaveLength(1);
    // What was left is on the record.
    expect(scene.record.transcript).toMatchObject([
      { role: 'agent', text: OUTBOUND.voicemailMessage, final: true },
    ]);
  });

  it('whose message the carrier does not take has none on the record', async () => {
    const scene = new Scene(kind);
    await scene.up();
    scene.bench.rest.failures.speak = new Error('no');
    verdict(scene, 'machine-ready');
    await scene.bench.pass(60_000);
    expect(scene.record.transcript).toEqual([]);
  });

  it('by a machine before a stream came is told the whole message', async () => {
    const scene = new Scene(kind);
    await scene.ring();
    await scene.answer();
    verdict(scene, 'machine-ready');
    await scene.bench.pass(14_000);
    expect(scene.bench.rest.of('hangUp')).toEqual([]);
    expect(scene.isLive).toBe(true);
    said(scene);
    expect(await scene.expectEnd()).toMatchObject({ endReason: 'agent-hangup', outcome: 'voicemail' });
  });

  it('by a machine whose greeting never ends is told the message all the same', async () => {
    const scene = new Scene(kind);
    await scene.up();
    verdict(scene, 'machine');
    await scene.bench.pass(29_999);
    expect(scene.bench.rest.requests).toEqual([]);
    await scene.bench.pass(1);
    expect(scene.bench.rest.requests).toEqual([SPOKEN]);
    expect(await scene.expectEnd()).toMatchObject({ endReason: 'agent-hangup', outcome: 'voicemail' });
    expect(scene.bench.rest.requests).toEqual([SPOKEN, 'lookUp carrier-out-1', 'hangUp carrier-out-1']);
  });

  it('by a machine is left the message in the language of its own agent', async () => {
    const scene = new Scene(kind);
    const recipe: EngineRecipe = {
      mode: 'pipeline',
      providers: { engine: null, stt: 'own/stt', llm: 'own/llm', tts: 'own/tts' },
      language: 'it-IT',
      create: (context) => new FakeEngine(context, { takesText: false }),
    };
    await scene.up({ recipe: recipe as never });
    verdict(scene, 'machine');
    verdict(scene, 'machine-ready');
    expect(scene.bench.rest.requests).toEqual([`speak carrier-out-1 it-IT ${OUTBOUND.voicemailMessage}`]);
  });

  it('by a machine that has nothing to be left on it is hung up on', async () => {
    const scene = new Scene(kind);
    await scene.up({ voicemailMessage: undefined });
    verdict(scene, 'machine');
    expect(scene.isLive).toBe(false);
    expect(await scene.expectEnd()).toMatchObject({ endReason: 'agent-hangup', outcome: 'voicemail' });
    expect(scene.bench.rest.requests).toEqual(['hangUp carrier-out-1']);
  });

  it('by a fax is hung up on', async () => {
    const scene = new Scene(kind);
    await scene.up();
    verdict(scene, 'fax');
    expect(await scene.expectEnd()).toMatchObject({
      endReason: 'agent-hangup',
      outcome: 'failed',
      amd: { answeredBy: 'fax' },
    });
  });

  it('by a machine that is ready before anything else is known', async () => {
    const scene = new Scene(kind);
    await scene.ring();
    scene.bench.rest.requests.length = 0;
    verdict(scene, 'machine-ready');
    expect(scene.bench.rest.requests).toEqual([SPOKEN]);
    scene.status('active');
    said(scene);
    expect(await scene.expectEnd()).toMatchObject({ outcome: 'voicemail' });
    expect(scene.record.answeredAt).not.toBeNull();
    expect(scene.bench.engines).toEqual([]);
  });

  it('by a machine before its stream: the agent never says a word', async () => {
    const scene = new Scene(kind);
    await scene.ring();
    verdict(scene, 'machine');
    if (kind.steering === 'commands') {
      scene.status('active');
      expect(scene.bench.rest.of('startStream')).toEqual([]);
    } else {
      await scene.answer();
      scene.stream();
      expect(scene.bench.engine.heard).toEqual(['start', 'hold']);
    }
    verdict(scene, 'machine-ready');
    said(scene);
    expect(await scene.expectEnd()).toMatchObject({ endReason: 'agent-hangup', outcome: 'voicemail' });
  });

  it('by a machine that hangs up in the middle of its greeting', async () => {
    const scene = new Scene(kind);
    await scene.up();
    verdict(scene, 'machine');
    scene.stop();
    scene.over('answered');
    expect(await scene.expectEnd()).toMatchObject({ endReason: 'caller-hangup', outcome: 'voicemail' });
  });

  it('by a machine, at a carrier that does not speak', async () => {
    const scene = new Scene(kind);
    await scene.up();
    scene.bench.rest.failures.speak = new CarrierError('no', { status: 500, retryable: false });
    verdict(scene, 'machine-ready');
    expect(await scene.expectEnd()).toMatchObject({
      outcome: 'voicemail',
      incidents: [{ code: 'CARRIER_FAILED' }],
    });
    expect(scene.bench.rest.of('hangUp')).toHaveLength(1);
  });

  it('by nobody that was asked about: verdicts are not heard', async () => {
    const scene = new Scene(kind);
    await scene.up({ machineDetection: false });
    verdict(scene, 'fax');
    expect(scene.isLive).toBe(true);
    expect(scene.record.amd).toBeNull();
  });
});
