import { describe, expect, it } from 'vitest';
import { PCM_16K } from '../../../src/audio/format.js';
import type { EngineRecipe } from '../../../src/engines/engine.js';
import { CallBench } from '../../support/call-bench.js';
import { FakeEngine, type FakePreparation } from '../../support/call-fakes.js';
import { KINDS, OUTBOUND, Scene, type SceneKind } from '../scene.js';

const PARTIES = { caller: '+15550111', callee: '+15550100' } as const;
const INBOUND: SceneKind = { steering: 'replies', direction: 'inbound' };

function sceneOf(kind: SceneKind, options: ConstructorParameters<typeof CallBench>[0] = {}): Scene {
  return new Scene(kind, { prepares: true, ...options });
}

function only({ bench }: Scene): FakePreparation {
  expect(bench.preparations).toHaveLength(1);
  const [preparation] = bench.preparations;
  if (preparation === undefined) throw new Error('nothing was prepared');
  return preparation;
}

describe.each(KINDS)('an $direction call at a carrier steered by $steering', (kind) => {
  const isOutbound = kind.direction === 'outbound';
  const person = { machineDetection: false };

  it('is prepared while it rings, told of the answer, and its engine is made of it', async () => {
    const scene = sceneOf(kind);
    await scene.ring(person);
    const preparation = only(scene);
    expect(preparation.context).toMatchObject({
      callId: scene.callId,
      direction: kind.direction,
      ...(isOutbound ? { caller: OUTBOUND.from, callee: OUTBOUND.to } : PARTIES),
      line: { inbound: PCM_16K, outbound: PCM_16K },
    });
    // Who is answered by the reply to the webhook has answered by then.
    expect(preparation.answers).toBe(kind === KINDS[0] ? 1 : 0);
    await scene.answer();
    expect(preparation.answers).toBe(1);
    scene.stream();
    expect(preparation.engine).toBe(scene.bench.engine);
    scene.stop();
    scene.over('answered');
    await scene.expectEnd();
    expect(only(scene).isSettled).toBe(true);
  });

  it('is given up when its stream never comes, and what that has cost is on the record', async () => {
    const scene = sceneOf(kind);
    await scene.ring(person);
    await scene.answer();
    const preparation = only(scene);
    expect(preparation.closes).toBe(0);
    await scene.bench.pass(15_000);
    expect(preparation.closes).toBe(1);
    scene.over('answered');
    expect((await scene.expectEnd()).usage?.ttsCharacters).toBe(30);
    expect(scene.bench.engines).toEqual([]);
  });

  it('is given up when it is over before it began', async () => {
    const scene = sceneOf(kind);
    await scene.ring(person);
    scene.over(isOutbound ? 'busy' : 'canceled');
    expect(only(scene).closes).toBe(1);
    expect((await scene.expectEnd()).usage?.ttsCharacters).toBe(30);
  });

  it('is prepared once, however often the carrier tells of it', async () => {
    const scene = sceneOf(kind);
    await scene.ring(person);
    await scene.answer();
    scene.asks();
    scene.status('ringing');
    scene.status('active');
    await scene.bench.pass(100);
    only(scene);
    await scene.bench.pass(100_000);
    scene.asks();
    await scene.bench.pass(100);
    expect(only(scene).closes).toBe(1);
  });

  it('is given up when the server stops', async () => {
    const scene = sceneOf(kind);
    await scene.ring(person);
    const stopped = scene.bench.desk.shutDown(1000);
    expect(only(scene).closes).toBe(1);
    await scene.bench.pass(5000);
    await stopped;
    expect(scene.bench.clock.pending).toBe(0);
  });

  it('begins unprepared when preparing it fails', async () => {
    const scene = sceneOf(kind);
    scene.bench.onPreparation = () => {
      throw new Error('vendor says: key sk-123 is wrong');
    };
    await scene.ring(person);
    await scene.answer();
    scene.stream();
    expect(scene.bench.engine.heard).toEqual(['start']);
    expect(scene.bench.logger.sentences('warn').filter((line) => !line.startsWith('no price'))).toEqual([]);
    expect(scene.bench.logger.text).not.toContain('sk-123');
  });

  it('goes on unprepared when a timer of the preparation breaks before there is a stream', async () => {
    const scene = sceneOf(kind);
    scene.bench.onPreparation = ({ context }) => {
      context.clock.after(50, () => {
        throw new Error('late');
      });
    };
    await scene.ring(person);
    await scene.bench.pass(100);
    expect(only(scene).closes).toBe(1);
    await scene.answer();
    scene.stream();
    expect(scene.bench.engine.heard).toEqual(['start']);
  });

  it('ends like any that breaks when a timer of the preparation breaks later', async () => {
    const scene = sceneOf(kind);
    scene.bench.onPreparation = ({ context }) => {
      context.clock.after(2000, () => {
        throw new Error('late');
      });
    };
    await scene.ring(person);
    await scene.answer();
    scene.stream();
    await scene.bench.pass(3000);
    expect(await scene.expectEnd()).toMatchObject({ endReason: 'provider-failed' });
  });

  it('closes what its engine could not be made of', async () => {
    const scene = sceneOf(kind);
    scene.bench.onEngine = () => {
      throw new Error('no engine');
    };
    await scene.ring(person);
    await scene.answer();
    scene.stream();
    expect(only(scene).closes).toBe(1);
    scene.bench.engines.length = 0;
    const { endReason, usage } = await scene.expectEnd();
    expect([endReason, usage?.ttsCharacters]).toEqual(['provider-failed', 30]);
  });
});

