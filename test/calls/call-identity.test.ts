import { PCM_16K } from '../../src/audio/format.js';
import { describe, expect, it } from 'vitest';
import { identifyCall, type StartMessage } from '../../src/calls/call-identity.js';

const NOTHING = { callId: 'c', carrierCallId: null, caller: null, callee: null, direction: null };

function start(parameters: Record<string, string>): StartMessage {
  return {
    type: 'start',
    carrierCallId: 'CA9',
    streamId: 's',
    format: null,
    outboundFormat: PCM_16K,
    codec: '',
    parameters,
  };
}

describe('identifyCall', () => {
  const admission = {
    ...NOTHING,
    carrierCallId: 'CA1',
    caller: 'a',
    callee: 'b',
    direction: 'outbound' as const,
  };
  const stated = start({ caller: 'x', callee: 'y', direction: 'inbound' });

  it.each([
    ['a proven admission outranks the start message', admission, stated, true, ['CA1', 'a', 'b', 'outbound']],
    ['the start message outranks a query', admission, stated, false, ['CA1', 'x', 'y', 'inbound']],
    ['a query is better than nothing', admission, start({}), false, ['CA1', 'a', 'b', 'outbound']],
    [
      'an empty parameter says nothing',
      admission,
      start({ caller: '' }),
      false,
      ['CA1', 'a', 'b', 'outbound'],
    ],
    [
      'a direction that is none is not taken',
      NOTHING,
      start({ direction: 'up' }),
      false,
      ['CA9', '', '', 'inbound'],
    ],
    ['without a start only the admission speaks', admission, undefined, false, ['CA1', 'a', 'b', 'outbound']],
    ['nothing is known', NOTHING, undefined, true, [null, '', '', 'inbound']],
    [
      'inherited names are no parameters',
      NOTHING,
      start(Object.create({ caller: 'p' })),
      false,
      ['CA9', '', '', 'inbound'],
    ],
  ])('%s', (_, from, message, proven, expected) => {
    const { carrierCallId, caller, callee, direction } = identifyCall(from, message, { proven });
    expect([carrierCallId, caller, callee, direction]).toEqual(expected);
  });

  it('keeps numbers free of control characters, and short', () => {
    const { caller } = identifyCall(NOTHING, start({ caller: `+1\n555${'0'.repeat(300)}` }), {
      proven: false,
    });
    expect(caller).toMatch(/^\+15550{123}$/);
  });
});
