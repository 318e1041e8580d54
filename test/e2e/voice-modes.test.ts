// Calls that begin with one voice mode and go on with another, over both carriers, on loopback.
import { describe, expect, it } from 'vitest';
import { CARRIER_IDS } from '../../src/contract/call-record.js';
import type { AgentOptions, StageOptions } from '../../src/index.js';
import { ChatCompletions } from '../../src/providers/llm/index.js';
import { OpenAIRealtime } from '../../src/providers/realtime/index.js';
import { DeepgramSpeechToText } from '../../src/providers/stt/index.js';
import { ElevenLabsTextToSpeech } from '../../src/providers/tts/index.js';
import {
  emulateChatCompletions,
  emulateDeepgram,
  emulateElevenLabs,
  emulateOpenAIRealtime,
} from '../../src/testing/index.js';
import { startCarrierPhone } from '../support/carrier-phone.js';

const GREETING = 'Hello, this is the bakery.';
const ASKED = 'Three loaves of bread.';
const ANSWERED = 'They are ready at noon.';
const MORE = 'And what does a cake cost?';

const PIPELINE = {
  engine: null,
  stt: 'deepgram/nova-3',
  llm: 'openai/gpt-6-luna',
  tts: 'elevenlabs/eleven_flash_v2_5',
};

/** A realtime model and the three stages of a pipeline, each with an emulator in its vendor's place. */
async function emulate(heard: { realtime: readonly string[]; pipeline: readonly string[] }) {
  const model = await emulateOpenAIRealtime({
    utterances: heard.realtime,
    replies: ({ heard: text }) => ({ text: text === ASKED ? ANSWERED : 'Ten dollars.' }),
  });
  const ears = await emulateDeepgram({ utterances: heard.pipeline });
  const mind = await emulateChatCompletions({ replies: () => ({ text: 'Ten dollars.' }) });
  const voice = await emulateElevenLabs({ firstAudioMs: 75, chunkEveryMs: 20 });
  const emulators = [model, ears, mind, voice];
  const engine = new OpenAIRealtime({ apiKey: 'test-key', baseUrl: `${model.url}/v1` });
  const stages: StageOptions = {
    stt: new DeepgramSpeechToText({ apiKey: 'test-key', baseUrl: ears.url }),
    llm: new ChatCompletions({ apiKey: 'test-key', baseUrl: `${mind.url}/v1` }),
    tts: new ElevenLabsTextToSpeech({ apiKey: 'test-key', baseUrl: voice.url }),
  };
  return {
    model,
    ears,
    mind,
    voice,
    engine,
    stages,
    async [Symbol.asyncDispose]() {
      for (const emulator of emulators) await emulator.close();
    },
  };
}

const agentOf = (modes: AgentOptions): AgentOptions => ({
  systemPrompt: 'You answer for a bakery.',
  firstMessage: GREETING,
  ...modes,
});

