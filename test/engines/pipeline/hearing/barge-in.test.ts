import { describe, expect, it } from 'vitest';
import { type Interruptibility, BargeIn } from '../../../../src/engines/pipeline/hearing/barge-in.js';
import { runs } from '../../../support/depth.js';
import { isBackchannel, lexiconFor } from '../../../../src/engines/languages/lexicon.js';

type Step = ['speech'] | ['voiced' | 'unvoiced', number] | ['text' | 'interim', string] | ['silence'];

function run(agent: Interruptibility, steps: readonly Step[]): string[] {
  const machine = new BargeIn({ voicedMs: 500, words: 2, lexicon: lexiconFor('en') });
  const decisions: string[] = [];
  for (const [kind, value] of steps) {
    const note = (decision: string) => decision !== 'wait' && decisions.push(decision);
    if (kind === 'speech') machine.speechStarted(40);
    else if (kind === 'text' || kind === 'interim')
      note(machine.text(value, agent, { isFinal: kind === 'text' }));
    else if (kind === 'silence') note(machine.silence());
    else for (let at = 0; at < Number(value); at += 20) note(machine.frame(kind === 'voiced', agent));
  }
  return decisions;
}

describe('BargeIn', () => {
  it.each<[string, Interruptibility, Step[], string[]]>([
    ['a sound before speech has started', 'speaking', [['voiced', 2000]], []],
    [
      'less than 500 ms of voice, then silence',
      'speaking',
      [['speech'], ['voiced', 440], ['silence']],
      ['dismiss'],
    ],
    ['500 ms of voice', 'speaking', [['speech'], ['voiced', 460]], ['pause']],
    [
      '500 ms of voice that turn out to be a word',
      'speaking',
      [['speech'], ['voiced', 460], ['text', 'Tuesday']],
      ['pause', 'interrupt'],
    ],
    [
      '500 ms of voice that turn out to be a sign of listening',
      'speaking',
      [['speech'], ['voiced', 600], ['text', 'Mm-hmm.']],
      ['pause', 'dismiss'],
    ],
    [
      '500 ms of voice that begin as a sign of listening, and are more',
      'speaking',
      [
        ['speech'],
        ['voiced', 600],
        ['interim', 'yeah'],
        ['voiced', 200],
        ['interim', 'yeah su'],
        ['interim', 'yeah sunday'],
      ],
      ['pause', 'interrupt'],
    ],
    [
      'an interim sign of listening and silence',
      'speaking',
      [['speech'], ['voiced', 600], ['interim', 'okay ok'], ['interim', 'okay okay'], ['unvoiced', 200]],
      ['pause', 'dismiss'],
    ],
    ['500 ms of voice without words', 'speaking', [['speech'], ['voiced', 600], ['silence']], ['pause']],
    [
      'voice behind a sign of listening, as much again',
      'speaking',
      [['speech'], ['voiced', 400], ['interim', 'yeah'], ['voiced', 480], ['voiced', 20]],
      ['pause'],
    ],
    [
      'voice behind a sign of listening, not yet as much again',
      'speaking',
      [['speech'], ['voiced', 400], ['interim', 'yeah'], ['voiced', 480]],
      [],
    ],
    [
      '500 ms of voice with a gap',
      'speaking',
      [['speech'], ['voiced', 240], ['unvoiced', 100], ['voiced', 220]],
      ['pause'],
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
    ['no word while the agent thinks', 'thinking', [['text', '']], []],
    ['less than 800 ms of voice where care is due', 'careful', [['speech'], ['voiced', 740]], []],
    ['800 ms of voice where care is due', 'careful', [['speech'], ['voiced', 760]], ['pause']],
    [
      'a sign of listening and a word where care is due',
      'careful',
      [
        ['text', 'okay Tuesday'],
        ['text', 'okay Tuesday morning'],
      ],
      ['interrupt'],
    ],
    [
      'a sign of listening that was recognized before speech has started, and voice behind it',
      'speaking',
      [
        ['interim', 'mm-hm'],
        ['voiced', 500],
      ],
      ['pause'],
    ],
    [
      'a sign of listening that silenced nobody, and a pause',
      'speaking',
      [['speech'], ['voiced', 200], ['interim', 'mm-hm'], ['unvoiced', 400]],
      [],
    ],
    [
      'a sound behind a stretch that was dismissed, before speech has started again',
      'speaking',
      [['speech'], ['voiced', 400], ['silence'], ['voiced', 600]],
      ['dismiss'],
    ],
  ])('%s (%s)', (_, agent, steps, decisions) => {
    expect(run(agent, steps)).toEqual(decisions);
  });

  it('counts no voice of a stretch that is over, however little', () => {
    const machine = new BargeIn({ voicedMs: 501, words: 2, lexicon: lexiconFor('en') });
    const stretch = () => {
      machine.speechStarted();
      const decisions = Array.from({ length: 26 }, () => machine.frame(true, 'speaking'));
      machine.reset();
      return decisions.indexOf('pause');
    };
    // In 25 frames there are 500 ms.
    expect([stretch(), stretch()]).toEqual([25, 25]);
  });

  it.each([
    ['', true],
    ['mm-hm', true],
    ['Got it.', true],
    ['I see', true],
    ['no', false],
    ['yes but', false],
    ['okay I see, yeah sure', true],
    ['Mmmm-hmmm.', true],
    ['uh huh uh huh', true],
    ['okay I saw', false],
    ['him', false],
  ])('knows a listener’s sounds: "%s" is %s', (text, expected) => {
    expect(isBackchannel(text)).toBe(expected);
  });

  it.each(['en', 'de', 'es', 'fr', 'it', 'pt', 'nl', 'sv'])(
    'takes no sign of listening for an interruption, however it is written down: %s',
    (language) => {
      const lexicon = lexiconFor(language);
      const signs = [...lexicon.backchannels];
      // Each is the first and the second of some pairs.
      for (const [index, one] of signs.entries())
        for (const other of [...signs, ...signs].slice(index, index + runs(3, signs.length))) {
          const machine = new BargeIn({ voicedMs: 500, words: 2, lexicon });
          const text = `${one}, ${other}.`;
          machine.speechStarted(480);
          expect(machine.frame(true, 'speaking')).toBe('pause');
          for (let end = 1; end < text.length; end += 1)
            expect(machine.text(text.slice(0, end), 'speaking', { isFinal: false }), text).toBe('wait');
          expect(machine.text(text, 'speaking'), text).toBe('dismiss');
        }
    },
  );
});
