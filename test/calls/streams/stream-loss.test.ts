import { describe, expect, it } from 'vitest';
import type { StreamLoss } from '../../../src/calls/streams/call-stream.js';
import { judgeLoss, type LossSituation, type LossVerdict } from '../../../src/calls/streams/stream-loss.js';

describe('the loss of the stream', () => {
  const calm: LossSituation = {
    isAnnounced: false,
    isReportedOver: false,
    isTransferring: false,
    isReplaced: false,
    isInstructed: false,
    isDoubtful: false,
    isCommanded: false,
    canReopen: false,
  };
  const commanded = { ...calm, isCommanded: true, canReopen: true };

  it.each<[StreamLoss['type'], Partial<LossSituation>, LossVerdict, LossVerdict]>([
    // What happens; elsewhere; at a carrier that is steered by commands.
    ['stop', {}, 'end', 'end'],
    ['lost', {}, 'end', 'reopen'],
    ['broken', {}, 'end', 'end'],
    ['stop', { isReplaced: true }, 'wait', 'wait'],
    ['lost', { isReplaced: true }, 'wait', 'wait'],
    ['broken', { isReplaced: true }, 'end', 'end'],
    ['stop', { isInstructed: true }, 'ask', 'ask'],
    ['stop', { isDoubtful: true }, 'ask', 'ask'],
    ['stop', { isInstructed: true, isReplaced: true }, 'ask', 'ask'],
    ['stop', { isInstructed: true, isReportedOver: true }, 'end', 'end'],
    ['lost', { canReopen: true }, 'reopen', 'reopen'],
    ['stop', { isTransferring: true }, 'wait', 'wait'],
    ['lost', { isTransferring: true }, 'wait', 'wait'],
    ['stop', { isReportedOver: true }, 'end', 'end'],
    ['lost', { isReportedOver: true }, 'as-reported', 'as-reported'],
    ['lost', { isReportedOver: true, isTransferring: true }, 'as-reported', 'as-reported'],
    ['stop', { isAnnounced: true }, 'wait', 'end'],
    ['lost', { isAnnounced: true }, 'wait', 'wait'],
    ['broken', { isAnnounced: true }, 'wait', 'wait'],
  ])('%s with %j', (type, situation, elsewhere, commandedThere) => {
    expect(judgeLoss(type, { ...calm, ...situation })).toBe(elsewhere);
    expect(judgeLoss(type, { ...commanded, ...situation })).toBe(commandedThere);
  });

  it('is the end when no further stream may be asked for', () => {
    expect(judgeLoss('lost', { ...commanded, canReopen: false })).toBe('end');
  });
});
