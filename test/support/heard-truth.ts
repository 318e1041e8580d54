// Do recording, transcript and history of a call tell the same? Words are compared, and at a cut one word may be on either side of it.
import { expect } from 'vitest';
import type { CallRecord } from '../../src/contract/call-record.js';
import { type ChatExchange, type HeardWord, toSound } from '../../src/testing/index.js';

/** The words of a text as a tone voice says them, without punctuation. */
export function wordsIn(text: string): string[] {
  return toSound(text).match(/[a-z0-9'-]+/g) ?? [];
}

/** What the transcript says that the caller heard in one go. */
interface Said {
  readonly words: readonly string[];
  /** What would have come next; undefined when nothing was cut off. */
  readonly next: string | undefined;
  readonly isCut: boolean;
}

function saidBy(record: CallRecord): Said[] {
  const entries = record.transcript.filter(({ role, text }) => role === 'agent' && text !== '');
  return entries.map(({ text, turnIndex, interrupted }) => {
    const turn = record.turns.find(({ index }) => index === turnIndex);
    return {
      words: wordsIn(text),
      next: wordsIn(turn?.agentTextUnheard ?? '')[0],
      isCut: interrupted === true,
    };
  });
}

function agrees(said: readonly Said[], heard: readonly string[]): boolean {
  const [first, ...rest] = said;
  if (first === undefined) return heard.length === 0;
  const { words, next, isCut } = first;
  const begins = (count: number) => words.slice(0, count).every((word, index) => heard[index] === word);
  const goesOn = (count: number) => agrees(rest, heard.slice(count));
  const isPart = (whole: string | undefined, index: number) =>
    whole !== undefined && heard[index] !== undefined && whole.startsWith(heard[index]);
  if (begins(words.length)) {
    if (goesOn(words.length)) return true;
    return isCut && isPart(next, words.length) && goesOn(words.length + 1);
  }
  const shorter = words.length - 1;
  if (!isCut || !begins(shorter)) return false;
  return goesOn(shorter) || (isPart(words[shorter], shorter) && goesOn(shorter + 1));
}

/** The recording holds what the transcript says, in its order, and nothing else. */
export function expectHeard(record: CallRecord, heard: readonly HeardWord[]): void {
  const words = heard.flatMap(({ text }) => wordsIn(text));
  const said = saidBy(record);
  if (agrees(said, words)) return;
  const told = said.map((each) => `${each.words.join(' ')}${each.isCut ? ' |' : ''}`).join(' / ');
  expect(words.join(' '), 'the recording does not hold what the transcript says').toBe(told);
}

/** Each request of the language stage held what had been said and heard until then: whole turns of the record, and no more. */
export function expectHistory(record: CallRecord, exchanges: readonly ChatExchange[]): void {
  const turns = record.turns.map(({ userText, agentText }) => ({ userText, agentText }));
  const upTo = (count: number, name: 'userText' | 'agentText') =>
    turns
      .slice(0, count)
      .map((turn) => turn[name])
      .filter(Boolean)
      .join(' ');
  for (const { body } of exchanges) {
    const told = (role: string) =>
      body.messages
        .filter((message) => message.role === role)
        .map(({ content }) => content)
        .filter(Boolean)
        .join(' ');
    const [user, assistant] = [told('user'), told('assistant')];
    const isKnown = turns.some((_, index) => {
      const before = upTo(index, 'agentText');
      // Behind tools the present answer has begun.
      const begun = `${before} ${turns[index]?.agentText ?? ''}`.trim();
      const isAnswer = assistant === before || (hasTools(body.messages) && begun.startsWith(assistant));
      // A caller who goes on before anything is heard has not finished the turn.
      return (
        isAnswer && upTo(index + 1, 'userText').startsWith(user) && user.startsWith(upTo(index, 'userText'))
      );
    });
    expect(
      isKnown,
      `a request told of "${user}" and "${assistant}"; the record has ${JSON.stringify(turns)}`,
    ).toBe(true);
  }
}

function hasTools(messages: ChatExchange['body']['messages']): boolean {
  return messages.at(-1)?.role === 'tool';
}
