// A call whose process was killed goes on in the next one, wherever it stood.
import { describe, expect, it } from 'vitest';
import { CarrierError } from '../../../src/base/errors.js';
import { LOSSES, type Loss } from '../../../src/calls/ending/lost-call.js';
import type { BegunCall, CallRecordings } from '../../../src/calls/recording/call-recordings.js';
import { decodeState } from '../../../src/calls/resume/call-state.js';
import { MAX_RECORDING_PAUSES } from '../../../src/contract/call-record.js';
import { STATE_VERSION } from '../../../src/conversation/state.js';
import { LiveRecording } from '../../../src/recordings/live-recording.js';
import type { CallEvent } from '../../../src/contract/call-event.js';
import { stamp } from '../../support/call-facts.js';
import { startText } from '../../support/call-bench.js';
import { KINDS, OUTBOUND, type SceneKind } from '../scene.js';
import { KeptScene } from './left-call.js';

const replied: SceneKind = { steering: 'replies', direction: 'inbound' };
const commanded: SceneKind = { steering: 'commands', direction: 'inbound' };
const STEERED = [replied, commanded];
const OUT: SceneKind[] = [
  { steering: 'replies', direction: 'outbound' },
  { steering: 'commands', direction: 'outbound' },
];

/** That the call was lost, and why. */
const lost = (loss: Loss, at: number | null) => ({
  at,
  code: 'process-lost',
  message: LOSSES[loss],
  durationMs: null,
});

/** The request for a stream. */
const asked = ({ bench, kind }: KeptScene) =>
  bench.rest.of(kind.steering === 'replies' ? 'openStream' : 'startStream');

/** Agent and caller are talking over stream 1. */
async function talking(kind: SceneKind): Promise<KeptScene> {
  const scene = new KeptScene(kind);
  await scene.up();
  await scene.bench.pass(1000);
  return scene;
}

