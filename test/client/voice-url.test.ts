import { expect, it } from 'vitest';
import type { Carrier } from '../../src/carriers/carrier.js';
import { pointNumber } from '../../src/client/voice-url.js';
import { RecordedLogger } from '../support/recorded-logger.js';
import { soon } from '../support/soon.js';

it('gives the URL to enter where the number could not be pointed at this server', async () => {
  const logger = new RecordedLogger();
  const rest = { configured: true, setVoiceUrl: () => Promise.reject(new Error('no')) };
  const carrier = { id: 'carrier-a', supports: { voiceUrl: true }, rest } as unknown as Carrier;
  pointNumber({ carrier, phoneNumber: '+15550100', publicHost: 'voice.example.com', logger });
  await soon(() => expect(logger.lines).toHaveLength(1));
  expect(logger.lines).toMatchObject([
    {
      level: 'warn',
      fields: { voiceUrl: 'https://voice.example.com/webhooks/carrier-a/voice' },
      sentence: 'could not set the voice URL of the number: enter this one at the carrier',
    },
  ]);
});
