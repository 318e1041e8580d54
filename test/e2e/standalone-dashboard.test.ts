import { describe, expect, it } from 'vitest';
import { CarrierA, Offhook } from '../../src/index.js';
import { ScriptedLanguageModel } from '../../src/providers/llm/index.js';
import { SimulatedSpeechToText } from '../../src/providers/stt/index.js';
import { FliteTextToSpeech } from '../../src/providers/tts/index.js';
import { makeSpeechTones } from '../../src/testing/tones.js';
import { openDashboard, socketFolder, TOKEN } from '../support/ingest-dashboard.js';
import { startPhone } from '../support/running-phone.js';

const AGENT = {
  systemPrompt: 'Be brief.',
  firstMessage: 'Hello.',
  stt: new SimulatedSpeechToText(),
  llm: new ScriptedLanguageModel(),
  tts: new FliteTextToSpeech(),
};

describe('a call on a server that was told of a standalone dashboard', () => {
  it('has the same record on both', async () => {
    const room = socketFolder();
    const dashboard = await openDashboard({ folder: room.folder });
    const feed = { dashboardUrl: dashboard.url, dashboardIngestToken: TOKEN };
    await using phone = await startPhone(AGENT, feed);
    const samples = makeSpeechTones(500);
    const { record } = await phone.call([{ type: 'play', samples, sampleRateHz: 8000 }]);
    expect(record.status).toBe('completed');
    await phone.phone.disconnect();
    const shown = (await dashboard.records()).get(record.callId);
    expect(shown).toMatchObject({
      transcript: record.transcript,
      turns: record.turns,
      endedAt: record.endedAt,
    });
    expect(shown?.seq).toBeGreaterThanOrEqual(record.seq);
    await dashboard.close();
    room.remove();
  });

  it('is not served at all with an address that would show it to others', async () => {
    const phone = new Offhook({ carrier: new CarrierA(), phoneNumber: '+15005550010' });
    const agent = phone.agent(AGENT);
    const feed = { dashboardUrl: 'http://dashboard.example.com', dashboardIngestToken: TOKEN };
    await expect(phone.serve({ agent, port: 1, ...feed })).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  });
});
