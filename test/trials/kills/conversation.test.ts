import { describe, expect, it } from 'vitest';
import { answer, CALLS, GREETING, openingsOf } from './conversation.mjs';

type History = Parameters<typeof answer>[0];

const asked = (text: string): History[number] => ({ role: 'user', text });
const said = (text: string): History[number] => ({ role: 'assistant', text });
const gave = (text: string): History[number] => ({ role: 'tool', text });

describe('the model of the kill trial', () => {
  it.each<[string, History, ReturnType<typeof answer>]>([
    [
      'says all of an answer',
      [said(GREETING), asked('tell kadobiru.')],
      { text: 'kadobirua comes first. kadobirub is in the middle. kadobiruc ends it.' },
    ],
    [
      'goes on with the sentence that was cut',
      [asked('tell kadobiru.'), said('kadobirua comes first. kadobirub is')],
      { text: 'kadobirub is in the middle. kadobiruc ends it.' },
    ],
    [
      'has nothing to add to a whole answer',
      [
        asked('tell kadobiru.'),
        said('kadobirua comes first. kadobirub is in the middle. kadobiruc ends it.'),
      ],
      { text: 'Please go on.' },
    ],
    ['does not know what a piece of a word means', [asked('tell kado')], { text: 'What was that again?' }],
    [
      'answers what was said last',
      [asked('tell kadobiru.'), said('kadobirua'), asked('biru.')],
      { text: 'What was that again?' },
    ],
    [
      'uses a tool',
      [asked('book kadobiru.')],
      {
        text: 'kadobirua takes a moment.',
        toolCalls: [{ name: 'book', arguments: '{"marker":"kadobiru"}' }],
      },
    ],
    [
      'tells what a tool gave',
      [asked('book kadobiru.'), said('kadobirua takes a moment.'), gave('It is all done.')],
      { text: 'kadobirud is done for you.' },
    ],
    [
      'tells that it does not know what a tool gave',
      [asked('book kadobiru.'), said('kadobirua takes a moment.'), gave('Its result was lost.')],
      { text: 'kadobirud is not certain.' },
    ],
    [
      'hands over',
      [asked('reception kadobiru.')],
      {
        text: 'kadobirua is who you get now.',
        toolCalls: [{ name: 'transfer_call', arguments: '{"to":"reception"}' }],
      },
    ],
    [
      'ends the call',
      [asked('goodbye kadobiru.')],
      { text: 'kadobirua and goodbye to you.', toolCalls: [{ name: 'end_call', arguments: '{}' }] },
    ],
  ])('%s', (_what, history, expected) => {
    expect(answer(history)).toEqual(expected);
  });
});

describe('the calls of the kill trial', () => {
  it.each(Object.keys(CALLS))('never begin two sentences with one word: %s', (kind) => {
    let count = 0;
    const word = () => {
      count += 1;
      return `kadobir${'aeioubdf'[count % 8]}`;
    };
    const dice = {
      random: () => 0.5,
      between: (from: number) => from,
      pick: <T>(list: readonly T[]) => list[0] as T,
      word,
    };
    const plan = CALLS[kind]?.(dice);
    if (plan === undefined) throw new Error('no plan');
    const sentences = GREETING.split('. ').length + (plan.isMachine === true ? 2 : 0);
    const answers = plan.asks.reduce((sum, { verb }) => sum + (verb === 'tell' ? 4 : 2), 0);
    expect(openingsOf(plan).size).toBe(sentences + answers);
  });
});
