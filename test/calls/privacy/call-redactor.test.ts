import { describe, expect, it } from 'vitest';
import { CallRedactor } from '../../../src/calls/privacy/call-redactor.js';
import { FactPrivacy } from '../../../src/calls/privacy/fact-privacy.js';
import type { CallFact } from '../../../src/contract/call-event.js';
import type { TranscriptEntry } from '../../../src/contract/call-record.js';
import { keysAsText } from '../../../src/engines/pressed-keys.js';
import { toolCall, turn } from '../../support/call-facts.js';

type Said = Partial<TranscriptEntry> & { text: string };

/** A call whose facts are redacted: the transcript as a reader has it, and every text that was told. */
function call(state?: CallRedactor['state']) {
  const redactor = new CallRedactor(state);
  const shown = new Map<string, string>();
  const told: string[] = [];
  const take = (fact: CallFact) => {
    const facts = redactor.tell(fact);
    for (const each of facts) {
      if (each.type !== 'transcript.segment') continue;
      told.push(each.entry.text);
      if (each.entry.text === '') shown.delete(each.entry.id);
      else shown.set(each.entry.id, each.entry.text);
    }
    return facts;
  };
  const say = (entry: Said) => {
    const whole = {
      turnIndex: 0,
      role: 'user',
      at: 1,
      final: true,
      id: `said-${told.length}`,
      ...entry,
    } as const;
    take({ type: 'transcript.segment', entry: whole });
    return shown.get(whole.id);
  };
  const complete = (texts: object, index = 0) => {
    const [fact] = take({
      type: 'turn.completed',
      turn: { ...turn(index), userText: '', agentText: '', agentTextUnheard: '', ...texts },
    });
    return fact?.type === 'turn.completed' ? fact.turn : undefined;
  };
  return { redactor, take, say, complete, told, transcript: () => [...shown.values()] };
}

describe('CallRedactor, with an e-mail address', () => {
  it('takes no other words with it, in that turn and in those that follow', () => {
    const { say, complete } = call();
    expect(say({ text: 'My mail is anna at example dot com. I would like some bread.' })).toBe(
      'My mail is [e-mail address]. I would like some bread.',
    );
    expect(
      complete({ userText: 'My mail is anna at example dot com. I would like some bread.' }),
    ).toMatchObject({
      userText: 'My mail is [e-mail address]. I would like some bread.',
    });
    expect(say({ text: 'And a plum cake.', turnIndex: 1 })).toBe('And a plum cake.');
    expect(complete({ userText: 'And a plum cake.' }, 1)).toMatchObject({ userText: 'And a plum cake.' });
    const keys = keysAsText('12');
    expect(complete({ userText: keys }, 2)).toMatchObject({ userText: keys });
  });
});

describe('CallRedactor, with a number in pieces', () => {
  it('lets none of it out, whether over segments or turns', () => {
    for (const isTurns of [false, true]) {
      const { say, complete, told } = call();
      for (const [index, text] of [
        'It is four nine two nine',
        'uh, one two',
        'three four',
        'okay, 5678',
        '9012',
      ].entries()) {
        say({ text, turnIndex: isTurns ? index : 0 });
        if (isTurns) expect(complete({ userText: text }, index)?.userText).not.toMatch(/four|two|\d/);
      }
      expect(told.join(' ')).not.toMatch(/four|two|three|\d/);
    }
  });

  it('gives figures back that turn out to be of nothing longer, in the same turn', () => {
    const { say, complete, transcript } = call();
    expect(say({ id: 'a', text: 'It is 4829' })).toBe('It is [number]');
    say({ id: 'b', text: 'and my name is Anna' });
    expect(transcript()).toEqual(['It is 4829', 'and my name is Anna']);
    expect(complete({ userText: 'It is 4829 and my name is Anna' })?.userText).toBe(
      'It is 4829 and my name is Anna',
    );
  });

  it('keeps back what stands at the end of a turn for good', () => {
    const { say, complete, transcript } = call();
    say({ id: 'a', text: 'It is 4829' });
    expect(complete({ userText: 'It is 4829' })?.userText).toBe('It is [number]');
    say({ id: 'b', text: 'My name is Anna', turnIndex: 1 });
    expect(transcript()).toEqual(['It is [number]', 'My name is Anna']);
  });

  it('names the kind once that is known', () => {
    const { say, transcript } = call();
    say({ id: 'a', text: '4929' });
    say({ id: 'b', text: '1234 5678 9012' });
    expect(transcript()).toEqual(['[card number]', '[card number]']);
  });

  it('joins an address', () => {
    const { say, transcript } = call();
    expect(say({ id: 'a', text: 'My e-mail is anna dot meier' })).toBe('My e-mail is [e-mail address]');
    say({ id: 'b', text: 'at example dot com' });
    expect(transcript()).toEqual(['My e-mail is [e-mail address]', '[e-mail address]']);
  });

  it('shows no figure of text that is still being said, in whatever steps that grows', () => {
    const { say, told } = call();
    const text = 'My card is 4929 1234 five six seven eight nine oh one two and thanks';
    for (let length = 1; length <= text.length; length += 1)
      say({ id: 'a', text: text.slice(0, length), final: false });
    say({ id: 'a', text });
    expect(told.join('|')).not.toMatch(/\d|five|six|seven|eight|nine|one|two/);
    expect(told).toContain('My card is …');
    expect(told.at(-1)).toBe('My card is [card number] and thanks');
  });

  it('shows figures that may stay once they are final', () => {
    const { say } = call();
    expect(say({ id: 'a', text: 'A table for 2', final: false })).toBe('A table for …');
    expect(say({ id: 'a', text: 'A table for 2 peo', final: false })).toBe('A table for …');
    expect(say({ id: 'a', text: 'A table for 2 people and', final: false })).toBe('A table for 2 people and');
    expect(say({ id: 'b', text: 'at half past 7' })).toBe('at half past 7');
  });
});

