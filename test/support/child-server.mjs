// What servers in processes of their own are made with: the package as it is built, and a voice that takes no time.
/** A module of it. @param {string} path @returns {Promise<any>} */
export const load = (path) => import(new URL(`../../dist/${path}`, import.meta.url).href);

/** @type {typeof import('../../src/index.js')} */
export const { CarrierA, CarrierB, Offhook } = await load('index.js');
/** @type {typeof import('../../src/testing/tone-voice.js')} */
const { speakInTones } = await load('testing/tone-voice.js');
/** @type {typeof import('../../src/base/load-judge.js')} */
const { LoadJudge } = await load('base/load-judge.js');
// It is not the tests that a machine without time would have to spare.
Object.defineProperty(LoadJudge.prototype, 'isOverloaded', { get: () => false });

/** However busy the machine is. @type {import('../../src/index.js').TextToSpeech} */
export const tts = {
  name: 'test/tones',
  open: () => ({
    async *synthesize(text) {
      yield speakInTones(text, { sampleRateHz: 16_000 });
    },
    close() {},
  }),
};
