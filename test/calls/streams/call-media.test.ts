import { describe, expect, it } from 'vitest';
import { MULAW_8K, PCM_16K } from '../../../src/audio/format.js';
import { CarrierError, RequestError } from '../../../src/base/errors.js';
import { readStreamToken } from '../../../src/calls/streams/stream-token.js';
import { loadTranscoder } from '../../../src/transcoder/select.js';
import { text } from '../../support/call-bench.js';
import { KINDS, Scene, type SceneKind } from '../scene.js';

const KEY = new Uint8Array([1, 2, 3]);
const REPLIES = KINDS.filter(({ steering }) => steering === 'replies');
const COMMANDS = KINDS.filter(({ steering }) => steering === 'commands');
const commanded: SceneKind = { steering: 'commands', direction: 'inbound' };
const replied: SceneKind = { steering: 'replies', direction: 'inbound' };

describe('a stream that replaces another one', () => {
  it.each(REPLIES)(
    'while keys are played: the same conversation, the same record ($direction)',
    async (kind) => {
      const scene = new Scene(kind);
      const { bench } = scene;
      await scene.up();
      const [first, engine] = [scene.receiver, bench.engine];
      scene.agentSpeaks();
      const sent = bench.desk.sendDigits(scene.callId, '1W2#');
      scene.stop();
      await sent;
      expect(engine.heard.at(-1)).toBe('hold');
      await bench.pass(5000);
      scene.stream();
      expect(engine.heard.slice(-2)).toEqual(['hold', 'resume continue']);
      // What the old socket still says is nothing to the call.
      first.receiveText(text({ type: 'audio', samples: 320 }));
      first.socketClosed(1006);
      scene.receiver.receiveText(text({ type: 'audio', samples: 320 }));
      expect(engine.heard.at(-1)).toBe('audio 320');
      expect(bench.engines).toHaveLength(1);
      expect(bench.ofType('call.started', scene.callId)).toHaveLength(1);
      expect(scene.record.transcript).toMatchObject([
        { role: 'system', text: 'Sent keys 1W2#', final: true },
      ]);
      expect(scene.record.incidents).toEqual([]);
      scene.stop();
      expect((await scene.expectEnd()).media?.framesReceived).toBe(1);
    },
  );

  it('may come before the old one has gone, which is then closed', async () => {
    const scene = new Scene(replied);
    await scene.up();
    const [receiver, socket] = [scene.receiver, scene.socket];
    scene.agentSpeaks();
    await scene.bench.desk.sendDigits(scene.callId, '1');
    scene.stream();
    expect(socket.closes).toEqual([[1000, 'Replaced by another stream']]);
    expect(scene.bench.engine.heard).toEqual(['start', 'hold', 'resume continue']);
    const sent = socket.sent.length;
    scene.agentSpeaks();
    expect(socket.sent).toHaveLength(sent);
    expect(scene.socket.sent.length).toBeGreaterThan(0);
    receiver.receiveText(text({ type: 'stop' }));
    expect(scene.isLive).toBe(true);
  });

  it('that does not come in time ends the call, after the keys have had theirs', async () => {
    const scene = new Scene(replied);
    await scene.up();
    await scene.bench.desk.sendDigits(scene.callId, '1WW1');
    scene.stop();
    await scene.bench.pass(12_999);
    expect(scene.isLive).toBe(true);
    await scene.bench.pass(1);
    expect(scene.bench.rest.of('hangUp')).toHaveLength(1);
    expect(await scene.expectEnd()).toMatchObject({ endReason: 'stream-lost', outcome: 'answered' });
  });

  it('has its time from when the carrier has taken the keys', async () => {
    const scene = new Scene(replied);
    await scene.up();
    let taken = () => {};
    scene.bench.rest.answers.sendDigits = new Promise((resolve) => (taken = resolve));
    const sent = scene.bench.desk.sendDigits(scene.callId, '1');
    scene.stop();
    await scene.bench.pass(10_000);
    taken();
    await sent;
    await scene.bench.pass(10_499);
    expect(scene.isLive).toBe(true);
    await scene.bench.pass(1);
    expect(scene.isLive).toBe(false);
  });

  it('is let in by a token that lasts as long as the keys', async () => {
    const scene = new Scene(replied, { key: KEY });
    const { bench } = scene;
    bench.ring();
    const facts = { carrierCallId: 'carrier-call-1', caller: '+15550111', callee: '+15550100' };
    const { receiver } = bench.admit({ ...facts, direction: 'inbound' });
    receiver.receiveText(
      JSON.stringify({
        type: 'start',
        format: PCM_16K,
        outboundFormat: PCM_16K,
        ...facts,
        codec: 'pcm',
        parameters: {},
      }),
    );
    await bench.desk.sendDigits('call-1', 'WW');
    const token = new URL(bench.rest.invitations[0]?.url ?? '').pathname.split('/').at(-1) ?? '';
    const nowMs = bench.clock.wallNow();
    expect(readStreamToken(KEY, token, nowMs + 61_999)).toMatchObject({ callId: 'call-1', ...facts });
    expect(readStreamToken(KEY, token, nowMs + 62_000)).toBeUndefined();
  });

  it('is taken in another format', async () => {
    const scene = new Scene(replied, { backend: loadTranscoder('javascript') });
    const { bench } = scene;
    await scene.up();
    await bench.desk.sendDigits(scene.callId, '1');
    scene.stop();
    scene.stream({ format: MULAW_8K, outboundFormat: MULAW_8K });
    bench.engine.context.playout.push(new Int16Array(640));
    await bench.pass(100);
    expect(scene.socket.sent).toEqual(['audio 160', 'audio 160']);
    scene.receiver.receiveText(text({ type: 'audio', samples: 160 }));
    expect(bench.engine.heard.at(-1)).toBe('audio 320');
  });

  it('in a format that cannot be converted ends in an apology', async () => {
    const scene = new Scene(replied);
    await scene.up();
    await scene.bench.desk.sendDigits(scene.callId, '1');
    scene.stop();
    scene.stream({ format: MULAW_8K, outboundFormat: MULAW_8K });
    expect(scene.bench.rest.of('speak')).toHaveLength(1);
    scene.over('answered');
    expect(await scene.expectEnd()).toMatchObject({ endReason: 'provider-failed' });
  });

  it('speaks what it takes, whatever it sends', async () => {
    const scene = new Scene(commanded, { backend: loadTranscoder('javascript') });
    await scene.ring();
    await scene.answer();
    scene.stream({ format: MULAW_8K, outboundFormat: PCM_16K });
    scene.bench.engine.context.playout.push(new Int16Array(320));
    await scene.bench.pass(100);
    expect(scene.socket.sent).toEqual(['audio 640']);
  });

  it('and names another call is refused, and the call goes on', async () => {
    const scene = new Scene(replied);
    await scene.up();
    await scene.bench.desk.sendDigits(scene.callId, '1');
    scene.stop();
    scene.stream({ carrierCallId: 'carrier-other' });
    expect(scene.socket.closes).toEqual([[1008, 'The start message names another call']]);
    expect(scene.isLive).toBe(true);
    scene.stream();
    expect(scene.bench.engine.heard.at(-1)).toBe('resume continue');
  });
});