describe('an inbound call', () => {
  it('is answered before anything is prepared for it', async () => {
    const bench = new CallBench({ prepares: true });
    expect(bench.ring()).toMatchObject({ type: 'stream' });
    expect(bench.preparations).toEqual([]);
    await bench.pass();
    expect(bench.preparations).toHaveLength(1);
  });

  it('whose stream is there before that begins unprepared', async () => {
    const bench = new CallBench({ prepares: true });
    bench.ring();
    bench.connect();
    await bench.pass();
    expect(bench.preparations).toEqual([]);
    expect(bench.engine.heard).toEqual(['start']);
  });

  it('that is turned away is not prepared, nor one that anybody could have made up', async () => {
    const full = new CallBench({ prepares: true });
    const call = {
      callId: 'call-1',
      carrierCallId: 'carrier-call-1',
      ...PARTIES,
      direction: 'inbound',
    } as const;
    full.desk.refuse({ ...call, host: 'voice.example' });
    await full.pass(100);
    expect(full.preparations).toEqual([]);
    const unsigned = new CallBench({ prepares: true });
    Object.assign(unsigned.carrier, { verifies: false });
    unsigned.ring();
    await unsigned.pass(100);
    expect(unsigned.preparations).toEqual([]);
  });

  it('that is turned away after all is given up', async () => {
    const scene = sceneOf(INBOUND);
    await scene.ring();
    const call = {
      callId: 'call-1',
      carrierCallId: 'carrier-call-1',
      ...PARTIES,
      direction: 'inbound',
    } as const;
    scene.bench.desk.refuse({ ...call, host: 'voice.example' });
    expect(only(scene).closes).toBe(1);
    expect((await scene.expectEnd()).usage?.ttsCharacters).toBe(30);
  });

  it('gets nothing that was prepared for other parties', async () => {
    const scene = sceneOf(INBOUND);
    await scene.ring();
    scene.stream({ parameters: { ...PARTIES, caller: '+15550999' } });
    expect(only(scene)).toMatchObject({ closes: 1, engine: undefined });
    expect(scene.bench.engine.heard).toEqual(['start']);
    scene.stop();
    expect((await scene.expectEnd()).usage?.ttsCharacters).toBe(30);
  });

  it('whose stream is none is given up with it', async () => {
    const scene = sceneOf(INBOUND);
    await scene.ring();
    const { receiver } = scene.bench.admit();
    receiver.receiveText('bomb');
    expect(only(scene).closes).toBe(1);
    expect(scene.bench.clock.pending).toBe(0);
  });

  it('whose stream comes after all begins unprepared, and pays for both', async () => {
    const scene = sceneOf(INBOUND, {
      payees: { tts: { name: 'fake/tts', price: { perThousandCharacters: 1 } } },
    });
    await scene.ring();
    await scene.bench.pass(20_000);
    scene.stream();
    expect(only(scene)).toMatchObject({ closes: 1, engine: undefined });
    const fact = { type: 'usage.measured', stage: 'tts', turnIndex: 0, isGuess: false } as const;
    scene.bench.engine.context.fact({ ...fact, quantities: { characters: 70 } });
    scene.stop();
    const { usage, cost } = await scene.expectEnd();
    expect([usage?.ttsCharacters, cost.tts]).toEqual([100, 0.1]);
  });
});