describe.each(KINDS)('an agent and a caller who are talking, $steering, $direction', (kind) => {
  it('go on over the stream that the carrier is asked for at once', async () => {
    const scene = await talking(kind);
    const next = await scene.killed({ gapMs: 700 });
    expect(next.loss).toBeUndefined();
    // The carrier cannot reach it yet.
    expect(next.bench.rest.requests).toEqual([]);
    await next.goOn();
    expect(next.bench.rest.of('lookUp')).toHaveLength(1);
    expect(asked(next)).toHaveLength(1);
    next.next(2);
    const { engine } = next.bench;
    expect(engine.heard).toEqual(['start']);
    expect(engine.context.resumed).toMatchObject({
      message: 'I am back.',
      term: 2,
      state: { version: STATE_VERSION },
    });
    // Its time is that of the conversation, the gap among it.
    expect(engine.context.clock.now()).toBe(1700);
    expect(next.bench.types(next.callId)).toEqual(['call.status', 'cost.updated', 'incident.noted']);
    expect(next.bench.events.every(({ term, nodeId }) => term === 2 && nodeId === 'node-2')).toBe(true);
    expect(next.record).toMatchObject({
      status: 'active',
      incidents: [{ code: 'process-replaced', durationMs: 700 }],
    });
    next.over(null);
    next.stop();
    expect(await next.expectEnd()).toMatchObject({ endReason: 'caller-hangup', outcome: 'answered' });
    expect(next.states.texts.size).toBe(0);
  });

  it.each([false, true])(
    'have one order of time, also where the clock of the next process is behind (handed over: %s)',
    async (wasLetGo) => {
      const scene = await talking(kind);
      const say = ({ bench: { engine } }: KeptScene, id: string) => {
        const at = engine.context.clock.wallNow();
        const entry = { id, turnIndex: 0, role: 'user', text: id, at, final: true } as const;
        engine.context.fact({ type: 'transcript.segment', entry });
      };
      say(scene, 'before');
      const next = await scene.killed({ gapMs: 700, behindMs: 30_000, wasLetGo });
      await next.goOn();
      next.next(2);
      expect(next.bench.engine.context.clock.now()).toBe(1000);
      await next.bench.pass(1000);
      say(next, 'after');
      next.over(null);
      next.stop();
      const { transcript, durationMs, answeredAt, incidents } = await next.expectEnd();
      expect(transcript.map(({ id, at }) => [id, at - (answeredAt ?? 0)])).toEqual([
        ['before', 1000],
        ['after', 2000],
      ]);
      expect([durationMs, incidents.map(({ at }) => at - (answeredAt ?? 0))]).toEqual([2000, [1000]]);
    },
  );

  it('are over where the carrier says so, since the process was there last', async () => {
    const scene = await talking(kind);
    const next = await scene.killed({ gapMs: 5000, lastAliveMs: 200 });
    next.bench.rest.over = true;
    await next.goOn();
    const record = await next.expectEnd();
    expect(record).toMatchObject({ endReason: 'process-lost', outcome: 'answered', term: 2 });
    expect(record.endedAt).toBe(next.left === undefined ? 0 : next.left.startedAt + 800);
    expect(record.incidents).toEqual([lost('hung-up', record.endedAt)]);
    expect(next.states.texts.size).toBe(0);
  });

  it('are over where no stream comes', async () => {
    const next = await (await talking(kind)).killed();
    await next.goOn();
    const record = await next.expectEnd();
    expect(record).toMatchObject({ endReason: 'process-lost', hangUp: 'done' });
    expect(record.incidents).toEqual([lost('no-stream', record.endedAt)]);
    expect(next.bench.rest.of('hangUp')).toHaveLength(1);
  });

  it('are hung up where no stream comes to the process that they were handed over to', async () => {
    const next = await (await talking(kind)).killed({ wasLetGo: true });
    await next.goOn();
    expect(await next.expectEnd()).toMatchObject({ endReason: 'stream-lost', hangUp: 'done' });
    expect(next.bench.rest.of('hangUp')).toHaveLength(1);
  });

  it('are hung up where the carrier cannot be asked either', async () => {
    const next = await (await talking(kind)).killed({ wasLetGo: true });
    const down = new CarrierError('Down.', { status: 503, retryable: true });
    Object.assign(next.bench.rest.failures, { lookUp: down, openStream: down, startStream: down });
    await next.goOn();
    await next.bench.pass(70_000);
    expect(next.isLive).toBe(false);
    expect(next.bench.rest.of('hangUp')).toHaveLength(1);
    expect(next.record).toMatchObject({ outcome: 'answered', error: null, hangUp: 'done' });
  });

  it('are over where the carrier says so to the process that they were handed over to', async () => {
    const next = await (await talking(kind)).killed({ wasLetGo: true });
    next.bench.rest.over = true;
    await next.goOn();
    expect(await next.expectEnd()).toMatchObject({ endReason: 'carrier-hangup', outcome: 'answered' });
    expect(next.bench.rest.of('hangUp')).toEqual([]);
  });

  it('are over when their time is, which has begun with the first stream', async () => {
    const next = await (await talking(kind)).killed({ gapMs: 1000 });
    await next.goOn();
    next.next(2);
    await next.bench.pass(60 * 60_000 - 2100);
    expect(next.isLive).toBe(true);
    await next.bench.pass(200);
    expect(await next.expectEnd()).toMatchObject({ endReason: 'max-duration' });
  });

  it('go on as often as their process dies', async () => {
    const second = await (await talking(kind)).killed();
    await second.goOn();
    second.next(2);
    await second.bench.pass(1000);
    const third = await second.killed();
    await third.goOn();
    third.next(3);
    expect(third.bench.engine.context.resumed?.term).toBe(3);
    expect(third.record.incidents.map(({ code }) => code)).toEqual(['process-replaced', 'process-replaced']);
    expect(third.record.term).toBe(3);
  });

  it('go on after a second death before a stream was up', async () => {
    const second = await (await talking(kind)).killed();
    await second.goOn();
    const third = await second.killed();
    await third.goOn();
    third.next(4);
    expect(third.bench.engine.context.resumed).toMatchObject({ state: { version: STATE_VERSION } });
    // The caller has heard nothing since the first one.
    expect(third.record.incidents).toMatchObject([{ code: 'process-replaced', durationMs: 1000 }]);
  });

  it('go on from the transcript where what was kept is damaged', async () => {
    const next = await (await talking(kind)).killed({ damage: (text) => text.slice(0, -20) });
    await next.goOn();
    next.next(2);
    expect(next.bench.engine.context.resumed).toMatchObject({
      state: { version: STATE_VERSION },
      message: 'I am back.',
    });
  });

  it('are lost at their own end where what comes behind it arrives first', async () => {
    const next = await (await talking(kind)).killed({ gapMs: 2000 });
    next.bench.rest.over = true;
    let answer = () => {};
    next.bench.rest.answers.lookUp = new Promise((resolve) => {
      answer = resolve;
    });
    await next.goOn();
    next.report({ type: 'leg-event' });
    await next.bench.pass(500);
    answer();
    await next.bench.pass();
    expect(next.isLive).toBe(false);
    expect((await next.expectEnd()).endedAt).toBe((next.left?.startedAt ?? 0) + 1000);
  });

  it('are asked for once where the carrier has come by itself', async () => {
    const next = await (await talking(kind)).killed();
    if (kind.steering === 'replies') next.report({ type: 'resume', number: 2 });
    await next.goOn();
    expect(asked(next)).toHaveLength(kind.steering === 'replies' ? 0 : 1);
  });

  it('are told that something went wrong where what was kept breaks the engine', async () => {
    const next = await (await talking(kind)).killed();
    await next.goOn();
    next.bench.onEngine = () => {
      throw new Error('it cannot be gone on with');
    };
    next.next(2);
    await next.bench.pass();
    expect(next.bench.rest.of('speak')[0]).toMatch(/something went wrong/);
    next.report({ type: 'speech-ended' });
    expect(next.record).toMatchObject({
      endReason: 'provider-failed',
      error: { code: 'INTERNAL' },
    });
  });

  it.each([
    ['a minute later', { gapMs: 61_000 }, 'late'],
    ['without a secret', { options: { withoutKey: true } }, 'not-kept'],
    [
      'to a process of another carrier',
      { of: (record) => ({ ...record, carrier: 'carrier-c' }) },
      'other-carrier',
    ],
  ] satisfies [string, Parameters<KeptScene['killed']>[0], string][])('are lost %s', async (_, how, loss) => {
    const next = await (await talking(kind)).killed(how);
    expect(next.loss).toBe(loss);
  });
});

