import { ElevenLabsSession } from '../../../src/providers/tts/elevenlabs-session.js';
import { FakeClock } from '../../support/fake-clock.js';
import { RecordedLogger } from '../../support/recorded-logger.js';
import { FakeVendor } from '../fake-vendor-socket.js';

const never = new AbortController().signal;

/** A session with a vendor played by hand; `told` is what it says of itself. */
export function open() {
  const clock = new FakeClock();
  const vendor = new FakeVendor();
  const logger = new RecordedLogger();
  const told: string[] = [];
  const session = new ElevenLabsSession(
    {
      clock,
      logger,
      language: undefined,
      events: {
        usage: ({ characters }) => void told.push(`usage ${characters}`),
        reconnected: ({ gapMs }) => void told.push(`back ${gapMs}`),
      },
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

/** Reads a sentence in the background. */
export function listen(session: ElevenLabsSession, text: string, signal = never) {
  const samples: number[] = [];
  const reading = { samples, over: false, error: undefined as unknown };
  void (async () => {
    try {
      for await (const pcm of session.synthesize(text, signal)) samples.push(...pcm);
    } catch (error) {
      reading.error = error;
    }
    reading.over = true;
  })();
  return reading;
}

export const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

/** `samples` as the vendor sends them. */
export function audio(contextId: string, samples: number[], rest: object = {}): object {
  return { audio: Buffer.from(Int16Array.from(samples).buffer).toString('base64'), contextId, ...rest };
}
