import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { SpeechDetector } from '../../src/engines/speech-detector.js';
import { createVoiceActivity, type VoiceActivity } from '../../src/engines/voice-activity.js';
import { locateFlite } from '../../src/providers/tts/flite/package.js';
import { compileFlite, runFlite } from '../../src/providers/tts/flite/wasi.js';

const flite = await compileFlite(await readFile(locateFlite()));
const speech = runFlite(flite, 'slt', 'I would like to book a table for two people on Friday evening.').pcm;

const isVoiced = (activity: VoiceActivity, frame: Int16Array) => activity.hear(frame).voiced;

function voicedShare(pcm: Int16Array): number {
  const activity = createVoiceActivity();
  let voiced = 0;
  let frames = 0;
  for (let at = 0; at + 320 <= pcm.length; at += 320) {
    frames += 1;
    if (isVoiced(activity, pcm.subarray(at, at + 320))) voiced += 1;
  }
  activity.close();
  return voiced / frames;
}

/** The same noise in every run. */
function noise(samples: number, amplitude: number): Int16Array {
  let state = 1;
  return Int16Array.from({ length: samples }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return ((state / 2 ** 32) * 2 - 1) * amplitude;
  });
}

describe('voice activity', () => {
  it('hears speech, loud and at telephone level', () => {
    expect(voicedShare(speech)).toBeGreaterThan(0.7);
    expect(voicedShare(speech.map((sample) => sample / 4))).toBeGreaterThan(0.6);
  });

  it.each([
    ['silence', new Int16Array(32_000)],
    ['line noise', noise(32_000, 100)],
    ['loud noise', noise(32_000, 2000)],
    ['speech too far away to be meant', speech.map((sample) => sample / 400)],
  ])('takes no %s for speech', (_, pcm) => {
    expect(voicedShare(pcm)).toBeLessThan(0.2);
  });

  it('hears speech over steady noise', () => {
    const background = noise(speech.length, 200);
    const noisy = speech.map((sample, index) => sample / 2 + (background[index] ?? 0));
    expect(voicedShare(noisy)).toBeGreaterThan(0.5);
  });

  it('keeps detectors apart', () => {
    const one = createVoiceActivity();
    const other = createVoiceActivity();
    const alone: boolean[] = [];
    const beside: boolean[] = [];
    for (let at = 0; at + 320 <= speech.length; at += 320)
      alone.push(isVoiced(one, speech.subarray(at, at + 320)));
    const third = createVoiceActivity();
    for (let at = 0; at + 320 <= speech.length; at += 320) {
      isVoiced(other, noise(320, 20_000));
      beside.push(isVoiced(third, speech.subarray(at, at + 320)));
    }
    expect(beside).toEqual(alone);
    for (const activity of [one, other, third]) activity.close();
  });

  it('says nothing after close, and takes no odd frames', () => {
    const activity = createVoiceActivity();
    expect(isVoiced(activity, new Int16Array(100).fill(9000))).toBe(false);
    activity.close();
    activity.close();
    expect(isVoiced(activity, speech.subarray(8000, 8320))).toBe(false);
  });
});

describe('SpeechDetector', () => {
  it.each([
    ['one frame', '1000000', -1],
    ['two of four', '10010010', -1],
    ['three in a row', '0111', 3],
    ['three of four', '01011', 4],
  ])('%s', (_, frames, startsAt) => {
    const detector = new SpeechDetector();
    const starts = [...frames].map((frame) => detector.update(frame === '1'));
    expect(starts.indexOf(true)).toBe(startsAt);
  });

  it('starts again only after a gap of 200 ms', () => {
    const detector = new SpeechDetector();
    const starts = (frames: string) => [...frames].filter((frame) => detector.update(frame === '1')).length;
    expect(starts('111')).toBe(1);
    expect(starts(`${'0'.repeat(9)}111`)).toBe(0);
    expect(starts(`${'0'.repeat(10)}111`)).toBe(1);
  });
});
