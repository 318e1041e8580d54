import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../../src/base/log.js';
import { SimulatedSpeechToText } from '../../../src/providers/stt/index.js';
import { FakeClock } from '../../support/fake-clock.js';

type Step = ['sound' | 'silence', number] | ['partial' | 'final', string, string] | ['finish'] | ['close'];

function run(steps: readonly Step[]): string[] {
  const heard: string[] = [];
  const session = new SimulatedSpeechToText().open({
    clock: new FakeClock(),
    logger: silentLogger,
    language: undefined,
    events: {
      partial: (text) => void heard.push(`~${text}`),
      final: (text) => void heard.push(text),
      failed: () => void heard.push('failed'),
    },
  });
  for (const [kind, ...rest] of steps) {
    if (kind === 'finish') session.finishUtterance();
    else if (kind === 'close') session.close();
    else if (kind === 'partial' || kind === 'final')
      session.pushSpokenText?.({ id: String(rest[0]), text: String(rest[1]), final: kind === 'final' });
    else
      for (let at = 0; at < Number(rest[0]); at += 20)
        session.pushAudio(new Int16Array(320).fill(kind === 'sound' ? 3000 : 5));
  }
  return heard;
}

describe('SimulatedSpeechToText', () => {
  it.each<[string, Step[], string[]]>([
    [
      'gives the text as it comes',
      [
        ['sound', 200],
        ['partial', 'u', 'I'],
        ['partial', 'u', 'I am'],
        ['final', 'u', 'I am here.'],
        ['finish'],
      ],
      ['~I', '~I am', 'I am here.'],
    ],
    [
      'closes an open text when the utterance is finished',
      [['sound', 200], ['partial', 'u', 'I am'], ['finish']],
      ['~I am', 'I am'],
    ],
    [
      'gives of a text that goes on only what is new',
      [['partial', 'u', 'I am'], ['finish'], ['partial', 'u', 'I am here'], ['final', 'u', 'I am here.']],
      ['~I am', 'I am', '~here', 'here.'],
    ],
    [
      'gives a text once',
      [['final', 'u', 'Yes.'], ['final', 'u', 'Yes.'], ['finish'], ['final', 'u', 'Yes.']],
      ['Yes.'],
    ],
    [
      'gives the same words again for another utterance',
      [['final', 'u', 'Yes.'], ['finish'], ['final', 'v', 'Yes.']],
      ['Yes.', 'Yes.'],
    ],
    [
      'puts a placeholder for sound without text',
      [['sound', 400], ['silence', 500], ['finish']],
      ['[speech]'],
    ],
    ['puts none for silence', [['silence', 3000], ['finish']], []],
    ['puts none for a click', [['sound', 40], ['finish']], []],
    [
      'puts one for each utterance',
      [['sound', 400], ['finish'], ['finish'], ['sound', 400], ['finish']],
      ['[speech]', '[speech]'],
    ],
    [
      'drops a text that comes after its placeholder',
      [['sound', 400], ['finish'], ['partial', 'u', 'late'], ['final', 'u', 'late'], ['finish']],
      ['[speech]'],
    ],
    [
      'takes the next text after a placeholder',
      [
        ['sound', 400],
        ['finish'],
        ['partial', 'v', 'Next'],
        ['sound', 400],
        ['final', 'v', 'Next one.'],
        ['finish'],
      ],
      ['[speech]', 'Next one.'],
    ],
    [
      'puts none when the text came before the sound',
      [['silence', 3000], ['final', 'u', 'Hi.'], ['sound', 400], ['finish']],
      ['Hi.'],
    ],
    [
      'tells a bare utterance from an earlier one with text',
      [['sound', 200], ['final', 'u', 'ok'], ['silence', 3000], ['sound', 400], ['finish']],
      ['ok', '[speech]'],
    ],
    ['is silent after close', [['sound', 400], ['close'], ['final', 'u', 'x'], ['finish']], []],
    [
      'ignores empty text',
      [
        ['partial', 'u', '  '],
        ['final', 'u', ''],
      ],
      [],
    ],
  ])('%s', (_, steps, heard) => {
    expect(run(steps)).toEqual(heard);
  });

  it('is called what it is', () => {
    expect(new SimulatedSpeechToText().name).toBe('simulated');
  });
});
