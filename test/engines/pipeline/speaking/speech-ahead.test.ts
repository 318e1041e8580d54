import { describe, expect, it } from 'vitest';
import { SpeechAhead } from '../../../../src/engines/pipeline/speaking/speech-ahead.js';

describe('SpeechAhead', () => {
  it('has failed when a voice gives nothing, without end and without a wait', async () => {
    const most = 100_000;
    let given = 0;
    const voice = {
      async *synthesize() {
        for (; given < most; given += 1) yield new Int16Array(0);
      },
      close() {},
    };
    const ahead = new SpeechAhead(voice, 'Hello.');
    await new Promise((resolve) => setTimeout(resolve, 1));
    expect(ahead.hasFailed).toBe(true);
    expect(given).toBeLessThan(most);
  });
});
