import { describe, expect, it } from 'vitest';
import { ProviderError } from '../../src/base/errors.js';
import { toFailure } from '../../src/engines/failure.js';

describe('a failure of a voice mode', () => {
  it.each([
    ['stt', 'PROVIDER_FAILED', 'The speech recognition failed.'],
    ['llm', 'PROVIDER_FAILED', 'The language model failed.'],
    ['tts', 'PROVIDER_FAILED', 'The speech synthesis failed.'],
    ['engine', 'INTERNAL', 'The voice engine failed.'],
    ['model', 'PROVIDER_FAILED', 'The realtime model failed.'],
  ] as const)('of %s by a foreign error is %s, in our words', (part, code, message) => {
    const stage = part === 'model' ? 'engine' : part;
    expect(toFailure(part, new Error('Bearer secret'))).toEqual({ code, message, stage });
  });

  it('by an error of ours is what that says', () => {
    const error = new ProviderError('The key is wrong.', { status: 401, retryable: false });
    expect(toFailure('llm', error)).toMatchObject({ message: 'The key is wrong.' });
  });
});