describe('an outbound call', () => {
  const dialed: SceneKind = { steering: 'commands', direction: 'outbound' };

  it('is prepared by its own recipe, whether webhooks are signed or not', async () => {
    const scene = sceneOf(dialed);
    Object.assign(scene.bench.carrier, { verifies: false });
    const recipe: EngineRecipe = {
      mode: 'pipeline',
      providers: { engine: null, stt: 'own/stt', llm: 'own/llm', tts: 'own/tts' },
      prepare: (context) => scene.bench.prepare(context),
      create: (context) => new FakeEngine(context, { takesText: false }),
    };
    await scene.ring({ recipe: recipe as never });
    expect(only(scene).context.callId).toBe(scene.callId);
  });

  it('is prepared when the carrier has taken it, not while it is asked', async () => {
    const scene = sceneOf(dialed);
    let take = () => {};
    scene.bench.rest.answers.dial = new Promise((resolve) => (take = resolve));
    await scene.dial();
    expect(scene.bench.preparations).toEqual([]);
    take();
    await scene.bench.pass();
    only(scene);
  });

  it('keeps what is ready as long as it may ring, and no longer', async () => {
    const scene = sceneOf(dialed);
    await scene.ring();
    await scene.bench.pass(25_000);
    expect(only(scene).closes).toBe(0);
    await scene.bench.pass(5000);
    expect(only(scene).closes).toBe(1);
    scene.over('no-answer');
    expect(await scene.expectEnd()).toMatchObject({ outcome: 'no-answer', usage: { ttsCharacters: 30 } });
  });

  it('has fifteen seconds again when it is answered at the last moment', async () => {
    const scene = sceneOf(dialed);
    await scene.ring({ machineDetection: false });
    await scene.bench.pass(29_000);
    await scene.answer();
    await scene.bench.pass(5000);
    scene.stream();
    expect(only(scene).engine).toBe(scene.bench.engine);
  });

  it('that a machine answers is given up where nothing is left on it', async () => {
    const scene = sceneOf(dialed);
    await scene.ring({ voicemailMessage: undefined });
    scene.report({ type: 'machine-detection', verdict: 'machine' });
    expect(only(scene).closes).toBe(1);
  });
});

describe('many calls', () => {
  const ringAll = async (bench: CallBench, count: number, from = 0) => {
    for (let index = from; index < from + count; index += 1) bench.ring(`call-${index}`);
    await bench.pass();
  };

  it.each([
    [{}, 100],
    [{ maxCalls: 3 }, 3],
  ])('are prepared a few at a time: %j', async (options, most) => {
    const bench = new CallBench({ prepares: true, ...options });
    await ringAll(bench, 150);
    expect(bench.preparations).toHaveLength(most);
    bench.connect('call-0');
    expect(bench.preparations[0]?.engine).toBe(bench.engine);
    await ringAll(bench, 2, 1000);
    expect(bench.preparations).toHaveLength(most + 1);
    await bench.pass(15_000);
    expect(bench.preparations.every(({ isSettled }) => isSettled)).toBe(true);
    await ringAll(bench, 1, 2000);
    expect(bench.preparations).toHaveLength(most + 2);
  });

  it('that never begin leave no timer', async () => {
    const bench = new CallBench({ prepares: true, maxCalls: 1000 });
    await ringAll(bench, 1000);
    expect(bench.clock.pending).toBe(1000);
    await bench.pass(15_000);
    expect(bench.clock.pending).toBe(0);
    expect(bench.preparations.filter(({ closes }) => closes === 1)).toHaveLength(1000);
  });
});
