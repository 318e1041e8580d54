// Realtime models say one word.
import { describe, expect } from 'vitest';
import { countRealtime } from '../../src/engines/realtime/usage.js';
import type { RealtimeModel } from '../../src/providers/realtime-model.js';
import { ElevenLabsAgents, GeminiLive, OpenAIRealtime } from '../../src/providers/realtime/index.js';
import { RealtimeConversation } from '../../src/testing/conformance/realtime-conversation.js';
import { live, named } from './vendor.js';

const MODELS: readonly [string | readonly string[], () => RealtimeModel][] = [
  ['OPENAI_API_KEY', () => new OpenAIRealtime()],
  ['GEMINI_API_KEY or GOOGLE_API_KEY', () => new GeminiLive()],
  [
    ['ELEVENLABS_API_KEY', 'ELEVENLABS_AGENT_ID'],
    () => new ElevenLabsAgents({ agentId: named('ELEVENLABS_AGENT_ID') }),
  ],
];

describe('a realtime model says a word', () => {
  for (const [needed, create] of MODELS)
    live(needed, create, async (model, meter) => {
      const talk = new RealtimeConversation(model);
      // Before it is ready: a model of which the service greets takes a greeting only then.
      talk.session.say('Bread.');
      await expect.poll(() => talk.failure ?? talk.ends.length).toBe(1);
      for (const usage of talk.usages) countRealtime(meter, usage);
      talk.close();
      expect(talk.said[0]?.text).toMatch(/bread/i);
      expect(talk.said[0]?.audioMs).toBeGreaterThan(200);
      expect(talk.complaints).toEqual([]);
    });
});