// Calls in real time: a shared machine that stops for longer than the pacer's lead makes a gap that nobody can mend.
describe.each(CARRIER_IDS)('%s, an agent with two voice modes', { retry: 2, timeout: 60_000 }, (id) => {
  it('has the pipeline greet and answer when the realtime model refuses at the start', async () => {
    await using scene = await emulate({ realtime: [], pipeline: [MORE] });
    const { model, engine, stages, mind } = scene;
    model.refuseNext({ status: 401, times: 10 });
    await using running = await startCarrierPhone(id, agentOf({ engine, fallback: { engine: [stages] } }));
    const report = await running.simulator.call({
      script: [
        { type: 'wait-for-agent' },
        { type: 'say', text: MORE },
        { type: 'wait-for-agent' },
        { type: 'hang-up' },
      ],
    });
    const record = await running.record(report.carrierCallId);
    expect(report).toMatchObject({ ok: true, protocolErrors: [] });
    expect(report.firstAudioAfterMs).toBeLessThan(5000);
    expect(record).toMatchObject({ mode: 'pipeline', provider: PIPELINE, error: null });
    expect(record.transcript.map(({ text }) => text)).toEqual([GREETING, MORE, 'Ten dollars.']);
    expect(mind.exchanges[0]?.body.messages).toEqual([
      { role: 'developer', content: 'You answer for a bakery.' },
      { role: 'assistant', content: GREETING },
      { role: 'user', content: MORE },
    ]);
    expect(record.incidents).toMatchObject([{ code: 'provider-replaced' }]);
    expect(running.simulator.legs[0]?.spoken).toEqual([]);
  });

  it('has the pipeline answer who speaks as the realtime model goes for good', async () => {
    await using scene = await emulate({ realtime: [ASKED], pipeline: [MORE] });
    const { model, engine, stages, ears, mind, voice } = scene;
    await using running = await startCarrierPhone(id, agentOf({ engine, fallback: { engine: [stages] } }));
    const calling = running.simulator.call({
      script: [
        { type: 'wait-for-agent' },
        { type: 'say', text: ASKED },
        { type: 'wait-for-agent' },
        { type: 'pause', durationMs: 600 },
        { type: 'say', text: MORE },
        { type: 'wait-for-agent' },
        { type: 'hang-up' },
      ],
    });
    await running.active(1, ({ turns }) => turns.length === 2);
    model.refuseNext({ status: 503, times: 50 });
    model.disconnectAll();
    const report = await calling;
    const record = await running.record(report.carrierCallId);
    expect(report).toMatchObject({ ok: true, protocolErrors: [] });
    expect(report.turns.at(-1)?.responseMs).toBeLessThan(5000);
    expect(record).toMatchObject({ mode: 'pipeline', provider: PIPELINE, error: null });
    expect(record.transcript.map(({ role, text }) => `${role}: ${text}`)).toEqual([
      `agent: ${GREETING}`,
      `user: ${ASKED}`,
      `agent: ${ANSWERED}`,
      `user: ${MORE}`,
      'agent: Ten dollars.',
    ]);
    expect(record.turns.map(({ index }) => index)).toEqual([0, 1, 2]);
    expect(mind.exchanges.at(-1)?.body.messages).toEqual([
      { role: 'developer', content: 'You answer for a bakery.' },
      { role: 'assistant', content: GREETING },
      { role: 'user', content: ASKED },
      { role: 'assistant', content: ANSWERED },
      { role: 'user', content: MORE },
    ]);
    const incident = record.incidents.find(({ code }) => code === 'provider-replaced');
    expect(incident?.message).toMatch(/^openai\/gpt-realtime.* was asked in its place\.$/);
    // Both are in the bill, each by its own price.
    expect(record.turns.map(({ cost }) => (cost ?? 0) > 0)).toEqual([true, true, true]);
    expect(record.cost.llm).toBeGreaterThan(record.turns[2]?.cost ?? 0);
    expect(record.cost.tts).toBeGreaterThan(0);
    expect(record.usage?.ttsCharacters).toBeGreaterThanOrEqual('Ten dollars.'.length);
    expect([...model.violations, ...ears.violations, ...mind.violations, ...voice.violations]).toEqual([]);
  });

  it('has the realtime model answer what the language model could not', async () => {
    await using scene = await emulate({ realtime: [], pipeline: [ASKED] });
    const { model, engine, stages, mind } = scene;
    mind.refuseNext({ status: 401, times: 10 });
    await using running = await startCarrierPhone(id, agentOf({ ...stages, fallback: { engine: [engine] } }));
    const report = await running.simulator.call({
      script: [
        { type: 'wait-for-agent' },
        { type: 'say', text: ASKED },
        { type: 'wait-for-agent' },
        { type: 'hang-up' },
      ],
    });
    const record = await running.record(report.carrierCallId);
    expect(report.turns.at(-1)?.responseMs).toBeLessThan(5000);
    expect(record).toMatchObject({
      mode: 'realtime',
      provider: { engine: 'openai/gpt-realtime-2.1-mini', stt: null, llm: null, tts: null },
      error: null,
    });
    expect(record.transcript.map(({ text }) => text)).toEqual([GREETING, ASKED, 'Ten dollars.']);
    expect(model.connections[0]?.items.slice(0, 2).map(({ text }) => text)).toEqual([GREETING, ASKED]);
    expect(model.violations).toEqual([]);
  });
});
