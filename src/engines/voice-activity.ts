// Is somebody speaking in this frame? The WebRTC detector behind an energy gate that follows the line's own noise.
import { frameSamples, PCM_16K } from '../audio/format.js';
import { isKeyTone } from './key-tone.js';
import { loadVoiceDetector } from './webrtc-vad.js';

/** Tells speech from the rest, frame by frame. One per call. */
export interface VoiceActivity {
  /** True when this 20 ms frame of 16 kHz PCM, whose level is `dbfs`, sounds like speech. The tone of a key does not. */
  isVoiced(frame: Int16Array, dbfs: number): boolean;
  /** Frees the detector. Idempotent; every later frame is unvoiced. */
  close(): void;
}

/** The most aggressive of the detector's modes: it alone keeps quiet on loud white noise. */
const MODE = 3;

/** Below this level nothing is speech, in decibels of full scale. */
const GATE_DBFS = -45;

/** Speech stands out of the noise of the line by at least this much, in decibels. */
const ABOVE_FLOOR_DB = 10;

/** The floor follows a quieter frame at once and a louder one slowly: about 3 dB in a second. */
const FLOOR_RISE_DB = 0.06;

/** Where a noise floor is assumed before any frame was heard. Far enough below the gate not to narrow it. */
const FIRST_FLOOR_DBFS = -70;

const FRAME_SAMPLES = frameSamples(PCM_16K);
const detector = await loadVoiceDetector();

/** A detector of its own, to be closed by its owner. */
export function createVoiceActivity(): VoiceActivity {
  const handle = detector.open(PCM_16K.sampleRateHz, MODE, FRAME_SAMPLES);
  let floorDbfs = FIRST_FLOOR_DBFS;
  let closed = false;
  return {
    isVoiced(frame, dbfs) {
      if (closed || frame.length !== FRAME_SAMPLES) return false;
      // The detector learns from every frame, also from those behind the gate.
      const voiced = handle.process(frame);
      const open = dbfs >= GATE_DBFS && dbfs >= floorDbfs + ABOVE_FLOOR_DB;
      if (dbfs < floorDbfs) floorDbfs = dbfs;
      else if (!(open && voiced)) floorDbfs = Math.min(dbfs, floorDbfs + FLOOR_RISE_DB);
      return open && voiced && !isKeyTone(frame);
    },
    close() {
      if (closed) return;
      closed = true;
      handle.close();
    },
  };
}
