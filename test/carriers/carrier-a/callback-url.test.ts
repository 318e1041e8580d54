import { describe, expect, it } from 'vitest';
import { callbackUrl, readCallback } from '../../../src/carriers/carrier-a/callback-url.js';

const base = 'https://voice.example/webhooks/carrier-a';
const callId = 'Zb3_-xYQ9k1TqPm0aLr5ew';

describe('callbackUrl', () => {
  it('names the call, and that a transfer is meant', () => {
    expect(callbackUrl(base, 'status', { callId })).toBe(`${base}/status?callId=${callId}`);
    expect(callbackUrl(base, 'voice', { callId, isTransfer: true })).toBe(
      `${base}/voice?callId=${callId}&transfer=1`,
    );
  });

  it.each([true, false])('is read back with isTransfer %s', (isTransfer) => {
    const target = callbackUrl(base, 'voice', { callId, isTransfer }).slice('https://voice.example'.length);
    expect(readCallback(target)).toEqual({ callId, isTransfer });
  });
});
