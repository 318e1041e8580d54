import { describe, expect, it } from 'vitest';
import { MULAW_8K, PCM_16K } from '../../../src/audio/format.js';
import { InboundPace } from '../../../src/calls/streams/inbound-pace.js';
import { startText, text } from '../../support/call-bench.js';
import { FakeClock } from '../../support/fake-clock.js';
import { KINDS, Scene } from '../scene.js';

const FRAME = text({ type: 'audio', samples: 320 });

describe('the pace of the caller’s audio', () => {
  it.each([
    [MULAW_8K, 160],
    [PCM_16K, 640],
  ])('is that of the clock, and a hiccup of the network costs nothing (%j)', (format, bytes) => {
    const clock = new FakeClock();
    const pace = new InboundPace(format, clock.now());
    let droppedMs = 0;
    for (let minute = 0; minute < 60; minute += 1) {
      // What was held back for three seconds comes at once; the sender's clock runs 100 ppm fast.
      clock.advance(3000);
      for (let frame = 0; frame < 150; frame += 1) droppedMs += pace.take(bytes, clock.now());
      for (let frame = 0; frame < 2850; frame += 1) {
        clock.advance(19.998);
        droppedMs += pace.take(bytes, clock.now());
      }
    }
    expect(droppedMs).toBe(0);
    expect(pace.isExhausted).toBe(false);
  });

  it('does not save up: after a long silence no more comes at once than after a short one', () => {
    const clock = new FakeClock();
    const pace = new InboundPace(MULAW_8K, clock.now());
    clock.advance(600_000);
    let heard = 0;
    for (let frame = 0; frame < 1000; frame += 1) heard += pace.take(160, clock.now()) === 0 ? 1 : 0;
    expect(heard).toBe(250);
  });

  it('is lost with more than ten seconds too much', () => {
    const pace = new InboundPace(MULAW_8K, 0);
    for (let frame = 0; frame < 250 + 500; frame += 1) pace.take(160, 0);
    expect(pace.isExhausted).toBe(false);
    pace.take(160, 0);
    expect(pace.isExhausted).toBe(true);
  });

  it('forgives who is a little fast, for as long as it takes, and not who is twice as fast', () => {
    const clock = new FakeClock();
    const [little, twice] = [new InboundPace(MULAW_8K, clock.now()), new InboundPace(MULAW_8K, clock.now())];
    let [wasExhausted, exhaustedLittle] = [0, 0];
    for (let frame = 0; frame < 100_000; frame += 1) {
      clock.advance(19);
      little.take(160, clock.now());
      if (little.isExhausted) exhaustedLittle += 1;
      if (frame >= 5000) continue;
      twice.take(160, clock.now());
      twice.take(160, clock.now());
      wasExhausted ||= twice.isExhausted ? frame : 0;
    }
    expect(exhaustedLittle).toBe(0);
    expect(wasExhausted).toBeGreaterThan(0);
  });
});

describe('a stream that is pushed', () => {
  it.each(KINDS)(
    'is not, when our own loop was blocked and all that waited comes at once ($direction, $steering)',
    async (kind) => {
      const scene = new Scene(kind);
      await scene.ring();
      await scene.answer();
      const { bench } = scene;
      const { socket, receiver } = bench.admit({ callId: scene.callId }, { dead: true });
      receiver.receiveText(startText({ carrierCallId: scene.carrierCallId }));
      for (let second = 0; second < 2; second += 1) {
        for (let frame = 0; frame < 50; frame += 1) receiver.receiveText(FRAME);
        await bench.pass(1000);
      }
      bench.clock.stall(30_000);
      bench.clock.advance(0);
      for (let frame = 0; frame < 1500; frame += 1) receiver.receiveText(FRAME);
      expect(bench.engine.heard.filter((line) => line === 'audio 320')).toHaveLength(1600);
      expect(socket.closes).toEqual([]);
      expect(scene.record.incidents).toEqual([]);
    },
  );

  it.each(KINDS)(
    'is heard no longer than the call lasts, and closed ($direction, $steering)',
    async (kind) => {
      const scene = new Scene(kind);
      await scene.ring();
      await scene.answer();
      const { bench } = scene;
      const { socket, receiver } = bench.admit({ callId: scene.callId });
      receiver.receiveText(startText({ carrierCallId: scene.carrierCallId }));
      const heard = () => bench.engine.heard.filter((line) => line === 'audio 320').length;
      for (let frame = 0; frame < 700; frame += 1) receiver.receiveText(FRAME);
      expect(heard()).toBe(250);
      expect(socket.closes).toEqual([]);
      expect(scene.record.incidents).toMatchObject([{ code: 'audio-too-fast' }]);
      // A second later there is room for a second more.
      await bench.pass(1000);
      for (let frame = 0; frame < 100_000; frame += 1) receiver.receiveText(FRAME);
      expect(heard()).toBe(300);
      expect(socket.closes).toEqual([[1008, 'Audio faster than real time']]);
      const record = await scene.expectEnd();
      expect(record).toMatchObject({ endReason: 'protocol-error', error: { code: 'PROTOCOL_INVALID' } });
      expect(record.media?.framesReceived).toBeLessThan(1000);
      expect(bench.rest.of('hangUp')).toHaveLength(1);
    },
  );
});
