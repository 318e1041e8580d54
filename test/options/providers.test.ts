import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { splitName } from '../../src/calls/money/pricing.js';
import { FREE } from '../../src/contract/price.js';
import { Agent, type AgentOptions } from '../../src/options/agent.js';
import { MODEL_PRICES, MODEL_VENDORS } from '../../src/options/price-list.js';
import * as llms from '../../src/providers/llm/index.js';
import * as realtimes from '../../src/providers/realtime/index.js';
import type { Payee } from '../../src/providers/remedy.js';
import * as stts from '../../src/providers/stt/index.js';
import * as ttss from '../../src/providers/tts/index.js';
import { refusal } from './refusal.js';

const stt = new stts.DeepgramSpeechToText();
const llm = new llms.ChatCompletions();
const tts = new ttss.ElevenLabsTextToSpeech();
const engine = new realtimes.OpenAIRealtime({ apiKey: 'k' });

// The wings, and the suite of each in `test/testing/conformance`.
const ROOMS = { stt: stts, llm: llms, tts: ttss, realtime: realtimes };
const SUITES = {
  stt: 'speech-to-text',
  llm: 'language-model',
  tts: 'text-to-speech',
  realtime: 'realtime-model',
} as const;
type Kind = keyof typeof ROOMS;

const sdk = { specificationVersion: 'v3', provider: 'openai', modelId: 'y', doStream() {} };
// What a class cannot be without.
const needed: Readonly<Record<string, object>> = {
  AiSdkLanguageModel: { model: sdk },
  ElevenLabsAgents: { agentId: 'agent-1' },
  OpenAISpeech: { model: 'm', voice: 'v' },
};

/** All classes, and one provider of each. */
const shipped = (Object.keys(ROOMS) as Kind[]).flatMap((kind) =>
  Object.entries(ROOMS[kind]).flatMap(([name, value]) => {
    if (typeof value !== 'function') return [];
    const Provider = value as new (options: object) => Payee;
    return [[name, kind, new Provider(needed[name] ?? {})] as const];
  }),
);

// Options as a program without types may write them.
const make = (options: object) => new Agent(options as AgentOptions).options;

describe('a provider of the wrong kind', () => {
  it.each<[string, object]>([
    ['stt is a text-to-speech: put it into tts.', { stt: tts }],
    ['stt is a language model: put it into llm.', { stt: llm }],
    ['stt is a realtime model: put it into engine.', { stt: engine }],
    ['tts is a speech-to-text: put it into stt.', { tts: stt }],
    ['llm is a text-to-speech: put it into tts.', { llm: tts }],
    ['engine is a speech-to-text: put it into stt.', { engine: stt }],
    ['engine is a language model: put it into llm.', { engine: llm }],
    ['fallback.stt[1] is a text-to-speech: put it into fallback.tts.', { fallback: { stt: [stt, tts] } }],
    ['fallback.tts[0] is a realtime model: put it into fallback.engine.', { fallback: { tts: [engine] } }],
    [
      'fallback.engine[1] is a speech-to-text: put it into fallback.engine[1].stt.',
      { fallback: { engine: [engine, stt] } },
    ],
    [
      'fallback.engine[0] is a language model: put it into fallback.engine[0].llm.',
      { fallback: { engine: [llm] } },
    ],
    [
      'fallback.engine[0].tts is a speech-to-text: put it into fallback.engine[0].stt.',
      { fallback: { engine: [{ tts: stt }] } },
    ],
    [
      'fallback.engine[0].stt is a realtime model: put it into fallback.engine.',
      { fallback: { engine: [{ stt: engine }] } },
    ],
  ])('is refused: %s', (message, options) => {
    expect(refusal(() => make(options))).toMatchObject({ code: 'CONFIG_INVALID', message });
  });

  it.each(shipped)('is told by a mark, which %s has: %s', (_, kind, provider) => {
    expect(provider).toMatchObject({ kind });
  });
});

describe('a provider that is shipped', () => {
  it.each(shipped)('is in the price list: %s', (_name, _kind, { name, price }) => {
    const [vendor] = splitName(name);
    expect(MODEL_VENDORS).toContain(vendor);
    if (price !== undefined && price !== FREE)
      expect(Object.values(MODEL_PRICES[vendor] ?? {})).toContain(price);
  });

  it.each(shipped)('plays the conformance suite of its kind: %s', (name, kind) => {
    const suite = new URL(`../testing/conformance/${SUITES[kind]}.test.ts`, import.meta.url);
    expect(readFileSync(suite, 'utf8')).toContain(`new ${name}(`);
  });
});

describe('a provider of the application', () => {
  const open = () => ({});

  it('needs no mark', () => {
    const mine = { name: 'mine', open };
    const answers = { name: 'mine', async *respond() {} };
    const model = { name: 'mine', open, inputFormats: [], outputFormats: [], transcribesCaller: false };
    expect(make({ stt: mine, llm: answers, tts: mine })).toMatchObject({
      stt: mine,
      llm: answers,
      tts: mine,
    });
    expect(make({ engine: model, fallback: { engine: [model, { stt: mine }] } }).engine).toBe(model);
  });

  it('may have a word of its own in the place of the mark, and methods of several kinds', () => {
    const mine = { name: 'mine', kind: 'toString', open, async *respond() {} };
    expect(make({ stt: mine, llm: mine, tts: mine })).toMatchObject({ stt: mine, llm: mine, tts: mine });
  });

  it('is told by its methods as far as they differ', () => {
    const answers = { name: 'mine', async *respond() {} };
    const model = { name: 'mine', open, inputFormats: [], outputFormats: [] };
    expect(refusal(() => make({ tts: answers })).message).toBe('tts is a language model: put it into llm.');
    expect(refusal(() => make({ stt: model })).message).toBe('stt is a realtime model: put it into engine.');
  });
});