describe('CallRedactor, with what the agent says', () => {
  it('knows what the caller has said when it is read back, in parts and in figures', () => {
    const { say, complete } = call();
    say({ text: 'forty-nine twenty-nine, one two three four, five six seven eight, nine oh one two' });
    const agent = { role: 'agent', turnIndex: 0 } as const;
    expect(
      say({ ...agent, id: 'agent-0', text: 'I have 4929, then 1234, ending in nine zero one two.' }),
    ).not.toMatch(/\d|nine/);
    expect(complete({ agentText: 'So 5678 9012 is right?' })?.agentText).toBe('So [number] is right?');
    expect(say({ ...agent, turnIndex: 1, text: 'Your order is 1999.' })).toBe('Your order is 1999.');
  });

  it('reads back a piece that is held back', () => {
    const { say } = call();
    say({ text: 'four nine two' });
    expect(say({ role: 'agent', text: '492, go on.' })).toBe('[number], go on.');
  });

  it('cuts a number that was heard in part, and the part that was not', () => {
    const { say, complete } = call();
    const text = 'Your card is 4929 12';
    const unheard = '34 5678 9012. Anything else?';
    expect(say({ role: 'agent', text, interrupted: true })).toBe('Your card is [card number]');
    const told = complete({ agentText: text, agentTextUnheard: unheard, interrupted: true });
    expect(told).toMatchObject({
      agentText: 'Your card is [card number]',
      agentTextUnheard: '[card number]. Anything else?',
    });
  });

  it('holds back what has been heard of a number word by word', () => {
    const { say, told } = call();
    const words = 'You said 4929 1234 5678 9012 , right?'.split(' ');
    for (let count = 1; count <= words.length; count += 1)
      say({ id: 'agent-0', role: 'agent', text: words.slice(0, count).join(' '), final: false });
    expect(told.join('|')).not.toMatch(/\d/);
  });

  it('takes its question for what the answer is about', () => {
    const ask = (question: string, answer: string) => {
      const { say } = call();
      say({ role: 'agent', text: question });
      return say({ text: answer, turnIndex: 1 });
    };
    expect(ask('Your order number?', '48291')).toBe('48291');
    expect(ask('Ihre Kontonummer bitte?', '48291')).toBe('[account number]');
    expect(ask('What else?', '48291')).toBe('[number]');
  });
});