describe('a socket that nobody expects', () => {
  it.each(KINDS)('is not admitted ($direction, $steering)', async (kind) => {
    const scene = new Scene(kind);
    await scene.up();
    expect(scene.bench.desk.expectsStream(scene.callId)).toBe(false);
    expect(() => scene.stream()).toThrow(RequestError);
    expect(scene.isLive).toBe(true);
  });

  it('is not admitted beside one that is, whatever is expected', async () => {
    const scene = new Scene(commanded);
    await scene.ring();
    expect(scene.bench.desk.expectsStream(scene.callId)).toBe(false);
    await scene.answer();
    expect(scene.bench.desk.expectsStream(scene.callId)).toBe(true);
    scene.bench.admit();
    expect(scene.bench.desk.expectsStream(scene.callId)).toBe(false);
    expect(() => scene.bench.admit()).toThrow(RequestError);
  });

  it('of a call that claims another carrier’s id is not admitted', async () => {
    const scene = new Scene(commanded);
    await scene.ring();
    await scene.answer();
    expect(() => scene.bench.admit({ carrierCallId: 'carrier-other' })).toThrow(RequestError);
  });
});

describe('a stream that is lost at a carrier that is steered by commands', () => {
  it.each(COMMANDS)('is asked for again, and the agent goes on ($direction)', async (kind) => {
    const scene = new Scene(kind);
    const { bench } = scene;
    await scene.up();
    scene.agentSpeaks();
    scene.cut();
    expect(bench.engine.heard.at(-1)).toBe('hold');
    expect(bench.rest.requests).toEqual([`startStream ${scene.carrierCallId} preferred`]);
    await bench.pass(2000);
    scene.stream();
    expect(bench.engine.heard.at(-1)).toBe('resume continue');
    expect(scene.record.incidents).toMatchObject([{ code: 'stream-replaced' }]);
    await bench.pass(20_000);
    expect(scene.isLive).toBe(true);
  });

  it('takes half a frame of the caller with it', async () => {
    const scene = new Scene(commanded);
    await scene.up();
    scene.receiver.receiveText(text({ type: 'audio', samples: 200 }));
    scene.cut();
    scene.stream();
    scene.receiver.receiveText(text({ type: 'audio', samples: 200 }));
    expect(scene.bench.engine.heard.at(-1)).toBe('resume continue');
    scene.receiver.receiveText(text({ type: 'audio', samples: 120 }));
    expect(scene.bench.engine.heard.at(-1)).toBe('audio 320');
  });

  it('is not asked for once more when it connects in the meantime', async () => {
    const scene = new Scene(commanded);
    await scene.ring();
    await scene.answer();
    scene.report({ type: 'stream-failed', streamId: null });
    await scene.bench.pass(500);
    scene.bench.admit();
    await scene.bench.pass(3000);
    expect(scene.bench.rest.of('startStream')).toHaveLength(1);
  });

  it('is asked for a few times and no more', async () => {
    const scene = new Scene(commanded);
    await scene.up();
    for (let count = 0; count < 3; count += 1) {
      scene.cut();
      scene.stream();
    }
    scene.cut();
    expect(scene.bench.rest.of('startStream')).toHaveLength(3);
    expect(await scene.expectEnd()).toMatchObject({ endReason: 'stream-lost' });
    expect(scene.bench.rest.of('hangUp')).toHaveLength(1);
  });

  it('counts when the socket goes before its start, and when the carrier could not open it', async () => {
    const scene = new Scene(commanded);
    await scene.ring();
    await scene.answer();
    scene.bench.admit().receiver.socketClosed(1006);
    await scene.bench.pass(1000);
    expect(scene.bench.rest.of('startStream')).toHaveLength(2);
    scene.report({ type: 'stream-failed', streamId: null });
    scene.report({ type: 'stream-failed', streamId: null });
    await scene.bench.pass(1000);
    expect(scene.bench.rest.of('startStream')).toHaveLength(3);
    scene.stream();
    await scene.bench.pass(20_000);
    expect(scene.bench.rest.of('startStream')).toHaveLength(3);
    expect(scene.isLive).toBe(true);
  });

  it('is believed lost when the carrier says so, whatever its socket looks like', async () => {
    const scene = new Scene(commanded);
    const { bench } = scene;
    await scene.up();
    const [socket] = [scene.socket];
    scene.report({ type: 'stream-failed', streamId: 'stream-1' });
    expect(bench.engine.heard.at(-1)).toBe('hold');
    expect(socket.closes).toEqual([[1000, 'Stream ended']]);
    expect(bench.rest.of('startStream')).toHaveLength(1);
    // The news may come twice, and be about the stream that is replaced by now.
    scene.report({ type: 'stream-failed', streamId: 'stream-1' });
    scene.stream({ streamId: 'stream-2' });
    scene.report({ type: 'stream-failed', streamId: 'stream-1' });
    scene.report({ type: 'stream-failed', streamId: 'stream-unheard-of' });
    await bench.pass(20_000);
    expect(bench.engine.heard.at(-1)).toBe('resume continue');
    expect(bench.rest.of('startStream')).toHaveLength(1);
    // A carrier that does not say which means the one there is.
    scene.report({ type: 'stream-failed', streamId: null });
    expect(bench.rest.of('startStream')).toHaveLength(2);
    expect(scene.isLive).toBe(true);
  });

  it('is not given up for one that was lost before, in another process perhaps, while it connects', async () => {
    const scene = new Scene(commanded);
    await scene.ring();
    await scene.answer();
    const { socket } = scene.bench.admit();
    scene.report({ type: 'stream-failed', streamId: 'stream-unheard-of' });
    expect(socket.closes).toEqual([]);
    // Without a name, it is the one there is.
    scene.report({ type: 'stream-failed', streamId: null });
    expect(socket.closes).toEqual([[1000, 'Stream ended']]);
  });

  it('may be lost as often as another one works', async () => {
    const scene = new Scene(commanded);
    await scene.up();
    for (let count = 1; count <= 10; count += 1) {
      for (let frame = 0; frame < 50; frame += 1)
        scene.receiver.receiveText(text({ type: 'audio', samples: 320 }));
      scene.cut();
      expect(scene.bench.rest.of('startStream')).toHaveLength(count);
      scene.stream();
    }
    expect(scene.isLive).toBe(true);
  });

  it('that cannot be opened ends the call, with the error of it', async () => {
    const scene = new Scene(commanded);
    scene.bench.rest.failures.startStream = new CarrierError('Not now.', { status: 500, retryable: false });
    await scene.ring();
    await scene.answer();
    expect(await scene.expectEnd()).toMatchObject({
      endReason: 'stream-lost',
      outcome: 'failed',
      error: { code: 'CARRIER_FAILED', message: 'Not now.' },
    });
    expect(scene.bench.rest.of('hangUp')).toHaveLength(1);
  });

  it('that is there all the same when the carrier refuses it is taken', async () => {
    const scene = new Scene(commanded);
    let refuse: (error: Error) => void = () => {};
    scene.bench.rest.answers.startStream = new Promise((_, reject) => (refuse = reject));
    await scene.ring();
    await scene.answer();
    scene.stream();
    refuse(new CarrierError('late', { status: 500, retryable: false }));
    await scene.bench.pass(60_000);
    expect(scene.isLive).toBe(true);
  });

  it('is not asked for when the agent breaks over its loss: the carrier apologizes', async () => {
    const scene = new Scene(commanded);
    await scene.up();
    scene.bench.engine.trouble = 'hold';
    scene.cut();
    expect(scene.bench.rest.of('startStream')).toEqual([]);
    expect(scene.bench.rest.of('speak')).toHaveLength(1);
    scene.report({ type: 'speech-ended' });
    expect(await scene.expectEnd()).toMatchObject({ endReason: 'provider-failed' });
  });

  it('is opened once more when the report of the answer is lost', async () => {
    const scene = new Scene(commanded);
    await scene.ring();
    await scene.bench.pass(9999);
    expect(scene.bench.rest.of('startStream')).toEqual([]);
    await scene.bench.pass(1);
    scene.stream();
    scene.status('active');
    expect(scene.bench.rest.of('startStream')).toHaveLength(1);
    expect(scene.bench.types()).toEqual(['call.status', 'call.started']);
  });
});

