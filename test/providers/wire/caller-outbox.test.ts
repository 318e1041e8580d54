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

  describe('over another connection', () => {
    const turn = (scene: ReturnType<typeof open>) => {
      for (const value of [1, 2]) scene.push(value);
      scene.outbox.ended('a', 40);
      scene.push(3);
    };

    it.each<[string, (outbox: CallerOutbox) => void, number[], string[]]>([
      ['sent again with a turn that nobody knows', () => {}, [1, 2, 3], ['a']],
      ['sent again but for a turn whose words are there', (outbox) => outbox.worded('a'), [3], []],
      [
        'sent again but for a turn that is answered',
        (outbox) => outbox.answered({ withLater: true }),
        [3],
        [],
      ],
      ['sent again whole where other words have come', (outbox) => outbox.worded('b'), [1, 2, 3], ['a']],
      ['not sent again where nobody wants it', (outbox) => outbox.settle(60), [], []],
    ])('is %s', (_, happens, again, unheard) => {
      const scene = open();
      turn(scene);
      happens(scene.outbox);
      scene.outbox.restart();
      expect(scene.outbox.unheard).toEqual(unheard);
      scene.sent.length = 0;
      scene.outbox.flush();
      expect(scene.sent).toEqual(again);
    });

    it('is kept for the one behind that, too', () => {
      const scene = open();
      turn(scene);
      scene.outbox.worded('a');
      scene.push(4);
      scene.outbox.ended('b', 80);
      for (let connection = 0; connection < 2; connection += 1) {
        scene.outbox.restart();
        scene.outbox.restart();
        scene.outbox.flush();
        expect(scene.outbox.unheard).toEqual(['b']);
      }
      scene.outbox.worded('b');
      scene.outbox.restart();
      scene.sent.length = 0;
      scene.outbox.flush();
      expect(scene.sent).toEqual([]);
    });

    it('is no turn any more when it is older than what is kept', () => {
      const scene = open();
      turn(scene);
      for (const value of [4, 5, 6, 7]) scene.push(value);
      expect(scene.outbox.unheard).toEqual([]);
    });
  });

  describe('makes room while it waits to be sent again', () => {
    const full = () => {
      const scene = open();
      for (const value of [1, 2]) scene.push(value);
      scene.outbox.ended('a', 40);
      scene.takes = false;
      scene.outbox.restart();
      return scene;
    };

    it('and is no turn any more when all of it has gone', () => {
      const scene = full();
      for (const value of [3, 4, 5, 6]) scene.push(value);
      expect(scene.outbox.unheard).toEqual(['a']);
      scene.push(7);
      expect([scene.outbox.droppedMs, scene.outbox.unheard]).toEqual([40, []]);
    });

    it('and takes nothing along of what was said behind it', () => {
      const scene = full();
      for (const value of [3, 4, 5, 6]) scene.push(value);
      scene.takes = true;
      scene.outbox.flush();
      scene.outbox.answered({ withLater: true });
      scene.outbox.restart();
      scene.sent.length = 0;
      scene.outbox.flush();
      expect(scene.sent).toEqual([3, 4, 5, 6]);
    });
  });

  it('is known with its words, also where the service saw its end behind what it was sent', () => {
    const { outbox, push } = open();
    push(1);
    outbox.settle(20);
    outbox.ended('a', 30);
    outbox.worded('a');
    push(2);
    outbox.restart();
    expect(outbox.unheard).toEqual([]);
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
