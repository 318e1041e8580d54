import { describe, expect, it } from 'vitest';
import { checkAudio } from '../../../src/cli/doctor/audio.js';
import { loadTranscoder, type TranscoderBackend } from '../../../src/transcoder/index.js';

describe('the audio check', () => {
  it.each(['wasm', 'javascript'] as const)('is content with %s', (name) => {
    const { status, message, details } = checkAudio(loadTranscoder(name));
    expect({ status, message }).toEqual({ status: 'ok', message: expect.stringMatching(/SINAD 9\d\.\d dB/) });
    expect(details).toMatchObject({ backend: name, sinadDb: { '24to16': expect.any(Number) } });
  });

  it('is not content with a converter that leaves samples out', () => {
    const whole = loadTranscoder('javascript');
    const crude: TranscoderBackend = {
      ...whole,
      name: 'javascript',
      createResampler: (fromHz, toHz) => ({
        ...whole.createResampler(8000, 16_000),
        process: (input) =>
          Int16Array.from(
            { length: Math.floor((input.length * toHz) / fromHz) },
            (_, index) => input[Math.floor((index * fromHz) / toHz)] ?? 0,
          ),
        free() {},
      }),
    };
    expect(checkAudio(crude)).toMatchObject({
      status: 'failed',
      message: expect.stringContaining('does not sound as it should'),
    });
  });
});
