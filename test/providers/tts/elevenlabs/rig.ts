import { openElevenLabsVoice } from '../../../../src/providers/tts/elevenlabs/elevenlabs.js';
import { FakeClock } from '../../../support/fake-clock.js';
import { RecordedLogger } from '../../../support/recorded-logger.js';
import { FakeVendor } from '../../fake-vendor-socket.js';
import { recordEvents } from '../listener.js';

/** A session with a vendor played by hand; `told` is what it says of itself. */
export function open() {
  const clock = new FakeClock();
  const vendor = new FakeVendor();
  const logger = new RecordedLogger();
  const { told, events } = recordEvents();
  const session = openElevenLabsVoice(
    {
      clock,
      logger,
      language: undefined,
      events,
    },
    {
      target: {
        url: new URL('ws://vendor'),
        headers: {},
        names: { vendor: 'ElevenLabs', keyVariables: ['ELEVENLABS_API_KEY'] },
      },
      voiceSettings: { stability: 0.5 },
      open: vendor.open,
    },
  );
  return { clock, vendor, logger, told, session };
}

/** `samples` as the vendor sends them. */
export function audio(contextId: string, samples: number[], rest: object = {}): object {
  return { audio: Buffer.from(Int16Array.from(samples).buffer).toString('base64'), contextId, ...rest };
}
