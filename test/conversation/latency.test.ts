import { describe, expect, it } from 'vitest';
import {
  type Latency,
  latencyOf,
  type Milestone,
  reached,
  UNMEASURED,
} from '../../src/conversation/latency.js';

function measured(...times: readonly [Milestone | 'heard', number][]): Latency {
  return times.reduce((latency, [milestone, at]) => reached(latency, milestone, at), UNMEASURED);
}

describe('the latency of an answer', () => {
  it('has contiguous stages in whole milliseconds that sum to the total', () => {
    const latency = measured(
      ['speechEnded', 1000.4],
      ['turnEnded', 1500.3],
      ['textFinal', 1490],
      ['firstToken', 1700.9],
      ['firstToken', 9000],
      ['firstSentence', 1701.2],
      ['firstAudio', 1801.7],
      ['firstFrameSent', 1802.2],
      ['heard', 1950],
    );
    const { totalMs, heardMs, ...stages } = latencyOf(latency);
    expect(stages).toEqual({
      endpointingMs: 500,
      sttMs: 0,
      llmFirstTokenMs: 201,
      sentenceMs: 0,
      ttsFirstByteMs: 100,
      sendMs: 1,
    });
    expect(totalMs).toBe(Object.values(stages).reduce<number>((sum, stage) => sum + (stage ?? 0), 0));
    expect(heardMs).toBe(950);
  });

  it('knows nothing of what was not reached', () => {
    const latency = latencyOf(measured(['speechEnded', 0], ['turnEnded', 500]));
    expect(latency).toMatchObject({ endpointingMs: 500, sttMs: null, totalMs: null, heardMs: null });
  });

  it('is known by its ends where one service does it all', () => {
    const latency = latencyOf(measured(['speechEnded', 100], ['firstFrameSent', 700.4], ['heard', 900]));
    expect(latency).toMatchObject({ endpointingMs: null, sendMs: null, totalMs: 600, heardMs: 800 });
  });
});
