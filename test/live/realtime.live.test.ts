// Realtime models say one word.
import { describe, expect } from 'vitest';
import { countRealtime } from '../../src/engines/realtime/usage.js';
import type { RealtimeModel } from '../../src/providers/realtime-model.js';
import { OpenAIRealtime } from '../../src/providers/realtime/index.js';
import { RealtimeConversation } from '../../src/testing/conformance/realtime-conversation.js';
import { live } from './vendor.js';

const MODELS: readonly [string, () => RealtimeModel][] = [['OPENAI_API_KEY', () => new OpenAIRealtime()]];

describe('a realtime model says a word', () => {
  for (const [key, create] of MODELS)
    live(key, create, async (model, meter) => {
      const talk = new RealtimeConversation(model);
      await expect.poll(() => talk.failure ?? talk.isReady).toBe(true);
      talk.session.say('Bread.');
      await expect.poll(() => talk.failure ?? talk.ends.length).toBe(1);
      for (const usage of talk.usages) countRealtime(meter, usage);
      talk.close();
      expect(talk.said[0]?.text).toMatch(/bread/i);
      expect(talk.said[0]?.audioMs).toBeGreaterThan(200);
      expect(talk.complaints).toEqual([]);
    });
});