describe('a carrier whose REST API is down as a call is taken up', () => {
  async function unreachable(kind: SceneKind): Promise<KeptScene> {
    const next = await (await talking(kind)).killed();
    next.bench.rest.failure = new CarrierError('No answer.', { status: null, retryable: true });
    await next.goOn();
    return next;
  }

  it('opens the stream that it comes for by itself', async () => {
    const next = await unreachable(replied);
    await next.bench.pass(1500);
    const answer = next.report({ type: 'resume', number: 2 });
    expect(answer).toMatchObject({ type: 'stream' });
    next.next(3);
    expect(next.bench.engine.heard).toEqual(['start']);
    expect(next.record.incidents).toMatchObject([{ code: 'process-replaced', durationMs: 2000 }]);
    await next.bench.pass(30_000);
    expect(next.isLive).toBe(true);
  });

  it('is asked again for a minute where it is steered by commands', async () => {
    const next = await unreachable(commanded);
    await next.bench.pass(40_000);
    expect(next.isLive).toBe(true);
    next.bench.rest.failure = undefined;
    await next.bench.pass(1100);
    next.next(2);
    expect(next.bench.engine.heard).toEqual(['start']);
    await next.bench.pass(60_000);
    expect(next.isLive).toBe(true);
  });

  it('ends the call where that minute is over', async () => {
    const next = await unreachable(commanded);
    await next.bench.pass(65_000);
    expect(next.isLive).toBe(false);
    next.bench.rest.failure = undefined;
    expect(await next.expectEnd()).toMatchObject({ endReason: 'process-lost' });
  });
});

