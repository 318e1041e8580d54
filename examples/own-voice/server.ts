// A voice of your own: here every word is a tone. A real one asks your engine for 16 kHz PCM and yields it as it comes.
import { fileURLToPath } from 'node:url';
import { CarrierA, Offhook, type ServeOptions, type TextToSpeech } from 'offhook';

const RATE_HZ = 16_000;

export const toneVoice: TextToSpeech = {
  name: 'example/tones',
  open: () => ({
    async *synthesize(text, signal) {
      for (const word of text.match(/\S+/g) ?? []) {
        // The caller has interrupted, or the call is over.
        if (signal.aborted) return;
        const hertz = 300 + 20 * word.length;
        yield Int16Array.from({ length: RATE_HZ / 5 }, (_, index) =>
          Math.round(6000 * Math.sin((2 * Math.PI * hertz * index) / RATE_HZ)),
        );
      }
    },
    close() {},
  }),
};

export async function start(options: Partial<ServeOptions> = {}) {
  const phone = new Offhook({
    carrier: new CarrierA(),
    phoneNumber: process.env.PHONE_NUMBER || '+15005550010',
    webhookUrl: process.env.WEBHOOK_HOST || undefined,
  });
  const agent = phone.agent({ tts: toneVoice, firstMessage: 'These are four tones.' });
  const { url } = await phone.serve({ agent, ...options });
  return { phone, url };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log((await start()).url);