describe('CallRedactor, with other texts', () => {
  const tool = toolCall({ name: 'pay', error: 'Card 4111 1111 1111 1111 was declined.' });

  it('redacts results, errors and summaries', () => {
    const { say, take, complete } = call();
    expect(
      say({
        role: 'tool',
        text: 'pay: {"card":"4111111111111111","mail":"anna@example.com","total":"24.99 EUR"}',
      }),
    ).toBe('pay: {"card":"[card number]","mail":"[e-mail address]","total":"24.99 EUR"}');
    expect(complete({ toolCalls: [tool] })?.toolCalls[0]?.error).toBe('Card [card number] was declined.');
    const entry: TranscriptEntry = { id: 't', turnIndex: 0, role: 'tool', text: 'pay', at: 1, final: true };
    expect(take({ type: 'transcript.segment', entry, tool })).toMatchObject([
      { tool: { error: 'Card [card number] was declined.' } },
    ]);
    const summary = 'Wants a refund to IBAN DE89 3704 0044 0532 0130 00, call 0171 3920045.';
    const changed: CallFact = {
      type: 'agent.changed',
      from: null,
      to: 'b',
      summary,
      mode: 'pipeline',
      provider: { engine: null, stt: 'a', llm: 'b', tts: 'c' },
    };
    expect(take(changed)).toMatchObject([
      { summary: 'Wants a refund to IBAN [account number], call [phone number].' },
    ]);
  });

  it('redacts a result that was cut in the middle of a number', () => {
    const { say } = call();
    expect(say({ role: 'tool', text: 'find: the guest said 49291…' })).toBe('find: the guest said [number]…');
  });

  it('redacts keys that were sent, and leaves what is too short and other entries', () => {
    const { say } = call();
    say({ text: 'My PIN is 4929.' });
    const sent = ['4929', '12', '4111 1111 1111 1111', '4111111111111111#'];
    expect(sent.map((keys) => say({ role: 'system', text: `Sent keys ${keys}` }))).toEqual([
      'Sent keys [number]',
      'Sent keys 12',
      'Sent keys [card number]',
      'Sent keys [card number]#',
    ]);
    const text = 'Transfer to …4929: busy';
    expect(say({ role: 'system', text })).toBe(text);
  });

  it('leaves other facts', () => {
    const { take, complete } = call();
    const key: CallFact = { type: 'dtmf.received', digit: '4' };
    expect(take(key)).toEqual([key]);
    expect(complete({ userText: '' })?.userText).toBe('');
  });

  it('forgets an entry that is withdrawn', () => {
    const { say, transcript } = call();
    say({ id: 'a', text: 'four nine two nine' });
    say({ id: 'a', text: '' });
    say({ id: 'b', text: 'It is 1234 I think' });
    expect(transcript()).toEqual(['It is 1234 I think']);
  });

  it('goes on where another process has left off, and remembers a bounded part of a call', () => {
    const first = call();
    first.say({ text: 'four nine two nine' });
    const state = JSON.parse(JSON.stringify(first.redactor.state));
    const second = call(state);
    expect(second.say({ text: 'one two three four', turnIndex: 1 })).toBe('[number]');
    for (let index = 0; index < 500; index += 1)
      second.say({
        id: `x${index}`,
        text: `${'hello '.repeat(200)} ${4000000 + index * 7919}`,
        turnIndex: index,
      });
    expect(JSON.stringify(second.redactor.state).length).toBeLessThan(20_000);
  });
});

describe('FactPrivacy', () => {
  it('leaves what is told of pressed keys', () => {
    const privacy = new FactPrivacy({ transcript: 'redacted', keys: 'full' });
    const userText = `4929 1234 ${keysAsText('4111111111111111#')} 5678 9012`;
    expect(privacy.tell({ type: 'turn.completed', turn: { ...turn(0), userText } })).toMatchObject([
      { turn: { userText: `[number] ${keysAsText('4111111111111111#')} [number]` } },
    ]);
  });

  it('leaves out keys, too, where none are kept', () => {
    const privacy = new FactPrivacy({ transcript: 'redacted', keys: 'none' });
    expect(privacy.tell({ type: 'dtmf.received', digit: '4' })).toEqual([]);
    const userText = `4111 1111 1111 1111 ${keysAsText('41')}`;
    expect(privacy.tell({ type: 'turn.completed', turn: { ...turn(0), userText } })).toMatchObject([
      { turn: { userText: '[card number] The caller pressed [keys]' } },
    ]);
  });

  it('keeps words for another process only where it redacts', () => {
    expect(new FactPrivacy({ transcript: 'redacted', keys: 'full' }).state).toBeDefined();
    expect(new FactPrivacy({ transcript: 'full', keys: 'full' }).state).toBeUndefined();
  });
});