describe.each(STEERED)('a caller who is being handed over, $steering', (kind) => {
  const TO = '+15550123';
  const result = (scene: KeptScene, value: 'busy' | 'connected') => {
    const carrierCallId = kind.steering === 'commands' ? 'other-leg' : scene.carrierCallId;
    return scene.report({ type: 'transfer', result: value, carrierCallId });
  };

  async function handingOver(): Promise<KeptScene> {
    const scene = await talking(kind);
    const ordered = scene.bench.desk.transfer(scene.callId, TO);
    await scene.bench.pass();
    await ordered;
    return scene;
  }

  it('is left alone until there is a result', async () => {
    const next = await (await handingOver()).killed();
    await next.goOn();
    expect(asked(next)).toEqual([]);
    await next.bench.pass(20_000);
    result(next, 'connected');
    expect(await next.expectEnd()).toMatchObject({
      endReason: 'transferred',
      transfer: { to: TO, result: 'connected' },
    });
  });

  it('is told by the agent that the line is busy', async () => {
    const next = await (await handingOver()).killed();
    await next.goOn();
    await next.bench.pass(3000);
    result(next, 'busy');
    await next.bench.pass();
    next.next(3);
    expect(next.bench.engine.context.resumed?.message).toMatch(/busy/);
    expect(next.bench.engine.heard).toEqual(['start']);
  });

  it.each([0, 1])(
    'is told by the agent that the line is busy, also where that was known before their stream was back (%i more processes die)',
    async (more) => {
      const scene = await handingOver();
      scene.stop();
      result(scene, 'busy');
      await scene.bench.pass();
      let next = await scene.killed();
      await next.goOn();
      for (let count = 0; count < more; count += 1) {
        next = await next.killed();
        await next.goOn();
      }
      next.next(3 + more);
      expect(next.bench.engine.context.resumed?.message).toMatch(/busy/);
      expect(next.bench.engine.heard).toEqual(['start']);
    },
  );

  it('counts as connected when nothing is heard of it, from the order on', async () => {
    const next = await (await handingOver()).killed({ gapMs: 5000 });
    await next.goOn();
    await next.bench.pass(39_000);
    expect(next.isLive).toBe(true);
    await next.bench.pass(2000);
    expect(await next.expectEnd()).toMatchObject({ endReason: 'transferred' });
  });

  it('is left alone where the carrier may have taken the order, and does not ask what comes next', async () => {
    const scene = await talking(kind);
    scene.bench.rest.answers.transfer = new Promise(() => {});
    void scene.bench.desk.transfer(scene.callId, TO);
    await scene.bench.pass();
    const next = await scene.killed();
    await next.goOn();
    await next.bench.pass(10_000);
    // Elsewhere the carrier has to be asked for a stream.
    expect(asked(next)).toHaveLength(kind.steering === 'replies' ? 0 : 1);
    if (kind.steering === 'commands') return;
    result(next, 'busy');
    next.next(3);
    expect(next.bench.engine.context.resumed?.message).toMatch(/busy/);
  });

  it('ends when its process did where it is over, and so does its bill', async () => {
    const next = await (await handingOver()).killed({ gapMs: 30_000 });
    next.bench.rest.over = true;
    await next.goOn();
    const record = await next.expectEnd();
    expect(record).toMatchObject({
      endReason: 'process-lost',
      incidents: [{ code: 'process-lost' }, { code: 'cost-incomplete' }],
    });
    expect(record.endedAt).toBe((next.left?.startedAt ?? 0) + 1000);
  });

  it('is talked to again where nothing shows that the carrier took the order', async () => {
    const scene = await talking(kind);
    scene.bench.rest.answers.transfer = new Promise(() => {});
    void scene.bench.desk.transfer(scene.callId, TO);
    await scene.bench.pass();
    const next = await scene.killed();
    await next.goOn();
    expect(asked(next)).toEqual([]);
    if (kind.steering === 'replies')
      expect(next.report({ type: 'resume', number: 2 })).toMatchObject({ type: 'stream' });
    else await next.bench.pass(5100);
    next.next(3);
    expect(next.bench.engine.heard).toEqual(['start']);
  });
});

