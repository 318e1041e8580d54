import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Oldest } from '../../src/base/oldest.js';

describe('Oldest', () => {
  it('finds the first entry of the map, whatever is set and deleted meanwhile', () => {
    const step = fc.record({
      kind: fc.constantFrom('set', 'set', 'delete', 'forget oldest', 'look', 'clear'),
      key: fc.integer({ min: 0, max: 8 }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 600 }), (steps) => {
        const map = new Map<number, object>();
        const oldest = new Oldest(map);
        for (const { kind, key } of steps) {
          if (kind === 'set') {
            map.delete(key);
            map.set(key, {});
          } else if (kind === 'delete') map.delete(key);
          else if (kind === 'clear') map.clear();
          else if (kind === 'forget oldest') map.delete(oldest.find()?.[0] ?? -1);
          else expect(oldest.find()).toEqual([...map][0]);
        }
        expect(oldest.find()).toEqual([...map][0]);
      }),
    );
  });
});
