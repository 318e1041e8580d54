// One whole session with each of the providers that it is told, in a process that trusts what NODE_EXTRA_CA_CERTS names: Node reads that
// when it starts. Prints what came of each.
const built = (/** @type {string} */ path) => new URL(`../../dist/${path}`, import.meta.url).href;
const { systemClock: clock } = await import(built('base/clock.js'));
const { silentLogger: logger } = await import(built('base/log.js'));
const { makeEmulatedSpeech } = await import(built('testing/emulators/emulated-speech.js'));
const { RealtimeConversation } = await import(built('testing/conformance/realtime-conversation.js'));
const { until } = await import(built('testing/conformance/provider-check.js'));

/**
 * @typedef {import('../../src/providers/speech-to-text.js').SpeechToText} SpeechToText
 * @typedef {import('../../src/providers/language-model.js').LanguageModel} LanguageModel
 * @typedef {import('../../src/providers/text-to-speech.js').TextToSpeech} TextToSpeech
 * @typedef {import('../../src/providers/realtime-model.js').RealtimeModel} RealtimeModel
 * @typedef {{ stage: 'stt' | 'llm' | 'tts' | 'realtime', name: string, options: object }} Task
 */

const PCM_24K_FRAME_BYTES = 960;
const signal = new AbortController().signal;

const SESSIONS = {
  /** @param {SpeechToText} provider */
  stt: async (provider) => {
    const { promise, resolve, reject } = withResolvers();
    const events = {
      partial() {},
      final: (/** @type {string} */ text) => text !== '' && resolve(text),
      failed: reject,
    };
    const session = provider.open({ clock, logger, language: 'en', events });
    const speech = makeEmulatedSpeech({ durationMs: 700, sampleRateHz: 16_000 });
    const sound = new Int16Array(speech.length + 9600);
    sound.set(speech);
    for (let at = 0; at + 320 <= sound.length; at += 320) session.pushAudio(sound.slice(at, at + 320));
    session.finishUtterance();
    try {
      return await promise;
    } finally {
      session.close();
    }
  },
  /** @param {LanguageModel} provider */
  llm: async (provider) => {
    let text = '';
    /** @type {import('../../src/providers/language-model.js').ChatMessage[]} */
    const messages = [{ role: 'user', content: 'Good morning to you.' }];
    for await (const event of provider.respond({ callId: 'call', messages, signal })) {
      if (event.type === 'text') text += event.delta;
    }
    return text;
  },
  /** @param {TextToSpeech} provider */
  tts: async (provider) => {
    const session = provider.open({ clock, logger, language: 'en' });
    let samples = 0;
    try {
      for await (const chunk of session.synthesize('Good day.', signal)) samples += chunk.length;
    } finally {
      session.close();
    }
    return samples > 1600 ? 'speech' : 'nothing';
  },
  /** @param {RealtimeModel} model */
  realtime: async (model) => {
    const talk = new RealtimeConversation(model);
    await until('readiness', () => talk.isReady || talk.complaints.length > 0);
    if (talk.complaints.length > 0) throw talk.failure;
    talk.hear();
    // A line is never without audio: what the network did not take at once leaves with the next frame.
    const line = setInterval(() => talk.session.pushAudio(new Uint8Array(PCM_24K_FRAME_BYTES)), 20);
    await until('answer', () => talk.ends.length === 1).finally(() => clearInterval(line));
    talk.close();
    return talk.said.map((/** @type {{ text: string }} */ { text }) => text).join('');
  },
};

function withResolvers() {
  /** @type {(text: string) => void} */
  let resolve = () => {};
  /** @type {(error: Error) => void} */
  let reject = () => {};
  const promise = new Promise((...both) => {
    [resolve, reject] = both;
  });
  return { promise, resolve, reject };
}

/** @param {Task} task */
async function run({ stage, name, options }) {
  const providers = await import(built(`providers/${stage}/index.js`));
  try {
    return { came: await SESSIONS[stage](new providers[name](options)) };
  } catch (error) {
    const { code, retryable, message } = /** @type {import('../../src/base/errors.js').ProviderError} */ (
      error
    );
    return { code, retryable, message };
  }
}

/** @type {Task[]} */
const tasks = JSON.parse(process.argv[2] ?? '[]');
process.stdout.write(JSON.stringify(await Promise.all(tasks.map(run))));
process.exit(0);