describe.each(KINDS)('a call that another process turns out to have, $steering, $direction', (kind) => {
  const heard = ({ bench, callId }: KeptScene, fact: Partial<CallEvent> = {}) => {
    const [event] = stamp([{ type: 'turn.started', turnIndex: 1 }], { callId, at: 5 });
    const foreign = { ...event, nodeId: 'node-2', term: 2, ...fact } as CallEvent;
    bench.bus.publish(foreign);
    return foreign;
  };

  it('is let go: the stream is closed, and nothing more is stated, asked or kept', async () => {
    const scene = await talking(kind);
    const { bench, states } = scene;
    const foreign = heard(scene);
    const [kept, writes] = [states.texts.get(scene.callId), states.writes];
    expect([scene.isLive, scene.socket.closes.length, bench.engine.heard.at(-1)]).toEqual([
      false,
      1,
      'close',
    ]);
    bench.rest.requests.length = 0;
    scene.stop();
    scene.over('answered');
    await bench.pass(15 * 60_000);
    expect(bench.events.at(-1)).toBe(foreign);
    expect([states.texts.get(scene.callId), states.writes]).toEqual([kept, writes]);
    expect([bench.rest.requests, bench.clock.pending]).toEqual([[], 0]);
  });

  it('leaves nothing where it was deleted meanwhile', async () => {
    const scene = await talking(kind);
    heard(scene, { type: 'call.forgotten' });
    await scene.bench.pass(1000);
    expect([scene.isLive, scene.states.texts.size]).toEqual([false, 0]);
  });

  it('goes on where that process has it in no higher term', async () => {
    const scene = await talking(kind);
    heard(scene, { term: 1 });
    expect(scene.isLive).toBe(true);
  });
});

describe.each(STEERED)('a call that other processes may have taken up as well, $steering', (kind) => {
  /** Gone on with by a process that asks the others: `answer` is how they do. */
  async function takenUp() {
    let answer = () => {};
    const asked = () =>
      new Promise<void>((resolve) => {
        answer = resolve;
      });
    const others = {
      claimedTerm: () => undefined,
      mayHaveTaken: () => false,
      asked,
      haveTaken: async () => false,
    };
    const scene = await talking(kind);
    const next = await scene.killed({ options: { others } });
    await next.goOn();
    return { next, answered: () => answer() };
  }

  it('is stated to go on here once they have been asked, also where the carrier says that it is up', async () => {
    const { next, answered } = await takenUp();
    await next.bench.pass(500);
    expect(next.bench.rest.of('lookUp')).toHaveLength(1);
    expect(next.bench.events).toEqual([]);
    answered();
    await next.bench.pass();
    expect(next.bench.types(next.callId)[0]).toBe('call.status');
  });

  it('is left without a fact to whoever has it', async () => {
    const { next, answered } = await takenUp();
    const { callId, bench } = next;
    bench.desk.learn({ callId, nodeId: 'node-3', term: 3, type: 'call.status' });
    answered();
    await bench.pass(60_000);
    expect([next.isLive, bench.events]).toEqual([false, []]);
  });

  it('is not waited for once its stream is there', async () => {
    const { next } = await takenUp();
    next.next(2);
    expect(next.bench.types(next.callId)).toEqual(['call.status', 'cost.updated', 'incident.noted']);
  });
});

const SOUND = new Int16Array(320).fill(1000);

/** Keeps no sound. */
function recorder() {
  const lives: LiveRecording[] = [];
  const begin = (call: BegunCall) => {
    const live = new LiveRecording(call);
    lives.push(live);
    return live;
  };
  const keeper: CallRecordings = { pausesForKeys: false, begin, endLeft() {}, end() {}, leave() {} };
  return { options: { localRecordings: () => keeper }, lives };
}

