// Is somebody speaking in this frame? The WebRTC detector behind a gate that follows the line's own noise.
import { frameSamples, PCM_16K } from '../audio/format.js';
import { isKeyTone } from './pipeline/hearing/key-tone.js';
import { LineNoise } from '../audio/line-noise.js';
import { loadVoiceDetector, type VoiceDetector } from './webrtc-vad.js';

/** Tells speech from the rest, frame by frame. One per call. */
export interface VoiceActivity {
  /** True when this 20 ms frame of 16 kHz PCM, whose level is `dbfs`, sounds like speech. The tone of a key does not. */
  isVoiced(frame: Int16Array, dbfs: number): boolean;
  /** Frees the detector. Idempotent; every later frame is unvoiced. */
  close(): void;
}

/** The most aggressive of the detector's modes: it alone keeps quiet on loud white noise. */
const MODE = 3;

const FRAME_SAMPLES = frameSamples(PCM_16K);
let detector: VoiceDetector | undefined;

/**
 * Readies the process for `createVoiceActivity`, once and before the first call. Not awaited at the top of this module: a module that
 * waits cannot be taken by `require`, nor can the package.
 */
export async function loadVoiceActivity(): Promise<void> {
  detector ??= await loadVoiceDetector();
}

/** A detector of its own, to be closed by its owner. @throws when nobody has loaded what it is made of */
export function createVoiceActivity(): VoiceActivity {
  if (detector === undefined) throw new Error('loadVoiceActivity() comes first.');
  const handle = detector.open(PCM_16K.sampleRateHz, MODE, FRAME_SAMPLES);
  const noise = new LineNoise();
  let closed = false;
  return {
    isVoiced(frame, dbfs) {
      if (closed || frame.length !== FRAME_SAMPLES) return false;
      // The detector learns from every frame, also from those behind the gate.
      const voiced = handle.process(frame);
      const open = noise.isOpen(dbfs);
      noise.learn(dbfs);
      return open && voiced && !isKeyTone(frame);
    },
    close() {
      if (closed) return;
      closed = true;
      handle.close();
    },
  };
}
