import { describe, expect, it } from 'vitest';
import { UtteranceRecorder } from '../../../src/providers/stt/utterance-recorder.js';

const FRAME = 320;

/** A frame whose level is about that of `peak`, and whose samples say which one it is. */
function frame(peak: number): Int16Array {
  return Int16Array.from({ length: FRAME }, (_, index) => (index % 2 === 0 ? peak : -peak));
}

/** Lets it hear frames; returns true when one of them ended an utterance. */
function hear(recorder: UtteranceRecorder, peak: number, ms: number): boolean {
  let isOver = false;
  for (let at = 0; at < ms; at += 20) isOver = recorder.hear(frame(peak)) || isOver;
  return isOver;
}

/** The same for speech: every fourth frame is half as loud, as no steady noise is. */
function hearSpeech(recorder: UtteranceRecorder, peak: number, ms: number): boolean {
  let isOver = false;
  for (let at = 0; at < ms; at += 20) isOver = recorder.hear(frame(at % 80 < 60 ? peak : peak / 2)) || isOver;
  return isOver;
}

const msOf = (pcm: Int16Array) => pcm.length / 16;

describe('UtteranceRecorder', () => {
  it('keeps a little before the sound and after it, and ends at a pause', () => {
    const recorder = new UtteranceRecorder();
    expect(hear(recorder, 0, 2000)).toBe(false);
    expect(hearSpeech(recorder, 8000, 600)).toBe(false);
    expect(hear(recorder, 0, 480)).toBe(false);
    expect(recorder.isOpen).toBe(true);
    expect(hear(recorder, 0, 20)).toBe(true);
    const pcm = recorder.take();
    expect(msOf(pcm)).toBe(300 + 600 + 200);
    expect([pcm[0], pcm[300 * 16], pcm.at(-1)]).toEqual([0, 8000, 0]);
    expect(recorder.isOpen).toBe(false);
    expect(recorder.take()).toHaveLength(0);
  });

  it('says nothing of silence, of a click, or of steady noise', () => {
    const recorder = new UtteranceRecorder();
    expect(hear(recorder, 0, 5000)).toBe(false);
    expect(hearSpeech(recorder, 8000, 240) || hear(recorder, 0, 1000)).toBe(false);
    expect(recorder.peek()).toHaveLength(0);
    hear(recorder, 60, 20_000);
    expect(recorder.isOpen).toBe(false);
  });

  it.each([300, 3000, 12_000])('ends at a pause also in steady noise: %i', (noise) => {
    const recorder = new UtteranceRecorder();
    hear(recorder, noise, 5000);
    recorder.take();
    expect(hear(recorder, noise, 2000)).toBe(false);
    expect(hearSpeech(recorder, 2.5 * noise, 1000)).toBe(false);
    expect(hear(recorder, noise, 480)).toBe(false);
    expect(hear(recorder, noise, 20)).toBe(true);
    expect(msOf(recorder.take())).toBeLessThanOrEqual(300 + 1000 + 200);
  });

  it('adds what is said in short pieces up, and forgets a click after a pause', () => {
    const recorder = new UtteranceRecorder();
    hearSpeech(recorder, 8000, 140);
    hear(recorder, 0, 100);
    expect(recorder.isOpen).toBe(false);
    hearSpeech(recorder, 8000, 120);
    expect(recorder.isOpen).toBe(true);
    hear(recorder, 0, 500);
    recorder.take();
    hearSpeech(recorder, 8000, 140);
    hear(recorder, 0, 500);
    hearSpeech(recorder, 8000, 140);
    expect(recorder.isOpen).toBe(false);
  });

  it('gives nothing twice', () => {
    const recorder = new UtteranceRecorder();
    hearSpeech(recorder, 8000, 600);
    expect(msOf(recorder.peek())).toBe(600);
    expect(msOf(recorder.take())).toBe(600);
    hearSpeech(recorder, 4000, 400);
    const next = recorder.take();
    expect(msOf(next)).toBe(400);
    expect(next.includes(8000)).toBe(false);
  });

  it('ends what does not pause after a minute', () => {
    const recorder = new UtteranceRecorder();
    // Speech has gaps, which keep the noise of the line apart from it.
    const speak = (seconds: number) => {
      for (let at = 0; at < seconds; at += 1)
        if (hearSpeech(recorder, 8000, 800) || hear(recorder, 0, 200)) return true;
      return false;
    };
    expect(speak(59)).toBe(false);
    expect(speak(1)).toBe(true);
    expect(msOf(recorder.take())).toBe(60_000);
  });

  it('copies what it is given', () => {
    const recorder = new UtteranceRecorder();
    const one = frame(8000);
    for (let count = 0; count < 20; count += 1) recorder.hear(one);
    one.fill(1);
    expect(recorder.take().includes(1)).toBe(false);
  });
});