describe.each(OUT)('a recording, $steering', (kind) => {
  it('that is paused before the call is connected begins paused in the next process', async () => {
    const { options, lives } = recorder();
    const scene = new KeptScene(kind, options);
    await scene.ring();
    await scene.bench.desk.pauseRecording(scene.callId);
    const next = await scene.killed();
    await next.goOn();
    await next.answer();
    next.next(3);
    expect(lives.map(({ isPaused }) => isPaused)).toEqual([true]);
    await next.bench.desk.resumeRecording(next.callId);
    expect(lives.map(({ isPaused }) => isPaused)).toEqual([false]);
  });

  it('stays paused by everybody who has paused it, also where the record names no more pauses', async () => {
    const { options, lives } = recorder();
    const scene = new KeptScene(kind, options);
    await scene.up();
    const { desk } = scene.bench;
    for (let count = 0; count < MAX_RECORDING_PAUSES; count += 1) {
      await desk.pauseRecording(scene.callId);
      await desk.resumeRecording(scene.callId);
    }
    scene.bench.engine.context.controls.pauseRecording();
    await desk.pauseRecording(scene.callId);
    const next = await scene.killed();
    expect(next.left?.localRecording?.pauses.at(-1)?.endedAt).not.toBeNull();
    await next.goOn();
    next.next(2);
    expect(lives.at(-1)?.isPaused).toBe(true);
    await next.bench.desk.resumeRecording(next.callId);
    expect(lives.at(-1)?.isPaused).toBe(true);
    next.bench.engine.context.controls.resumeRecording();
    expect(lives.at(-1)?.isPaused).toBe(false);
  });
});

describe.each(STEERED)('who listens in to a call that another process had, $steering', (kind) => {
  it.each<[string, (text: string) => string]>([
    ['as it was kept', (text) => text],
    [
      'by its record alone, where that was not kept',
      (text) => text.replace('"pausedBy":["application"],', ''),
    ],
  ])('hears nothing while it is paused, %s', async (_, damage) => {
    const { options } = recorder();
    const scene = new KeptScene(kind, { ...options, listenIn: { pausesForKeys: false } });
    await scene.up();
    await scene.bench.desk.pauseRecording(scene.callId);
    const next = await scene.killed({ damage });
    await next.goOn();
    next.next(2);
    const chunks: Uint8Array[] = [];
    next.bench.desk.listen(next.callId, { write: (bytes) => void chunks.push(bytes), end() {} });
    const isSilent = async () => {
      chunks.length = 0;
      for (let count = 0; count < 50; count += 1) next.bench.engine.context.playout.push(SOUND);
      for (let count = 0; count < 50; count += 1) await next.bench.pass(20);
      return Buffer.concat(chunks)
        .subarray(44)
        .every((byte) => byte === 0);
    };
    expect(await isSilent()).toBe(true);
    await next.bench.desk.resumeRecording(next.callId);
    expect(await isSilent()).toBe(false);
  });
});

