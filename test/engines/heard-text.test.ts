import { describe, expect, it } from 'vitest';
import { heardPart } from '../../src/engines/heard-text.js';
import { TurnLatencyMeter } from '../../src/engines/turn-latency.js';

describe('heardPart', () => {
  // 20 characters at 50 ms each.
  const text = 'one two three four.x';
  it.each([
    [0, ''],
    [-5, ''],
    [100, ''],
    [150, 'one'],
    [349, 'one'],
    [350, 'one two'],
    [999, 'one two three'],
    [1000, text],
    [5000, text],
  ])('of a sentence of 1000 ms after %i ms', (heardMs, part) => {
    expect(heardPart(text, heardMs, { producedMs: 1000, complete: true })).toBe(part);
  });

  it('estimates the length of what is not yet synthesised', () => {
    const long = 'We are open from Monday to Friday, from eight in the morning until six.';
    const part = heardPart(long, 400, { producedMs: 500, complete: false });
    expect(long.startsWith(part)).toBe(true);
    expect(part.split(' ').length).toBeLessThan(4);
  });
});

describe('TurnLatencyMeter', () => {
  it('has contiguous stages in whole milliseconds that sum to the total', () => {
    const meter = new TurnLatencyMeter();
    meter.reached('speechEnded', 1000.4);
    meter.reached('turnEnded', 1500.3);
    meter.reached('textFinal', 1490);
    meter.reached('firstToken', 1700.9);
    meter.reached('firstToken', 9000);
    meter.reached('firstSentence', 1701.2);
    meter.reached('firstAudio', 1801.7);
    meter.reached('firstFrameSent', 1802.2);
    meter.heard(1950);
    const { totalMs, heardMs, ...stages } = meter.result();
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
    const meter = new TurnLatencyMeter();
    meter.reached('speechEnded', 0);
    meter.reached('turnEnded', 500);
    expect(meter.result()).toMatchObject({ endpointingMs: 500, sttMs: null, totalMs: null, heardMs: null });
  });
});
