import { describe, expect, it } from 'vitest';
import { readElevenLabsClose } from '../../../../src/providers/tts/elevenlabs/messages.js';
import { toProviderError } from '../../../../src/providers/wire/failure.js';

const NAMES = { vendor: 'ElevenLabs', keyVariables: ['ELEVENLABS_API_KEY'] };

describe('a close with 1008', () => {
  it.each([
    ['invalid_api_key', '(1008, invalid_api_key): check ELEVENLABS_API_KEY, or the option apiKey.', false],
    ['quota_exceeded', '(1008, quota_exceeded).', false],
    ['A sentence about the API key', '(1008).', false],
    ['system_busy', '(1008, system_busy).', true],
    ['input_timeout_exceeded', '(1008, input_timeout_exceeded).', true],
  ])('is read by the code %j in its reason', (reason, shown, retryable) => {
    const failure = readElevenLabsClose({ code: 1008, reason });
    expect(failure && toProviderError(NAMES, failure)).toMatchObject({
      message: `ElevenLabs closed the connection ${shown}`,
      retryable,
    });
  });

  it('is the only one that needs its reason', () => {
    expect(readElevenLabsClose({ code: 1011, reason: 'invalid_api_key' })).toBeUndefined();
  });
});
