// The conversation in the hands of an engine.
import { expect, it } from 'vitest';
import type { Input, Policy } from '../../src/conversation/step.js';
import { Conversation, type Driver } from '../../src/engines/conversation.js';
import { FakeClock } from '../support/fake-clock.js';

const POLICY: Policy = {
  interruptible: true,
  keysInterrupt: true,
  idle: { afterMs: 8000, prompts: [], goodbye: 'Goodbye.' },
  endsTurns: false,
  transcribesCaller: false,
};
const SAID = { heard: 'Goodbye.', unheard: '', rest: '', isOwed: false, goodbye: '' };
const ANSWER = { heard: 'Goodbye.', unheard: '', rounds: [], heardAfter: 'Goodbye.', isOwed: false };

it('a hang-up that is decided is done though what comes before it fails', () => {
  const conversation = new Conversation({ clock: new FakeClock(), policy: POLICY, fact: () => {} });
  const driver: Driver = {
    live: { hasVoice: true, isCaughtUp: true, awaitsTools: false },
    sound: { isDry: false, isFilling: false },
    perform({ type }) {
      if (type === 'heard-nothing') throw new Error('no room');
    },
  };
  const ended: string[] = [];
  conversation.drivenBy(driver, {
    attempt: (task) => task(),
    context: {},
    ends: (reason) => ended.push(reason),
  });
  const goodbye: readonly Input[] = [
    { type: 'starts', isReplaceable: false },
    { type: 'say', text: 'Goodbye.', manner: { ends: 'idle' } },
    { type: 'audible' },
    { type: 'caller.sounds', startedAt: 0 },
    { type: 'quiet', end: { endedAt: 0, isCutShort: false }, means: 'interrupted' },
    { type: 'stopped', account: SAID, answer: ANSWER },
  ];
  for (const input of goodbye) conversation.tell(input);
  expect(ended).toEqual([]);
  expect(() => conversation.tell({ type: 'caller.complete' })).toThrow('no room');
  expect(ended).toEqual(['idle']);
});
