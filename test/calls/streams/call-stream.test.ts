import { describe, expect, it } from 'vitest';
import { startText, text } from '../../support/call-bench.js';
import { KINDS, Scene } from '../scene.js';

const FRAME = text({ type: 'audio', samples: 320 });
const COMMANDS = KINDS.filter(({ steering }) => steering === 'commands');
const REPLIES = KINDS.filter(({ steering }) => steering === 'replies');

/** A call whose stream has started and says nothing by itself. */
async function dead(kind: (typeof KINDS)[number]) {
  const scene = new Scene(kind);
  await scene.ring();
  await scene.answer();
  const { socket, receiver } = scene.bench.admit({ callId: scene.callId }, { dead: true });
  receiver.receiveText(startText({ carrierCallId: scene.carrierCallId }));
  scene.bench.rest.requests.length = 0;
  return { scene, bench: scene.bench, socket, receiver };
}

describe('a stream without audio', () => {
  it.each(COMMANDS)(
    'is lost after three seconds, and another one is asked for ($direction)',
    async (kind) => {
      const { scene, bench, socket, receiver } = await dead(kind);
      receiver.receiveText(FRAME);
      await bench.pass(2900);
      receiver.receiveText(FRAME);
      await bench.pass(3099);
      expect(bench.rest.requests).toEqual([]);
      await bench.pass(1);
      expect(bench.rest.requests).toEqual([`startStream ${scene.carrierCallId} preferred`]);
      expect(socket.closes).toEqual([[1000, 'Stream ended']]);
      expect(bench.engine.heard.at(-1)).toBe('hold');
      scene.stream({ streamId: 'stream-2' });
      expect(bench.engine.heard.at(-1)).toBe('resume continue');
      expect(scene.record.incidents).toMatchObject([{ code: 'stream-replaced' }]);
      await bench.pass(60_000);
      expect(scene.isLive).toBe(true);
    },
  );

  it.each(REPLIES)('ends the call where no other can be asked for ($direction)', async (kind) => {
    const { scene, bench } = await dead(kind);
    await bench.pass(3100);
    expect(bench.rest.requests[0]).toBe(`lookUp ${scene.carrierCallId}`);
    expect(bench.rest.of('hangUp')).toHaveLength(1);
    expect(await scene.expectEnd()).toMatchObject({ endReason: 'stream-lost', outcome: 'answered' });
  });

  it.each(COMMANDS)('is lost though marks and keys still come ($direction)', async (kind) => {
    const { bench, receiver } = await dead(kind);
    for (let second = 0; second < 3; second += 1) {
      receiver.receiveText(text({ type: 'mark', name: 'x' }));
      receiver.receiveText(text({ type: 'ignored' }));
      await bench.pass(1000);
    }
    await bench.pass(100);
    expect(bench.rest.of('startStream')).toHaveLength(1);
  });

  it.each(COMMANDS)('is replaced when it has not even started ($direction)', async (kind) => {
    const scene = new Scene(kind);
    await scene.ring();
    await scene.answer();
    const { socket } = scene.bench.admit({ callId: scene.callId });
    await scene.bench.pass(3100);
    expect(socket.closes).toEqual([[1008, 'No start message']]);
    await scene.bench.pass(1000);
    expect(scene.bench.rest.of('startStream')).toHaveLength(2);
    scene.stream();
    await scene.bench.pass(60_000);
    expect(scene.isLive).toBe(true);
  });

  it.each(COMMANDS)('is well while the call is on hold ($direction)', async (kind) => {
    const { scene, bench, receiver } = await dead(kind);
    scene.report({ type: 'hold', isHeld: true });
    await bench.pass(600_000);
    expect(bench.rest.requests).toEqual([]);
    receiver.receiveText(FRAME);
    scene.report({ type: 'hold', isHeld: false });
    await bench.pass(2900);
    expect(bench.rest.requests).toEqual([]);
    await bench.pass(3200);
    expect(bench.rest.of('startStream')).toHaveLength(1);
  });

  it.each(KINDS)(
    'is not lost when the loop was blocked: what has come is read first ($direction, $steering)',
    async (kind) => {
      const { scene, bench, receiver } = await dead(kind);
      receiver.receiveText(FRAME);
      // The timers of a blocked loop run before its sockets are read.
      bench.clock.stall(8000);
      bench.clock.advance(0);
      receiver.receiveText(FRAME);
      await bench.pass(2000);
      expect(scene.isLive).toBe(true);
      expect(bench.rest.requests).toEqual([]);
    },
  );

  it.each(KINDS)('changes nothing while the caller is handed over ($direction, $steering)', async (kind) => {
    const { scene, bench, receiver } = await dead(kind);
    receiver.receiveText(FRAME);
    await bench.desk.transfer(scene.callId, '+15550123');
    await bench.pass(10_000);
    expect(scene.isLive).toBe(true);
    expect(bench.rest.of('hangUp')).toEqual([]);
    expect(bench.rest.of('startStream')).toEqual([]);
  });
});

describe('a stream that breaks the rules', () => {
  it.each(KINDS)('is heard in real time, whatever it brings ($direction, $steering)', async (kind) => {
    const { scene, bench, socket, receiver } = await dead(kind);
    for (let frame = 0; frame < 300; frame += 1) receiver.receiveText(FRAME);
    await bench.pass(0);
    expect(scene.record.incidents.map(({ message }) => message)).toEqual([
      expect.stringMatching('faster than real time'),
    ]);
    expect(socket.closes).toEqual([]);
    for (let frame = 0; frame < 500; frame += 1) receiver.receiveText(FRAME);
    expect(socket.closes).toEqual([[1008, 'Audio faster than real time']]);
  });

  it.each(KINDS)('is started once ($direction, $steering)', async (kind) => {
    const { scene, bench, receiver } = await dead(kind);
    receiver.receiveText(startText({ carrierCallId: scene.carrierCallId }));
    expect(bench.logger.lines.map(({ fields }) => fields.reason)).toContain('A second start.');
  });
});
