import { expect, it } from 'vitest';
import type { CallFact } from '../../../../src/contract/call-event.js';
import type { CallRecord } from '../../../../src/contract/call-record.js';
import { timelineOf } from '../../../../src/dashboard/ui/state/timeline.js';
import { reduceCall } from '../../../../src/events/reduce.js';
import { stamp, started } from '../../../support/call-facts.js';

it('tells how long the call was without a provider, where it was', () => {
  const facts: CallFact[] = [
    started(),
    { type: 'incident.noted', code: 'stream-replaced', message: 'Something.' },
    { type: 'provider.reconnected', stage: 'stt', provider: 'a/ears', code: 'PROVIDER_FAILED', gapMs: 740 },
  ];
  const record = stamp(facts, { callId: 'c', at: 1000 }).reduce<CallRecord | undefined>(
    reduceCall,
    undefined,
  );
  if (record === undefined) throw new Error('no record');
  const troubles = timelineOf(record, { masked: false }).filter(({ isTrouble }) => isTrouble);
  expect(troubles.map(({ what, detail }) => `${what}: ${detail}`)).toEqual([
    'Stream replaced: Something.',
    'Provider reconnected: a/ears failed (PROVIDER_FAILED) and works again. (740 ms)',
  ]);
});
