import { describe, expect, it } from 'vitest';
import { MULAW_8K } from '../../../src/audio/format.js';
import { CallerOutbox } from '../../../src/providers/wire/caller-outbox.js';

function open(keptMs = 100) {
  const sent: number[] = [];
  const scene = { sent, takes: true };
  const outbox = new CallerOutbox({
    format: MULAW_8K,
    keptMs,
    send(chunk) {
      if (scene.takes) sent.push(chunk[0] ?? -1);
      return scene.takes;
    },
  });
  return Object.assign(scene, {
    outbox,
    push: (value: number) => outbox.push(new Uint8Array(160).fill(value)),
  });
}

describe('caller audio on its way', () => {
  it('is sent as it comes, and counted', () => {
    const { outbox, push, sent } = open();
    push(1);
    push(2);
    expect([sent, outbox.sentMs, outbox.droppedMs]).toEqual([[1, 2], 40, 0]);
    outbox.restart();
    expect(outbox.sentMs).toBe(0);
  });

  it('waits while it is not taken; of more than is kept the oldest goes', () => {
    const scene = open();
    scene.takes = false;
    for (let value = 0; value < 7; value += 1) scene.push(value);
    scene.takes = true;
    scene.outbox.flush();
    expect([scene.sent, scene.outbox.droppedMs]).toEqual([[2, 3, 4, 5, 6], 40]);
  });

  it('is copied', () => {
    const scene = open();
    scene.takes = false;
    const chunk = new Uint8Array(160).fill(1);
    scene.outbox.push(chunk);
    chunk.fill(9);
    scene.takes = true;
    scene.outbox.flush();
    expect(scene.sent).toEqual([1]);
  });
});
