import { Conversation, type ConversationOptions } from '../../src/engines/conversation.js';
import { FakeClock } from '../support/fake-clock.js';

/** One whose driver does nothing. */
export function aConversation({
  clock = new FakeClock(),
  policy,
  ...options
}: Partial<Omit<ConversationOptions, 'policy'>> & { policy?: Partial<ConversationOptions['policy']> } = {}) {
  const conversation = new Conversation({
    clock,
    fact: () => {},
    ...options,
    policy: {
      interruptible: true,
      keysInterrupt: true,
      idle: undefined,
      endsTurns: false,
      transcribesCaller: false,
      ...policy,
    },
  });
  const live = { hasVoice: true, isCaughtUp: true, awaitsTools: false };
  conversation.drivenBy(
    { live, sound: { isDry: false, isFilling: false }, perform: () => {} },
    { attempt: (task) => task(), context: {}, ends: () => {} },
  );
  return conversation;
}
