import { beforeEach, describe, expect, it } from 'vitest';
import { MULAW_8K } from '../../../src/audio/format.js';
import { TranscoderError } from '../../../src/base/errors.js';
import type { LiveListening, SoundEnd, SoundSink } from '../../../src/contract/live-sound.js';
import { readWav } from '../../../src/testing/wav.js';
import { transcoder } from '../../../src/transcoder/select.js';
import { CallBench, startText, text } from '../../support/call-bench.js';

const FRAME = new Int16Array(320).fill(1000);

class Sink implements SoundSink {
  readonly chunks: Uint8Array[] = [];
  readonly ends: SoundEnd[] = [];
  onWrite: () => void = () => {};
  write(bytes: Uint8Array): void {
    this.chunks.push(bytes);
    this.onWrite();
  }
  end(reason: SoundEnd): void {
    this.ends.push(reason);
  }

  /** In milliseconds, header left out. */
  get durationMs(): number {
    return (Buffer.concat(this.chunks).length - 44) / 64;
  }

  /** When the agent sounded, in milliseconds of what was written, as `[from, to]`. */
  get sounds(): [number, number][] {
    const bytes = Buffer.concat(this.chunks);
    bytes.writeUInt32LE(bytes.length - 44, 40);
    const { channels, sampleRateHz } = readWav(bytes);
    expect(sampleRateHz).toBe(16_000);
    const found: [number, number][] = [];
    for (const [index, sample] of (channels[1] ?? new Int16Array(0)).entries()) {
      const open = found.at(-1);
      if (sample === 0) continue;
      if (open?.[1] === index / 16) open[1] = (index + 1) / 16;
      else found.push([index / 16, (index + 1) / 16]);
    }
    return found;
  }
}

let bench: CallBench;

function listen(callId = 'call-1'): { sink: Sink; listening: LiveListening } {
  const sink = new Sink();
  const listening = bench.desk.listen(callId, sink);
  if (listening === undefined) throw new Error('no such call here');
  return { sink, listening };
}

/** The agent speaks for as long, and longer than that if it is cut. */
function speak(durationMs: number): void {
  for (let index = 0; index < durationMs / 20; index += 1) bench.engine.context.playout.push(FRAME);
}

function pass(durationMs: number): void {
  for (let passedMs = 0; passedMs < durationMs; passedMs += 20) bench.clock.advance(20);
}

describe('listening in to a call', () => {
  beforeEach(() => {
    bench = new CallBench({ listenIn: { pausesForKeys: false } });
  });

  it('gives what is heard in real time, a moment later, and nothing in the same tick', () => {
    bench.call();
    const { sink, listening } = listen();
    expect(listening.delayMs).toBe(300);
    expect(sink.chunks).toEqual([]);
    speak(200);
    pass(2000);
    expect(sink.durationMs).toBe(2000);
    expect(sink.sounds).toEqual([[300, 500]]);
    expect(sink.ends).toEqual([]);
  });

  it('gives what was cut up to there', () => {
    bench.call();
    const { sink } = listen();
    speak(1000);
    pass(400);
    bench.engine.context.playout.clear();
    pass(2000);
    expect(sink.sounds).toEqual([[300, 700]]);
  });

  it('gives the same to everybody, and each can leave', () => {
    bench.call();
    const first = listen();
    pass(1000);
    const second = listen('carrier-call-1');
    speak(200);
    pass(1000);
    expect(first.sink.sounds).toEqual([[1300, 1500]]);
    expect(second.sink.sounds).toEqual([[300, 500]]);
    expect(second.sink.chunks.at(-1)).toBe(first.sink.chunks.at(-1));
    first.listening.leave();
    first.listening.leave();
    pass(1000);
    expect(first.sink.durationMs).toBe(2000);
    expect(second.sink.durationMs).toBe(2000);
    expect([...first.sink.ends, ...second.sink.ends]).toEqual([]);
  });

  it('does nothing any more once the last one has left, and begins anew with the next', () => {
    bench.call();
    const timersBefore = bench.clock.pending;
    const { listening, sink } = listen();
    expect(bench.clock.pending).toBe(timersBefore + 1);
    pass(100);
    listening.leave();
    expect(bench.clock.pending).toBe(timersBefore);
    const written = sink.chunks.length;
    speak(200);
    pass(1000);
    expect(sink.chunks).toHaveLength(written);
    const next = listen();
    speak(200);
    pass(1000);
    expect(next.sink.sounds).toEqual([[300, 500]]);
  });

  it('ends with the call', () => {
    const { receiver } = bench.call();
    const { sink } = listen();
    pass(100);
    receiver.receiveText(text({ type: 'stop' }));
    receiver.socketClosed(1000);
    expect(sink.ends).toEqual(['call-ended']);
    const written = sink.chunks.length;
    pass(1000);
    expect(sink.chunks).toHaveLength(written);
    expect(() => bench.desk.listen('call-1', new Sink())).toThrow('The call is over.');
    expect(() => bench.desk.listen('carrier-call-1', new Sink())).toThrow('The call is over.');
  });

  it('is not begun again by who is told of the end', () => {
    const { receiver } = bench.call();
    const { sink } = listen();
    const refusals: unknown[] = [];
    sink.end = () => {
      try {
        listen();
      } catch (error) {
        refusals.push(error);
      }
    };
    receiver.receiveText(text({ type: 'stop' }));
    receiver.socketClosed(1000);
    expect(refusals).toMatchObject([{ code: 'REQUEST_CONFLICT' }]);
  });

  it('ends with the server', async () => {
    bench.call();
    const { sink } = listen();
    const stopping = bench.desk.shutDown(1000);
    expect(sink.ends).toEqual(['call-ended']);
    pass(2000);
    await stopping;
  });

  it('ends where another process has the call', () => {
    bench.call();
    const { sink } = listen();
    bench.desk.learn({ callId: 'call-1', nodeId: 'node-2', term: 7, type: 'call.status' });
    expect(sink.ends).toEqual(['moved']);
    expect(bench.desk.listen('call-1', new Sink())).toBeUndefined();
  });

  it('knows no call that is not here', () => {
    expect(bench.desk.listen('call-1', new Sink())).toBeUndefined();
  });

  it('is refused while nobody is connected', () => {
    bench.admit();
    bench.desk.ring({
      callId: 'call-2',
      carrierCallId: 'carrier-call-2',
      caller: '+15550111',
      callee: '+15550100',
      direction: 'inbound',
      host: 'h',
    });
    const sink = new Sink();
    expect(() => bench.desk.listen('call-1', sink)).toThrow('The call has no sound');
    expect(bench.desk.listen('call-2', sink)).toBeUndefined();
  });

  it('is refused where it is not offered', () => {
    bench = new CallBench();
    bench.call();
    expect(() => bench.desk.listen('call-1', new Sink())).toThrow('set listenIn');
  });

  it('fails alone: the call and the others go on', () => {
    const { engine } = bench.call();
    const [bad, good] = [listen(), listen()];
    bad.sink.onWrite = () => {
      throw new Error('a sink that breaks its word');
    };
    pass(200);
    expect(good.sink.ends).toEqual(['failed']);
    expect(bench.logger.lines.map(({ sentence }) => sentence)).toContain('listening in failed');
    expect(engine.heard).not.toContain('close');
    const { sink } = listen();
    pass(200);
    expect(sink.durationMs).toBe(200);
  });

  it('that cannot begin leaves the call alone, and nothing behind', () => {
    let isBroken = false;
    const createResampler: typeof transcoder.createResampler = (...rates) => {
      if (isBroken) throw new TranscoderError('TRANSCODER_INPUT', 'no room');
      return transcoder.createResampler(...rates);
    };
    const backend = Object.create(transcoder, { createResampler: { value: createResampler } });
    bench = new CallBench({ listenIn: { pausesForKeys: false }, backend });
    const { receiver } = bench.admit();
    receiver.receiveText(startText({ format: MULAW_8K, outboundFormat: MULAW_8K }));
    const timersBefore = bench.clock.pending;
    isBroken = true;
    expect(() => bench.desk.listen('call-1', new Sink())).toThrow('no room');
    expect(bench.clock.pending).toBe(timersBefore);
    expect(bench.engine.heard).not.toContain('close');
    isBroken = false;
    const { sink } = listen();
    speak(200);
    pass(1000);
    expect(sink.durationMs).toBe(1000);
    expect(sink.sounds.length).toBeGreaterThan(0);
  });
});

