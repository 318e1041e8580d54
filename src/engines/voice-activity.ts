// Is somebody speaking in this frame? The transcoder's voice detector behind a gate that follows the line's own noise.
import { frameSamples, PCM_16K } from '../audio/format.js';
import { energyDbfs, levelDbfs } from '../audio/level.js';
import type { HeardFrame } from './pipeline/hearing/heard-frame.js';
import { isKeyTone } from './pipeline/hearing/key-tone.js';
import { LineNoise } from '../audio/line-noise.js';
import { transcoder } from '../transcoder/select.js';

/** Tells speech from the rest, frame by frame. One per call. */
export interface VoiceActivity {
  /** How loud this 20 ms frame of 16 kHz PCM is, and whether it sounds like speech. The tone of a key does not. */
  hear(frame: Int16Array): HeardFrame;
  /** Frees the detector. Idempotent; every later frame is unvoiced. */
  close(): void;
}

const FRAME_SAMPLES = frameSamples(PCM_16K);

/** A detector of its own, to be closed by its owner. @throws TranscoderError when there is no room for it */
export function createVoiceActivity(): VoiceActivity {
  const detector = transcoder.createVoiceDetector();
  const noise = new LineNoise();
  let closed = false;
  return {
    hear(frame) {
      if (closed || frame.length !== FRAME_SAMPLES) return { voiced: false, dbfs: levelDbfs(frame) };
      // The detector learns from every frame, also from those behind the gate.
      const isSpeech = detector.hear(frame);
      const dbfs = energyDbfs(detector.energy, FRAME_SAMPLES);
      const isOpen = noise.isOpen(dbfs);
      noise.learn(dbfs);
      return { voiced: isOpen && isSpeech && !isKeyTone(frame), dbfs };
    },
    close() {
      closed = true;
      detector.free();
    },
  };
}
