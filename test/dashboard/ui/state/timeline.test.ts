import { expect, it } from 'vitest';
import type { CallFact } from '../../../../src/contract/call-event.js';
import type { CallRecord } from '../../../../src/contract/call-record.js';
import { nameIncident, timelineOf } from '../../../../src/dashboard/ui/state/timeline.js';
import { reduceCall } from '../../../../src/events/reduce.js';
import { stamp, started } from '../../../support/call-facts.js';

function recordOf(facts: readonly CallFact[]): CallRecord {
  const events = stamp(facts, { callId: 'c', at: 1000 });
  const record = events.reduce<CallRecord | undefined>(reduceCall, undefined);
  if (record === undefined) throw new Error('no record');
  return record;
}

it('tells to whom the caller was handed over, and with which words', () => {
  const provider = { engine: 'a/model', stt: null, llm: null, tts: null };
  const changed = { from: 'desk', to: 'billing', summary: 'A bill of May.', mode: 'realtime' } as const;
  const record = recordOf([started(), { type: 'agent.changed', ...changed, provider }]);
  expect(timelineOf(record, { masked: false })).toContainEqual(
    expect.objectContaining({
      what: 'Handed over to billing',
      detail: 'A bill of May.',
      isTrouble: false,
    }),
  );
});

it('tells how long the call was without a provider, where it was', () => {
  const facts: CallFact[] = [
    started(),
    { type: 'incident.noted', code: 'stream-replaced', message: 'Something.' },
    { type: 'provider.reconnected', stage: 'stt', provider: 'a/ears', code: 'PROVIDER_FAILED', gapMs: 740 },
  ];
  const troubles = timelineOf(recordOf(facts), { masked: false }).filter(({ isTrouble }) => isTrouble);
  expect(troubles.map(({ what, detail }) => `${what}: ${detail}`)).toEqual([
    'Stream replaced: Something.',
    'Provider reconnected: a/ears failed (PROVIDER_FAILED) and works again. (740 ms)',
  ]);
});

it.each(['constructor', 'toString', '__proto__'])('shows the code %s of an incident as it stands', (code) => {
  expect(nameIncident(code)).toBe(code);
});