describe('a pause of what is listened to', () => {
  beforeEach(() => {
    bench = new CallBench({ listenIn: { pausesForKeys: false } });
  });

  it('is asked for by application and tool, without a recording too', async () => {
    const { engine } = bench.call();
    const { sink } = listen();
    speak(3000);
    pass(1000);
    await bench.desk.pauseRecording('call-1');
    pass(200);
    engine.context.controls.pauseRecording();
    await bench.desk.resumeRecording('call-1');
    pass(200);
    engine.context.controls.resumeRecording();
    pass(3000);
    // What was sent ahead while nobody was to hear it is not heard behind it either.
    expect(sink.sounds).toEqual([
      [300, 1300],
      [2100, 3300],
    ]);
  });

  it('is on for who comes in the middle of it', async () => {
    bench.call();
    await bench.desk.pauseRecording('call-1');
    const { sink } = listen();
    speak(1000);
    pass(500);
    expect(sink.sounds).toEqual([]);
    await bench.desk.resumeRecording('call-1');
    pass(2000);
    expect(sink.sounds).toEqual([[1200, 1300]]);
  });

  it('is refused where there is neither', async () => {
    bench = new CallBench();
    bench.call();
    await expect(bench.desk.pauseRecording('call-1')).rejects.toMatchObject({ code: 'REQUEST_CONFLICT' });
  });

  it('is from 1.2 seconds before a key that may be a secret to three behind it, however late it is told', () => {
    bench = new CallBench({ listenIn: { pausesForKeys: true } });
    const { receiver } = bench.call();
    const { sink, listening } = listen();
    expect(listening.delayMs).toBe(1200);
    speak(10_000);
    pass(3000);
    receiver.receiveText(text({ type: 'dtmf', digit: '1' }));
    pass(1000);
    receiver.receiveText(text({ type: 'dtmf', digit: '2' }));
    pass(8000);
    const [before, behind] = sink.sounds;
    expect(before).toEqual([1200, 3000]);
    expect(behind?.[0]).toBeGreaterThanOrEqual(1200 + 7000);
    expect(behind?.[0]).toBeLessThanOrEqual(1200 + 7400);
  });

  it('is not made for keys that are none', () => {
    const { receiver } = bench.call();
    const { sink } = listen();
    speak(3000);
    pass(1000);
    receiver.receiveText(text({ type: 'dtmf', digit: '1' }));
    pass(4000);
    expect(sink.sounds).toEqual([[300, 3300]]);
  });
});
