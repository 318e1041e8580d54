// A pipeline with named vendors: Deepgram hears, Anthropic thinks, ElevenLabs speaks, and two others take over when one fails.
import { fileURLToPath } from 'node:url';
import { type Carrier, CarrierA, Offhook, type ServeOptions } from 'offhook';
import { AnthropicMessages, ChatCompletions } from 'offhook/llm';
import { DeepgramSpeechToText } from 'offhook/stt';
import { CartesiaTextToSpeech, ElevenLabsTextToSpeech } from 'offhook/tts';

export async function start({
  carrier = new CarrierA(),
  ...options
}: { carrier?: Carrier } & Partial<ServeOptions> = {}) {
  const phone = new Offhook({
    carrier,
    phoneNumber: process.env.PHONE_NUMBER || '+15005550010',
    webhookUrl: process.env.WEBHOOK_HOST || undefined,
  });
  const agent = phone.agent({
    systemPrompt: 'You answer the phone of a bakery. Be brief.',
    firstMessage: 'Hello, this is the bakery. How can I help?',
    stt: new DeepgramSpeechToText({ keyterms: ['sourdough', 'focaccia'] }),
    llm: new AnthropicMessages({ model: 'claude-haiku-5-5' }),
    tts: new ElevenLabsTextToSpeech({ voiceId: process.env.VOICE_ID || undefined }),
    fallback: { llm: [new ChatCompletions()], tts: [new CartesiaTextToSpeech()] },
  });
  const { url } = await phone.serve({ agent, ...options });
  return { phone, url };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log((await start()).url);
