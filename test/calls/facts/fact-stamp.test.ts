import { expect, it } from 'vitest';
import { FactStamp } from '../../../src/calls/facts/fact-stamp.js';
import type { CallEvent } from '../../../src/contract/call-event.js';
import { EventBus } from '../../../src/events/bus.js';
import { FakeClock } from '../../support/fake-clock.js';
import { RecordedLogger } from '../../support/recorded-logger.js';

it('counts from one, and never lets a clock that is set back turn the order of facts', () => {
  const bus = new EventBus(new RecordedLogger());
  const events: CallEvent[] = [];
  bus.subscribe((event) => void events.push(event));
  const times = [500, 400, 600];
  const clock = Object.assign(new FakeClock(), { wallNow: () => times.shift() ?? 0 });
  const stamp = new FactStamp('call-1', { nodeId: 'node-1', bus, clock });
  for (const digit of ['1', '2', '3']) stamp.publish({ type: 'dtmf.received', digit });
  expect(events).toEqual([
    { callId: 'call-1', nodeId: 'node-1', term: 1, seq: 1, at: 500, type: 'dtmf.received', digit: '1' },
    { callId: 'call-1', nodeId: 'node-1', term: 1, seq: 2, at: 500, type: 'dtmf.received', digit: '2' },
    { callId: 'call-1', nodeId: 'node-1', term: 1, seq: 3, at: 600, type: 'dtmf.received', digit: '3' },
  ]);
});
