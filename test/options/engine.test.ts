import { describe, expect, it } from 'vitest';
import { Agent, type AgentOptions } from '../../src/options/agent.js';
import { ChatCompletions } from '../../src/providers/llm/index.js';
import { OpenAIRealtime } from '../../src/providers/realtime/index.js';
import { DeepgramSpeechToText } from '../../src/providers/stt/index.js';
import { ElevenLabsTextToSpeech } from '../../src/providers/tts/index.js';

const engine = new OpenAIRealtime({ apiKey: 'k' });
// Options as a program without types may write them.
const make = (options: object) => () => new Agent(options as AgentOptions).options;

describe('the option engine', () => {
  it('is a realtime model', () => {
    expect(make({ engine })().engine).toBe(engine);
  });

  it.each([7, 'openai', {}, { open() {} }, { open() {}, inputFormats: [], outputFormats: 'pcm' }])(
    'may not be %j',
    (wrong) => {
      expect(make({ engine: wrong })).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }));
    },
  );

  it.each<[string, object]>([
    ['stt', { stt: new DeepgramSpeechToText() }],
    ['llm', { llm: new ChatCompletions() }],
    ['tts', { tts: new ElevenLabsTextToSpeech() }],
    ['guardrails', { guardrails: [() => true] }],
    ['turnTaking.silenceMs', { turnTaking: { silenceMs: 300 } }],
    ['turnTaking.echoGuard', { turnTaking: { echoGuard: false } }],
  ])('does not go with %s', (name, options) => {
    expect(make({ engine, ...options })).toThrow(expect.objectContaining({ code: 'CONFIG_CONFLICT' }));
    expect(make({ engine, ...options })).toThrow(name);
  });

  it('goes with guardrails that are none', () => {
    expect(make({ engine, guardrails: [] })().engine).toBe(engine);
  });

  it('leaves keys and the greeting to the agent', () => {
    const turnTaking = {
      interruptibleGreeting: false,
      keysInterrupt: false,
      keyPauseMs: 700,
      silenceMs: undefined,
    };
    expect(make({ engine, turnTaking })().turnTaking).toMatchObject({ keyPauseMs: 700 });
    expect(make({ engine, turnTaking: null })).toThrow(/turnTaking/);
  });
});
