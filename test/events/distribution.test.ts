import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Distribution } from '../../src/events/distribution.js';
import { percentile } from '../../src/events/summarize.js';

it('a distribution has the percentiles of what was added and not taken away again', () => {
  const anyStep = fc.record({ value: fc.integer({ min: -5, max: 40 }), isThere: fc.boolean() });
  fc.assert(
    fc.property(fc.array(anyStep, { maxLength: 80 }), fc.integer({ min: 0, max: 100 }), (steps, percent) => {
      const distribution = new Distribution();
      const values: number[] = [];
      for (const { value, isThere } of steps) {
        if (isThere) {
          distribution.add(value);
          values.push(value);
          continue;
        }
        distribution.delete(value);
        if (values.includes(value)) values.splice(values.indexOf(value), 1);
      }
      expect(distribution.percentile(percent)).toBe(percentile(values, percent));
    }),
  );
});
