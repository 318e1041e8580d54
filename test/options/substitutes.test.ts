import { describe, expect, it } from 'vitest';
import { Agent } from '../../src/options/agent.js';
import { ChatCompletions } from '../../src/providers/llm/index.js';
import { OpenAIRealtime } from '../../src/providers/realtime/index.js';
import { DeepgramSpeechToText } from '../../src/providers/stt/index.js';

const engine = new OpenAIRealtime({ apiKey: 'k' });
const llm = new ChatCompletions({ apiKey: 'k' });
const stt = new DeepgramSpeechToText({ apiKey: 'k' });

describe('an agent in another voice mode', () => {
  it('is the same but for its providers', () => {
    const agent = new Agent({
      systemPrompt: 'You bake for {name}.',
      firstMessage: 'Hello!',
      language: 'de',
      variables: { name: 'Ada' },
      tools: [{ name: 'look_up', description: 'Looks it up.', execute: async () => 1 }],
      engine,
      fallback: { engine: [{ llm, stt }] },
    });
    const [other, ...more] = agent.substitutes;
    expect(more).toEqual([]);
    expect(other?.options).toMatchObject({
      systemPrompt: 'You bake for {name}.',
      firstMessage: 'Hello!',
      language: 'de',
      variables: { name: 'Ada' },
      engine: undefined,
      llm,
      stt,
      tts: undefined,
      fallback: { engine: [] },
    });
    expect(other?.options.tools.map(({ definition }) => definition.name)).toEqual(['look_up']);
    expect(other?.substitutes).toEqual([]);
  });

  it('leaves out what a realtime model has no place for', () => {
    const agent = new Agent({
      llm,
      turnTaking: { silenceMs: 2000, keysInterrupt: false },
      fallback: { llm: [llm], engine: [engine] },
    });
    const [other] = agent.substitutes;
    expect(other?.options.engine).toBe(engine);
    expect(other?.options.llm).toBeUndefined();
    expect(other?.options.turnTaking.keysInterrupt).toBe(false);
    expect(agent.options.turnTaking.silenceMs).toBe(2000);
    expect(other?.options.turnTaking.silenceMs).not.toBe(2000);
  });
});
