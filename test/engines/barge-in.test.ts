import { describe, expect, it } from 'vitest';
import { BargeIn, isBackchannel } from '../../src/engines/barge-in.js';

type Step = ['speech'] | ['voiced' | 'unvoiced', number] | ['text', string] | ['silence'];

function run(agent: 'thinking' | 'speaking', steps: readonly Step[]): string[] {
  const machine = new BargeIn();
  const decisions: string[] = [];
  for (const [kind, value] of steps) {
    const note = (decision: string) => decision !== 'wait' && decisions.push(decision);
    if (kind === 'speech') machine.speechStarted(40);
    else if (kind === 'text') note(machine.text(value, agent));
    else if (kind === 'silence') note(machine.silence());
    else for (let at = 0; at < value; at += 20) note(machine.frame(kind === 'voiced', agent));
  }
  return decisions;
}

describe('BargeIn', () => {
  it.each<[string, 'thinking' | 'speaking', Step[], string[]]>([
    ['a sound before speech has started', 'speaking', [['voiced', 2000]], []],
    [
      'less than 500 ms of voice, then silence',
      'speaking',
      [['speech'], ['voiced', 440], ['silence']],
      ['dismiss'],
    ],
    ['500 ms of voice', 'speaking', [['speech'], ['voiced', 460]], ['interrupt']],
    [
      '500 ms of voice with a gap',
      'speaking',
      [['speech'], ['voiced', 240], ['unvoiced', 100], ['voiced', 220]],
      ['interrupt'],
    ],
    [
      'a stretch that was dismissed does not count for the next',
      'speaking',
      [['speech'], ['voiced', 400], ['silence'], ['speech'], ['voiced', 400], ['silence']],
      ['dismiss', 'dismiss'],
    ],
    ['two words', 'speaking', [['text', 'excuse me']], ['interrupt']],
    ['a stop word', 'speaking', [['text', 'Stop!']], ['interrupt']],
    ['one plain word, then silence', 'speaking', [['text', 'Tuesday'], ['silence']], ['interrupt']],
    [
      'a sign of listening, then silence',
      'speaking',
      [['speech'], ['voiced', 200], ['text', 'Mm-hm.'], ['silence']],
      ['dismiss'],
    ],
    ['several signs of listening', 'speaking', [['text', 'yeah, yeah, okay'], ['silence']], ['dismiss']],
    ['200 ms of voice while the agent thinks', 'thinking', [['speech'], ['voiced', 160]], ['interrupt']],
    ['a blip while the agent thinks', 'thinking', [['speech'], ['voiced', 100], ['silence']], ['dismiss']],
    ['any word while the agent thinks', 'thinking', [['text', 'okay']], ['interrupt']],
  ])('%s (%s)', (_, agent, steps, decisions) => {
    expect(run(agent, steps)).toEqual(decisions);
  });

  it.each([
    ['', true],
    ['mm-hm', true],
    ['Got it.', true],
    ['I see', true],
    ['no', false],
    ['yes but', false],
  ])('knows a listener’s sounds: "%s" is %s', (text, expected) => {
    expect(isBackchannel(text)).toBe(expected);
  });
});