describe.each(OUT)('a call that is being placed, $steering', (kind) => {
  it('goes on as the carrier reports on it', async () => {
    const scene = new KeptScene(kind);
    await scene.ring();
    const next = await scene.killed();
    expect(next.loss).toBeUndefined();
    await next.goOn();
    expect(asked(next)).toEqual([]);
    await next.answer();
    next.next(3);
    expect(next.bench.engine.context.resumed).toBeUndefined();
    expect(next.bench.types(next.callId)).toContain('call.started');
    next.report({ type: 'machine-detection', verdict: 'human' });
    expect(next.record.amd).toMatchObject({ answeredBy: 'human' });
  });

  it('is known by its own ID where the answer to the request was lost', async () => {
    const scene = new KeptScene(kind);
    scene.bench.rest.answers.dial = new Promise(() => {});
    await scene.dial();
    // Before it is dialed, what is kept has it.
    expect(scene.states.texts.size).toBe(1);
    const next = await scene.killed();
    expect(next.loss).toBeUndefined();
    await next.goOn();
    next.status('ringing');
    await next.answer();
    next.next(3);
    expect(next.bench.engine.heard).toEqual(['start']);
  });

  it('is given up where nothing shows that the carrier took it', async () => {
    const scene = new KeptScene(kind);
    scene.bench.rest.answers.dial = new Promise(() => {});
    await scene.dial();
    const next = await scene.killed();
    await next.goOn();
    expect(await next.expectEnd()).toMatchObject({
      endReason: 'process-lost',
      outcome: 'failed',
      incidents: [{ code: 'process-lost', message: LOSSES.unplaced }],
    });
  });

  it.each([
    ['is lost where nobody has answered, and how it was placed cannot be read', 'unreadable'],
    ['is lost where the carrier never had it, and how it was placed cannot be read', 'unplaced'],
  ])('%s', async (_, loss) => {
    const scene = new KeptScene(kind);
    if (loss === 'unplaced') {
      scene.bench.rest.answers.dial = new Promise(() => {});
      await scene.dial();
    } else await scene.ring();
    const next = await scene.killed({ damage: () => 'nonsense' });
    expect(next.loss).toBe(loss);
  });

  it('is over where nobody answers in time, from the dial on', async () => {
    const scene = new KeptScene(kind);
    await scene.ring();
    await scene.bench.pass(20_000);
    const next = await scene.killed();
    next.bench.rest.outcome = 'no-answer';
    await next.goOn();
    await next.bench.pass((OUTBOUND.ringTimeoutSeconds + 30 - 21) * 1000);
    expect(next.isLive).toBe(true);
    await next.bench.pass(1000);
    expect(await next.expectEnd()).toMatchObject({ endReason: 'no-answer' });
  });

  it('leaves the message on a machine whose greeting is over', async () => {
    const scene = new KeptScene(kind);
    await scene.up();
    scene.report({ type: 'machine-detection', verdict: 'machine' });
    const next = await scene.killed();
    await next.goOn();
    expect(asked(next)).toEqual([]);
    next.report({ type: 'machine-detection', verdict: 'machine-ready' });
    await next.bench.pass();
    expect(next.bench.rest.of('speak')).toHaveLength(1);
    next.report({ type: 'speech-ended' });
    expect(await next.expectEnd()).toMatchObject({ outcome: 'voicemail', endReason: 'agent-hangup' });
  });

  it('hangs up on a machine that nothing is left on', async () => {
    const scene = new KeptScene(kind);
    await scene.up({ voicemailMessage: undefined });
    // The verdict is known, and what follows from it is not done.
    const { hangUp } = scene.bench.rest;
    scene.bench.rest.hangUp = () => new Promise(() => {});
    scene.bench.bus.subscribe((event) => {
      if (event.type === 'amd.detected') scene.frozen = scene.record;
    });
    const before = new Map(scene.states.texts);
    scene.report({ type: 'machine-detection', verdict: 'machine' });
    scene.bench.rest.hangUp = hangUp;
    const next = await scene.killed({ before });
    await next.goOn();
    expect(next.isLive).toBe(false);
    expect(await next.expectEnd()).toMatchObject({
      outcome: 'voicemail',
      endReason: 'agent-hangup',
      hangUp: 'done',
    });
  });

  it.each([
    ['once where the carrier has taken it', false],
    ['once more where nobody knows that', true],
  ])('says a message on a machine %s', async (_, isLost) => {
    const scene = new KeptScene(kind);
    await scene.up();
    if (isLost) scene.bench.rest.answers.speak = new Promise(() => {});
    scene.report({ type: 'machine-detection', verdict: 'machine-ready' });
    await scene.bench.pass();
    const next = await scene.killed();
    await next.goOn();
    expect(next.bench.rest.of('speak')).toHaveLength(isLost ? 1 : 0);
    next.report({ type: 'speech-ended' });
    expect(await next.expectEnd()).toMatchObject({ outcome: 'voicemail', endReason: 'agent-hangup' });
  });
});

it('a call that was answered, and had no stream yet, is as any other once it has one', async () => {
  const scene = new KeptScene(commanded);
  await scene.ring();
  await scene.answer();
  const next = await scene.killed();
  await next.goOn();
  next.next(3);
  expect(next.record.incidents).toMatchObject([{ code: 'process-replaced', durationMs: 500 }]);
  await next.bench.pass(5000);
  next.bench.rest.over = true;
  next.stop();
  expect(await next.expectEnd()).toMatchObject({ endReason: 'caller-hangup' });
});

