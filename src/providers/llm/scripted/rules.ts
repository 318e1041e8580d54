// What the scripted model knows: a front desk that answers by rules. The same words always get the same answer.
import type { ChatMessage } from '../../language-model.js';

export interface ScriptedAnswer {
  readonly text: string;
  /** The call ends after these words. */
  readonly endCall: boolean;
}

interface Rule {
  readonly when: RegExp;
  readonly answer: (match: RegExpExecArray) => string;
  readonly endCall?: boolean;
}

const NUMBERS =
  'one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty'.split(
    ' ',
  );
const DAYS = /\b(today|tomorrow|monday|tuesday|wednesday|thursday|friday|saturday|sunday)\b/i;
const TIMES =
  /\b(\d{1,2}(?::\d{2})?\s*(?:a\.?m|p\.?m|o'clock)?|noon|midday|(?:half past |quarter past |quarter to )?(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)(?: o'clock| thirty)?)\b/i;

const ASK_DAY = 'Which day suits you?';
const ASK_TIME = 'What time would you like to come?';

const LONG_ANSWER = [
  'I am happy to tell you about our house.',
  'It was opened many years ago by two sisters who wanted a place where nobody has to wait.',
  'In the first year there was one room, one telephone, and a very long list of visitors.',
  'Today there are twelve rooms, a garden with old apple trees, and a small library on the second floor.',
  'Every morning the doors open at eight, and the first visitors are welcomed with a cup of tea.',
  'In summer we hold concerts in the garden, and in winter there are readings by the fire.',
  'You can come by train, by bus, or by car, and there is room for forty bicycles behind the building.',
  'If you would like to hear about prices, opening hours, or appointments, just ask me at any time.',
].join(' ');

const RULES: readonly Rule[] = [
  {
    when: /^\[speech\]/,
    answer: () =>
      'I can hear you well. There is no speech recognition in this setup, so your words do not reach me, but you can interrupt me at any time.',
  },
  {
    when: /\b(?:good\s?bye|bye|that is all|that's all|hang up)\b/,
    answer: () => 'Thank you for calling. Goodbye!',
    endCall: true,
  },
  {
    when: /^(?:please )?(?:repeat|say|echo)(?: after me)?\b[\s:,]*(.+)/,
    answer: (match) => `You said: ${sentence(match[1] ?? '')}`,
  },
  {
    when: /\bcount\b(?:.*?\bto (\d+|[a-z]+))?/,
    answer: (match) => `${sentence(NUMBERS.slice(0, countTo(match[1])).join(', '))} That is all.`,
  },
  { when: /^(?:wait|stop|hold on|one moment)\b/, answer: () => 'Of course. I am listening.' },
  {
    when: /\b(?:story|tell me (?:more|everything|all|about)|explain|long answer)\b/,
    answer: () => LONG_ANSWER,
  },
  {
    when: /\b(?:open|opening|hours|close|closed)\b/,
    answer: () =>
      'We are open from Monday to Friday, from eight in the morning until six in the evening. On Saturday we close at noon.',
  },
  {
    when: /\b(?:price|cost|how much)\b/,
    answer: () => 'A first visit is free of charge. After that it is 40 dollars an hour.',
  },
  {
    when: /\b(?:where|address|directions)\b/,
    answer: () => 'You find us at 12 Garden Street, right behind the station.',
  },
  {
    when: /\b(?:who are you|your name|are you (?:a )?(?:robot|human|real))\b/,
    answer: () => 'I am the demonstration agent. I follow a small script and run entirely on this machine.',
  },
  {
    when: /\b(?:thanks|thank you)\b/,
    answer: () => 'You are welcome. Is there anything else I can do for you?',
  },
  {
    when: /^(?:hello|hi|hey|good (?:morning|afternoon|evening))\b/,
    answer: () => 'Hello! How can I help you today?',
  },
  { when: /^(?:yes|yeah|sure|ok|okay)\b/, answer: () => 'Very well. What can I do for you?' },
  { when: /^no\b/, answer: () => 'All right. Just say goodbye when you would like to end the call.' },
];

/** The answer to the last message of the conversation. */
export function scriptedAnswer(messages: readonly ChatMessage[]): ScriptedAnswer {
  const said = (messages.at(-1)?.content ?? '').trim();
  const heard = said.toLowerCase();
  if (!/\b(?:bye|goodbye)\b/.test(heard)) {
    const booking = bookingStep(messages, said);
    if (booking !== undefined) return { text: booking, endCall: false };
  }
  for (const rule of RULES) {
    const match = rule.when.exec(heard);
    if (match !== null) return { text: rule.answer(match), endCall: rule.endCall ?? false };
  }
  if (heard === '') return { text: 'I did not hear anything. Are you still there?', endCall: false };
  return { text: `I heard: ${sentence(said)} What else can I do for you?`, endCall: false };
}

/** A booking has two slots, day and time. What was asked last tells which of them is open. */
function bookingStep(messages: readonly ChatMessage[], said: string): string | undefined {
  const asked = messages.findLast((message) => message.role === 'assistant')?.content ?? '';
  const wantsBooking = /\b(?:book|booking|appointment|reservation|reserve|table)\b/i.test(said);
  const answersDay = asked.includes(ASK_DAY);
  const answersTime = asked.includes(ASK_TIME);
  if (!wantsBooking && !answersDay && !answersTime) return undefined;
  const day = slot(DAYS, said) ?? (answersTime ? slot(DAYS, asked) : undefined);
  const time = slot(TIMES, said);
  if (day === undefined) return answersDay ? `I did not catch the day. ${ASK_DAY}` : `Gladly. ${ASK_DAY}`;
  if (time === undefined) return `${capital(day)} is fine. ${ASK_TIME}`;
  return `Your appointment is booked for ${capital(day)} at ${time}. Is there anything else I can do for you?`;
}

function slot(pattern: RegExp, text: string): string | undefined {
  return pattern.exec(text)?.[0]?.trim().toLowerCase();
}

function countTo(word: string | undefined): number {
  if (word === undefined) return 10;
  const number = /^\d+$/.test(word) ? Number(word) : NUMBERS.indexOf(word) + 1;
  return Math.min(Math.max(number, 1), NUMBERS.length);
}

function sentence(text: string): string {
  const trimmed = capital(text.trim());
  return /[.?!]$/.test(trimmed) ? trimmed : `${trimmed}.`;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