describe('a codec that is not spoken', () => {
  it('is replaced by the one that every carrier speaks, once', async () => {
    const scene = new Scene(commanded);
    const { bench } = scene;
    await scene.ring();
    await scene.answer();
    scene.stream({ format: null, codec: 'G722' });
    expect(bench.rest.of('startStream')).toEqual([
      'startStream carrier-call-1 preferred',
      'startStream carrier-call-1 fallback',
    ]);
    scene.stop();
    scene.stream();
    expect(bench.engine.heard).toEqual(['start']);
    expect(scene.record.incidents[0]?.message).toContain('G722');
    scene.cut();
    expect(bench.rest.of('startStream').at(-1)).toBe('startStream carrier-call-1 fallback');
  });

  it('ends in an apology when it comes again', async () => {
    const scene = new Scene(commanded);
    await scene.ring();
    await scene.answer();
    scene.stream({ format: null, codec: 'G722' });
    scene.stream({ format: null, codec: 'G722' });
    expect(scene.bench.rest.of('startStream')).toHaveLength(2);
    expect(scene.bench.rest.of('speak')).toHaveLength(1);
    scene.report({ type: 'speech-ended' });
    expect(await scene.expectEnd()).toMatchObject({
      endReason: 'protocol-error',
      outcome: 'failed',
      error: { code: 'PROTOCOL_INVALID' },
    });
    expect(scene.socket.closes).toEqual([[1003, 'Unsupported codec']]);
  });
});
