import { describe, expect, it } from 'vitest';
import { CallProgress } from '../../src/calls/call-progress.js';
import type { CallStatus } from '../../src/contract/call-record.js';

describe('CallProgress', () => {
  it.each<[string, [CallStatus, number | null][], (CallStatus | undefined)[]]>([
    [
      'in order',
      [
        ['ringing', 1],
        ['active', 2],
        ['completed', 3],
      ],
      ['ringing', 'active', 'completed'],
    ],
    [
      'late',
      [
        ['active', 2],
        ['ringing', 1],
        ['completed', 3],
      ],
      ['active', undefined, 'completed'],
    ],
    [
      'repeated',
      [
        ['ringing', 1],
        ['ringing', 1],
        ['active', 2],
      ],
      ['ringing', undefined, 'active'],
    ],
    [
      'not numbered',
      [
        ['active', null],
        ['ringing', null],
        ['completed', null],
      ],
      ['active', undefined, 'completed'],
    ],
    [
      'after the end',
      [
        ['completed', 3],
        ['active', 2],
        ['active', null],
      ],
      ['completed', undefined, undefined],
    ],
    [
      'backwards with a higher number',
      [
        ['active', 2],
        ['ringing', 5],
      ],
      ['active', undefined],
    ],
    [
      'initiated',
      [
        ['initiated', 0],
        ['ringing', 1],
      ],
      [undefined, 'ringing'],
    ],
  ])('%s', (_, reports, expected) => {
    const progress = new CallProgress();
    expect(reports.map(([status, sequence]) => progress.hear({ status, sequence }))).toEqual(expected);
  });
});