it('a call on hold goes on in silence', async () => {
  const scene = await talking(commanded);
  scene.report({ type: 'hold', isHeld: true });
  scene.report({ type: 'dtmf', digit: '1' });
  const next = await scene.killed();
  await next.goOn();
  const { receiver } = next.bench.admit({ callId: next.callId, number: 2 }, { dead: true });
  receiver.receiveText(startText({ carrierCallId: next.carrierCallId }));
  await next.bench.pass(20_000);
  expect(next.record.incidents.map(({ code }) => code)).toEqual(['process-replaced']);
});

it('the last facts of a process outlive the next one, too', async () => {
  const second = await (await talking(replied)).killed();
  await second.goOn();
  second.next(2);
  await second.bench.pass();
  const kept = decodeState(second.states.texts.get(second.callId) ?? '');
  expect(kept?.facts.map(({ term }) => term)).toContain(1);
});

it('an announcement is kept before it is ordered', async () => {
  const scene = new KeptScene({ steering: 'commands', direction: 'outbound' });
  await scene.up();
  let atOrder: unknown;
  const { speak } = scene.bench.rest;
  scene.bench.rest.speak = (...order) => {
    atOrder = decodeState(scene.states.texts.get(scene.callId) ?? '')?.announcement;
    return speak.apply(scene.bench.rest, order);
  };
  scene.report({ type: 'machine-detection', verdict: 'machine-ready' });
  await scene.bench.pass();
  expect(atOrder).toMatchObject({ text: OUTBOUND.voicemailMessage, isTaken: false });
});

it('an inbound call that rings is answered', async () => {
  const scene = new KeptScene(commanded);
  await scene.ring();
  const next = await scene.killed();
  await next.goOn();
  expect(next.bench.rest.of('answer')).toHaveLength(1);
  await next.answer();
  next.next(3);
  expect(next.bench.engine.context.resumed).toBeUndefined();
  expect(next.bench.engine.heard).toEqual(['start']);
});

it('what is kept of another version is not read', async () => {
  const scene = await talking(replied);
  const next = await scene.killed({ damage: (text) => text.replace(/^1 /, '2 ') });
  await next.goOn();
  next.next(2);
  expect(next.bench.engine.heard).toEqual(['start']);
});

describe('a call that an agent function has decided to answer without an agent', () => {
  const CHOICES = [
    ['speak', { type: 'say', announcement: { text: 'We are closed.', language: undefined } }],
    ['transfer', { type: 'transfer', to: '+15550142' }],
  ] as const;

  it.each(CHOICES)('is answered so by the next process: %s', async (request, choice) => {
    const scene = new KeptScene(commanded, { choose: async () => choice });
    await scene.ring();
    const next = await scene.killed();
    await next.goOn();
    next.status('active');
    await next.bench.pass();
    expect(next.bench.rest.of(request)).toHaveLength(1);
    expect(asked(next)).toEqual([]);
  });

  it.each(CHOICES)('is answered so where it was picked up before: %s', async (request, choice) => {
    const scene = new KeptScene(commanded, { choose: async () => choice });
    await scene.ring();
    scene.bench.rest.answers[request] = new Promise(() => {});
    scene.status('active');
    const kept = new Map(scene.states.texts);
    const next = await scene.killed({ before: kept });
    await next.goOn();
    expect(next.bench.rest.of(request)).toHaveLength(1);
    expect(asked(next)).toEqual([]);
  });

  it('goes to the agent where the number was not reached', async () => {
    const scene = new KeptScene(commanded, { choose: async () => CHOICES[1][1] });
    await scene.ring();
    scene.status('active');
    await scene.bench.pass();
    const next = await scene.killed();
    await next.goOn();
    next.report({ type: 'transfer', result: 'no-answer' });
    await next.bench.pass();
    expect(next.bench.rest.of('transfer')).toEqual([]);
    expect(asked(next)).toHaveLength(1);
    const third = await next.killed();
    await third.goOn();
    expect(third.bench.rest.of('transfer')).toEqual([]);
    expect(asked(third)).toHaveLength(1);
  });
});
