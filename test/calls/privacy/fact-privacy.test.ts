import { describe, expect, it } from 'vitest';
import { FactPrivacy, type PrivacyState } from '../../../src/calls/privacy/fact-privacy.js';
import type { CallFact } from '../../../src/contract/call-event.js';
import { say, toolCall, turn } from '../../support/call-facts.js';

const TEXT = { text: '{"pin":"4929"}', cut: false };
const USED: CallFact = {
  type: 'turn.completed',
  turn: { ...turn(0), toolCalls: [toolCall({ arguments: TEXT, result: TEXT })] },
};

function call(before?: PrivacyState) {
  const privacy = new FactPrivacy({ transcript: 'full', keys: 'none' }, before);
  const keeps = () => {
    const [fact] = privacy.tell(USED);
    const [tool] = fact?.type === 'turn.completed' ? fact.turn.toolCalls : [];
    return [tool?.arguments, tool?.result].map((text) => text !== null);
  };
  return { privacy, keeps };
}

describe('FactPrivacy without keys', () => {
  it.each<[string, CallFact]>([
    ['were pressed', { type: 'dtmf.received', digit: '4' }],
    ['were sent', say('Sent keys [keys]', { role: 'system' })],
  ])('keeps what tools are called with until keys %s', (_, fact) => {
    const { privacy, keeps } = call();
    privacy.tell(say('Sent keys to the new tenant.'));
    expect(keeps()).toEqual([true, true]);
    privacy.tell(fact);
    expect(keeps()).toEqual([false, false]);
  });

  it('knows of the keys of the process before, and takes them for pressed where that is lost', () => {
    const { privacy } = call();
    expect(call(privacy.state).keeps()).toEqual([true, true]);
    privacy.tell({ type: 'dtmf.received', digit: '4' });
    for (const state of [privacy.state, {}]) expect(call(state).keeps()).toEqual([false, false]);
  });
});
