// The vendors of the bench, in a process of their own: nobody's CPU is counted that a production server does not spend. Tells its parent where they are.
import { ANSWER, QUESTION } from './talk.mjs';

/** @type {typeof import('../../../src/testing/index.js')} */
const { emulateChatCompletions, emulateDeepgram, emulateElevenLabs, emulateOpenAIRealtime } = await import(
  new URL('../../../dist/testing/index.js', import.meta.url).href
);

/** More than anybody says in a call. */
const UTTERANCES = 50;
const utterances = () => Array.from({ length: UTTERANCES }, () => QUESTION);
const replies = () => ({ text: ANSWER });

const [ears, mind, voice, model] = await Promise.all([
  emulateDeepgram({ utterances }),
  emulateChatCompletions({ replies: () => ({ text: ANSWER, firstTokenMs: 200, tokenMs: 10 }) }),
  emulateElevenLabs({ firstAudioMs: 100, chunkEveryMs: 20 }),
  emulateOpenAIRealtime({ utterances, replies }),
]);
/** @typedef {{ ears: string, mind: string, voice: string, model: string }} Vendors */
process.send?.({ ears: ears.url, mind: mind.url, voice: voice.url, model: model.url });
process.on('disconnect', () => process.exit(0));
