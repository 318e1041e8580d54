import { describe, expect, it } from 'vitest';
import { Agent, type AgentOptions } from '../../src/options/agent.js';
import { isRealtimeModel } from '../../src/options/fallback.js';
import { ChatCompletions } from '../../src/providers/llm/index.js';
import { OpenAIRealtime } from '../../src/providers/realtime/index.js';
import { DeepgramSpeechToText } from '../../src/providers/stt/index.js';
import { ElevenLabsTextToSpeech } from '../../src/providers/tts/index.js';
import { refusal } from './refusal.js';

const engine = new OpenAIRealtime({ apiKey: 'k' });
const stt = new DeepgramSpeechToText();
const llm = new ChatCompletions();
const tts = new ElevenLabsTextToSpeech();
// Options as a program without types may write them.
const make = (options: object) => new Agent(options as AgentOptions).options;
const refused = (fallback: unknown) => refusal(() => make({ fallback }));

describe('the option fallback', () => {
  it('names providers by stage, and whole voice modes', () => {
    const stages = { stt, tts };
    const { fallback } = make({
      fallback: { stt: [stt], llm: [llm, llm], tts: [tts], engine: [engine, stages] },
    });
    expect(fallback).toEqual({ stt: [stt], llm: [llm, llm], tts: [tts], engine: [engine, stages] });
    expect(fallback.engine.map(isRealtimeModel)).toEqual([true, false]);
    expect(make({ fallback: { llm: [llm] } }).fallback).toEqual({ stt: [], llm: [llm], tts: [], engine: [] });
  });

  it('cannot be changed afterwards', () => {
    const given = [llm];
    const { fallback } = make({ fallback: { llm: given } });
    given.push(llm);
    expect(fallback.llm).toEqual([llm]);
    expect(() => Object.assign(fallback.llm, [undefined])).toThrow(TypeError);
    expect(() => Object.assign(fallback, { llm: [] })).toThrow(TypeError);
  });

  it.each<[string, unknown]>([
    ['fallback', [llm]],
    ['fallback', null],
    ['fallback', 'openai'],
    ['sst', { sst: [stt] }],
    ['fallback.stt', { stt }],
    ['fallback.llm', { llm: Array.from({ length: 6 }, () => llm) }],
    ['fallback.stt[0]', { stt: [llm] }],
    ['fallback.llm[1]', { llm: [llm, tts] }],
    ['fallback.tts[0]', { tts: [undefined] }],
    ['fallback.engine[0]', { engine: [null] }],
    ['fallback.engine[1]', { engine: [engine, tts] }],
    ['fallback.engine[0]', { engine: [{ ears: stt }] }],
    ['fallback.engine[0].llm', { engine: [{ stt, llm: tts }] }],
  ])('names what is wrong: %s', (where, fallback) => {
    const { code, message } = refused(fallback);
    expect(code).toBe('CONFIG_INVALID');
    expect(message).toContain(where);
  });

  it.each(['stt', 'llm', 'tts'] as const)('has no %s beside a realtime model', (stage) => {
    const list = { stt: [stt], llm: [llm], tts: [tts] }[stage];
    const { code, message } = refusal(() => make({ engine, fallback: { [stage]: list } }));
    expect(code).toBe('CONFIG_CONFLICT');
    expect(message).toContain(`fallback.${stage}`);
    expect(make({ engine, fallback: { [stage]: [], engine: [{}] } }).fallback.engine).toEqual([{}]);
  });

  it('has no realtime model beside guardrails', () => {
    const guardrails = [() => true];
    const { code, message } = refusal(() => make({ guardrails, fallback: { engine: [engine] } }));
    expect(code).toBe('CONFIG_CONFLICT');
    expect(message).toContain('guardrails');
    expect(make({ guardrails, fallback: { engine: [{ llm }] } }).fallback.engine).toEqual([{ llm }]);
  });
});
