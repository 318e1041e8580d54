// A call as a page has it that reads an event stream: what its snapshot says, and every fact behind that.
import { expect } from 'vitest';
import type { CallRecord } from '../../src/contract/call-record.js';
import type { Snapshot } from '../../src/contract/dashboard-api.js';
import { reduceCall } from '../../src/events/reduce.js';
import type { EventStream } from './event-stream.js';

/** Of a call that was up as the stream began. Fails the test for one that begins with no snapshot, has another one, or tells something twice. */
export function shownByStream({ events, facts }: EventStream, callId: string): CallRecord | undefined {
  const [[type, data] = []] = events;
  expect(type).toBe('snapshot');
  expect(events.filter(([other]) => other === 'snapshot')).toHaveLength(1);
  const { active } = data as Snapshot;
  let shown: CallRecord | undefined = active.find((call) => call.callId === callId);
  expect(shown).toBeDefined();
  for (const fact of facts.filter((each) => each.callId === callId)) {
    const before: CallRecord | undefined = shown;
    shown = reduceCall(shown, fact);
    // What the snapshot, or the stream, has said already changes nothing.
    expect(shown).not.toBe(before);
  }
  return shown;
}
