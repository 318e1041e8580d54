// A pacer between a test and a carrier's player, on a clock that the test moves.
import { createOutboundConverter } from '../../src/audio/converter.js';
import { type AudioFormat, FRAME_MS, frameBytes, PCM_16K } from '../../src/audio/format.js';
import { Pacer, type PlaybackListener } from '../../src/audio/pacer.js';
import { type Meters, silentMeters } from '../../src/base/meters.js';
import { loadTranscoder } from '../../src/transcoder/select.js';
import { CarrierPlayer } from '../support/carrier-player.js';
import { FakeClock } from '../support/fake-clock.js';

export const backend = loadTranscoder('javascript');

/** Samples in one millisecond of house audio. */
export const PER_MS = 16;

export interface PacerRigOptions {
  /** What the carrier takes. @default PCM of 16 kHz, whose bytes are the samples that were pushed */
  format?: AudioFormat;
  leadMs?: number;
  /** Time that an echoed mark is on its way. */
  delayMs?: number;
  /** False for a carrier that echoes no mark. */
  marks?: boolean;
  listener?: PlaybackListener;
  meters?: Partial<Meters>;
}

export function setUp(options: PacerRigOptions = {}) {
  const { format = PCM_16K, leadMs = 200, delayMs = 0, marks = true, listener, meters } = options;
  const clock = new FakeClock();
  const echoed: string[] = [];
  const player = new CarrierPlayer({
    clock,
    bytesPerMs: frameBytes(format) / FRAME_MS,
    delayMs,
    onMark: (name) => {
      if (marks && pacer.markEchoed(name)) echoed.push(name);
    },
  });
  const converter = createOutboundConverter(format, backend);
  const pacer: Pacer = new Pacer({
    converter,
    sink: player,
    clock,
    leadMs,
    listener,
    meters: { ...silentMeters, ...meters },
  });
  return { clock, player, pacer, echoed, converter };
}

/** What a pacer tells its meters. */
export function createMeters() {
  const late: number[] = [];
  let queuedMs = 0;
  return {
    late,
    queuedMs: () => queuedMs,
    meters: {
      frameSent: (lateMs: number) => void late.push(lateMs),
      queued: (deltaMs: number) => {
        queuedMs += deltaMs;
      },
    },
  };
}

/** Audio that is nowhere silent, so that padding shows. */
export function ramp(samples: number, from = 0): Int16Array {
  return Int16Array.from({ length: samples }, (_, index) => ((from + index) % 30_000) + 1);
}

export const ms = (duration: number) => ramp(duration * PER_MS);
