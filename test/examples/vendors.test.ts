// The examples that name vendors, with emulators in the vendors' places: who runs an example sends it there by the same variables.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { start as startPipeline } from '../../examples/pipeline/server.js';
import { start as startRealtime } from '../../examples/realtime/server.js';
import { silentLogger } from '../../src/base/log.js';
import type { Offhook } from '../../src/client.js';
import { type CallRecord, SIMULATED_CARRIERS } from '../../src/contract/call-record.js';
import type { Carrier, CarrierId, ServeOptions } from '../../src/index.js';
import {
  type Emulator,
  emulateAnthropic,
  emulateCartesia,
  emulateChatCompletions,
  emulateDeepgram,
  emulateElevenLabs,
  emulateOpenAIRealtime,
  openToneVoice,
} from '../../src/testing/index.js';
import { startCarrier } from '../support/carrier-phone.js';
import { closedAfterTest } from '../support/closed-after-test.js';
import { freePort } from '../support/free-port.js';

const HOST = 'voice.example.com';
const GREETING = 'agent: Hello, this is the bakery. How can I help?';
const QUESTION = 'Are you open on Sundays?';

beforeEach(() => void vi.stubEnv('WEBHOOK_HOST', HOST));
afterEach(() => void vi.unstubAllEnvs());

/** Sends what would go to the vendor to its emulator. `path`: what the vendor's base has behind its host. */
function stand<Emulated extends Emulator>(vendor: string, emulator: Emulated, path = ''): Emulated {
  vi.stubEnv(`${vendor}_API_KEY`, 'test-key');
  vi.stubEnv(`${vendor}_BASE_URL`, emulator.url + path);
  return closedAfterTest(emulator);
}

/** A call with one question, by a caller who speaks in tones, which the emulators understand. */
async function ask(
  id: CarrierId,
  start: (options: { carrier: Carrier } & Partial<ServeOptions>) => Promise<{ phone: Offhook }>,
): Promise<CallRecord> {
  const port = await freePort();
  const { simulator, carrier } = await startCarrier(id, {
    url: `http://127.0.0.1:${port}`,
    webhookHost: HOST,
    openVoice: openToneVoice,
  });
  closedAfterTest(simulator);
  let tell: (record: CallRecord) => void = () => {};
  const ended = new Promise<CallRecord>((resolve) => (tell = resolve));
  const { phone } = await start({
    ...{ carrier, port, host: '127.0.0.1', manageWebhook: false, dashboardUrl: false, dataDir: false },
    logger: silentLogger,
    onCallEnd: (record) => tell(record),
  });
  closedAfterTest({ close: () => phone.disconnect() });
  const report = await simulator.call({
    script: [
      { type: 'wait-for-agent' },
      { type: 'say', text: QUESTION },
      { type: 'wait-for-agent' },
      { type: 'hang-up' },
    ],
  });
  expect(report).toMatchObject({ ok: true, protocolErrors: [] });
  return await ended;
}

const transcript = ({ transcript: entries }: CallRecord) =>
  entries.map(({ role, text }) => `${role}: ${text}`);

describe.each(SIMULATED_CARRIERS)('%s', { timeout: 60_000 }, (id) => {
  async function standIns() {
    const answer = 'Yes, from eight until noon.';
    return {
      deepgram: stand('DEEPGRAM', await emulateDeepgram()),
      anthropic: stand('ANTHROPIC', await emulateAnthropic({ replies: [{ text: answer }] })),
      elevenlabs: stand('ELEVENLABS', await emulateElevenLabs()),
      openai: stand('OPENAI', await emulateChatCompletions({ replies: [{ text: answer }] }), '/v1'),
      cartesia: stand('CARTESIA', await emulateCartesia()),
    };
  }

  it('pipeline: the vendors that it names hear, think and speak', async () => {
    const emulators = await standIns();
    const record = await ask(id, startPipeline);
    expect(transcript(record)).toEqual([
      GREETING,
      expect.stringMatching(/^user: are you open on sundays/i),
      'agent: Yes, from eight until noon.',
    ]);
    expect(record.provider).toMatchObject({
      stt: 'deepgram/nova-3',
      llm: 'anthropic/claude-haiku-5-5',
      tts: 'elevenlabs/eleven_flash_v2_5',
    });
    expect(record.incidents).toEqual([]);
    expect(Object.values(emulators).flatMap(({ violations }) => violations)).toEqual([]);
  });

  it('pipeline: the others take over when a model and a voice refuse', async () => {
    const { anthropic, elevenlabs } = await standIns();
    anthropic.refuseNext({ status: 401, times: 20 });
    elevenlabs.refuseNext({ status: 401, times: 20 });
    const record = await ask(id, startPipeline);
    expect(transcript(record)).toEqual([
      GREETING,
      expect.stringMatching(/^user: /),
      'agent: Yes, from eight until noon.',
    ]);
    expect(record.provider).toMatchObject({ llm: 'openai/gpt-6-luna', tts: 'cartesia/sonic-3.5' });
  });

  it('realtime: one model hears and speaks', async () => {
    const model = stand(
      'OPENAI',
      await emulateOpenAIRealtime({ replies: [{ text: 'Yes, until noon.' }] }),
      '/v1',
    );
    const record = await ask(id, startRealtime);
    expect(transcript(record)).toEqual([
      GREETING,
      expect.stringMatching(/^user: are you open on sundays/i),
      'agent: Yes, until noon.',
    ]);
    expect(record).toMatchObject({
      mode: 'realtime',
      provider: { engine: 'openai/gpt-realtime-2.1-mini' },
    });
    expect(model.violations).toEqual([]);
  });
});
