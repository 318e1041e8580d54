import { describe, expect, it } from 'vitest';
import { MachineDetection, type MachineNews } from '../../../src/calls/outbound/machine-detection.js';
import type { MachineVerdict } from '../../../src/carriers/carrier.js';

const told = ({ detected, action }: MachineNews) => [detected, action].filter(Boolean).join(':');

describe('MachineDetection', () => {
  it.each<[MachineVerdict[], string[]]>([
    [
      ['human', 'machine-ready', 'fax'],
      ['human:none', 'none', 'none'],
    ],
    [
      ['unknown', 'unknown', 'human'],
      ['unknown:none', 'none', 'human:none'],
    ],
    [
      ['unknown', 'machine', 'machine-ready'],
      ['unknown:none', 'machine:wait', 'leave-message'],
    ],
    [
      ['unknown', 'machine-ready'],
      ['unknown:none', 'machine:leave-message'],
    ],
    [
      ['machine', 'machine', 'machine-ready', 'machine-ready'],
      ['machine:wait', 'none', 'leave-message', 'none'],
    ],
    [
      ['machine-ready', 'machine', 'human'],
      ['machine:leave-message', 'none', 'none'],
    ],
    [
      ['machine', 'human', 'unknown', 'fax'],
      ['machine:wait', 'none', 'none', 'none'],
    ],
    [
      ['fax', 'fax', 'machine-ready'],
      ['fax:hang-up', 'none', 'none'],
    ],
  ])('with a message to leave: %j', (verdicts, expected) => {
    const detection = new MachineDetection({ hasMessage: true });
    expect(verdicts.map((verdict) => told(detection.hear(verdict)))).toEqual(expected);
  });

  it.each<[MachineVerdict[], string[]]>([
    [
      ['machine', 'machine-ready'],
      ['machine:hang-up', 'none'],
    ],
    [
      ['machine-ready', 'machine'],
      ['machine:hang-up', 'none'],
    ],
  ])('without one: %j', (verdicts, expected) => {
    const detection = new MachineDetection({ hasMessage: false });
    expect(verdicts.map((verdict) => told(detection.hear(verdict)))).toEqual(expected);
  });

  it('gives up waiting once', () => {
    const detection = new MachineDetection({ hasMessage: true });
    detection.hear('machine');
    expect([detection.giveUpWaiting(), detection.giveUpWaiting()]).toEqual(['leave-message', 'none']);
    expect(told(detection.hear('machine-ready'))).toBe('none');
  });
});
