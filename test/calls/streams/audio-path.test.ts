import { describe, expect, it, vi } from 'vitest';
import { MULAW_8K } from '../../../src/audio/format.js';
import type { Clock } from '../../../src/base/clock.js';
import { silentMeters } from '../../../src/base/meters.js';
import { callClock } from '../../../src/calls/call-clock.js';
import { AudioPath, type Ear } from '../../../src/calls/streams/audio-path.js';
import { transcoder } from '../../../src/transcoder/select.js';
import { FakeClock } from '../../support/fake-clock.js';

const FRAME = new Uint8Array(160).fill(0xff);

function open(ear: Ear, clock: Clock = new FakeClock()) {
  const onFailure = vi.fn();
  const sink = { sendAudio() {}, sendMark() {}, sendClear() {}, bufferedBytes: 0 };
  const path = new AudioPath(
    { format: MULAW_8K, outboundFormat: MULAW_8K, sink },
    { backend: transcoder, clock, beganAt: 0, meters: silentMeters, onFailure },
  );
  path.ear = ear;
  return { path, onFailure };
}

describe('the way of the caller’s audio', () => {
  it('converts nothing for an ear that takes what the line carries, and everything for one that does not', () => {
    const heard: string[] = [];
    let takes = true;
    const { path } = open({
      pushEncoded: (payload) => {
        heard.push(`${payload.length} bytes`);
        return takes;
      },
      pushAudio: (frame) => void heard.push(`${frame.length} samples`),
    });
    path.receive(FRAME, 0);
    takes = false;
    path.receive(FRAME, 20);
    expect(heard).toEqual(['160 bytes', '160 bytes', '320 samples']);
  });

  it.each<[string, () => boolean]>([
    [
      'throws',
      () => {
        throw new Error('planted');
      },
    ],
    ['does not take it', () => false],
  ])('ends quietly where the ear ends the call and %s', (_, end) => {
    const pushAudio = vi.fn();
    let isLast = false;
    const { path } = open({
      pushEncoded() {
        if (!isLast) return true;
        path.close();
        return end();
      },
      pushAudio,
    });
    path.receive(FRAME, 0);
    isLast = true;
    expect(() => path.receive(FRAME, 20)).not.toThrow();
    expect(pushAudio).not.toHaveBeenCalled();
  });

  it('tells what the ear throws, and goes on', () => {
    const { path, onFailure } = open({
      pushAudio() {
        throw new Error('planted');
      },
    });
    path.receive(FRAME, 0);
    path.receive(FRAME, 20);
    expect(onFailure).toHaveBeenCalledTimes(2);
  });

  it('draws loudness from the beginning of the call, also where another process began it', () => {
    const clock = new FakeClock();
    const { path } = open(
      { pushAudio() {} },
      callClock(clock, (task) => task(), clock.now() - 5000),
    );
    path.receive(FRAME, 5000);
    const { startedAt, bucketMs, caller } = path.envelope() ?? {};
    expect(startedAt).toBe(clock.wallNow() - 5000);
    expect(Buffer.from(caller ?? '', 'base64').length / 2).toBe((5000 + 20) / (bucketMs ?? 1));
  });
});
