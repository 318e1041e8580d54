import fc from 'fast-check';
import { expect, it } from 'vitest';
import { byNewestStart } from '../../src/events/call-filter.js';
import { NewestFirst } from '../../src/stores/newest-first.js';

it('calls stay in the order of lists, whichever come and go', () => {
  const anyPlace = fc.record({ startedAt: fc.nat(5), callId: fc.constantFrom('a', 'b', 'c', 'd') });
  fc.assert(
    fc.property(fc.array(anyPlace, { maxLength: 40 }), (steps) => {
      const order = new NewestFirst();
      let places: { startedAt: number; callId: string }[] = [];
      for (const { startedAt, callId } of steps) {
        const place = { startedAt, callId: `${startedAt}-${callId}` };
        const isThere = places.some((other) => other.callId === place.callId);
        places = isThere ? places.filter((other) => other.callId !== place.callId) : [...places, place];
        if (isThere) order.delete(place);
        else order.add(place);
        order.delete({ startedAt: 9, callId: 'not there' });
      }
      expect([...order.callIds()]).toEqual(places.sort(byNewestStart).map(({ callId }) => callId));
    }),
  );
});
