import { describe, expect, it } from 'vitest';
import type { CallerStep } from '../../src/testing/caller-script.js';
import { checkScript } from '../../src/testing/script-checks.js';

describe('a script', () => {
  it('may hold every kind of step', () => {
    const script: CallerStep[] = [
      { type: 'say', text: 'Hello.', voice: 'slt' },
      { type: 'play', samples: new Int16Array(8), sampleRateHz: 8000, text: 'Hm.' },
      { type: 'pause', durationMs: 0 },
      { type: 'wait-for-agent', quietMs: 200, timeoutMs: 500 },
      { type: 'interrupt', afterMs: 300 },
      { type: 'say', text: 'Hello.', press: { digits: '12', afterMs: 100 } },
      { type: 'monologue', durationMs: 90_000, text: 'So.', voice: 'rms' },
      { type: 'noise', durationMs: 200, levelDbfs: -30 },
      { type: 'wait-until', signal: new AbortController().signal, timeoutMs: 100 },
      { type: 'press', digits: '1#' },
      { type: 'hang-up', abrupt: true },
    ];
    expect(() => checkScript(script)).not.toThrow();
  });

  it.each<[unknown, string]>([
    ['Hello.', 'A script must be a list of steps'],
    [[{ type: 'pause', durationMs: 1 }, 'Hello.'], 'Step 2 of a script takes an object'],
    [
      [{ type: 'talk', text: 'Hello.' }],
      'Step 1 of a script must have one of these types: say, monologue, play',
    ],
    [[{ type: 'toString' }], 'Step 1 of a script must have one of these types'],
    [[{ text: 'Hello.' }], 'Step 1 of a script must have one of these types'],
    [[{ type: 'say' }], 'Step 1 of a script (say) needs text.'],
    [[{ type: 'say', text: 7 }], 'text of Step 1 of a script (say) must be a string.'],
    [[{ type: 'say', txt: 'Hello.' }], 'has no option "txt". Did you mean text?'],
    [[{ type: 'play', samples: [1], sampleRateHz: 8000 }], 'must be an Int16Array'],
    [[{ type: 'pause', durationMs: -1 }], 'durationMs of Step 1 of a script (pause) must be a number'],
    [[{ type: 'press', digits: '12x' }], 'must be keys'],
    [[{ type: 'say', text: 'Hi.', press: '12' }], 'press of Step 1 of a script (say) takes an object'],
    [[{ type: 'say', text: 'Hi.', press: {} }], 'press of Step 1 of a script (say) needs digits.'],
    [[{ type: 'noise', durationMs: 61_000 }], 'durationMs of Step 1 of a script (noise) must be a number'],
    [[{ type: 'noise', durationMs: 10, levelDbfs: 3 }], 'levelDbfs of Step 1'],
    [[{ type: 'monologue', durationMs: 0 }], 'durationMs of Step 1 of a script (monologue)'],
    [[{ type: 'wait-until', signal: true }], 'must be an AbortSignal'],
    [[{ type: 'hang-up', abrupt: 'yes' }], 'must be true or false'],
  ])('cannot be %j', (script, message) => {
    expect(() => checkScript(script as CallerStep[])).toThrow(message);
  });
});
