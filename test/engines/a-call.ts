// What application code is told of a call, for tests that have none.
import type { CallContext } from '../../src/contract/call-context.js';

export const A_CALL: CallContext = {
  callId: 'c',
  direction: 'inbound',
  caller: '+15550100',
  callee: '+15550111',
  agent: 'front-desk',
  variables: { plan: 'gold' },
};
