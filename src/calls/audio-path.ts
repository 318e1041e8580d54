// The audio of one call: wire bytes to whole house frames one way, the pacer the other. Knows nothing of messages and facts.
import { createInboundConverter, createOutboundConverter } from '../audio/converter.js';
import { type AudioFormat, frameSamples, PCM_16K } from '../audio/format.js';
import { Framer } from '../audio/framer.js';
import { Pacer, type PlaybackSink } from '../audio/pacer.js';
import type { Clock } from '../base/clock.js';
import type { TranscoderBackend } from '../transcoder/backend.js';

export interface AudioPath {
  readonly playout: Pacer;
  /** Encoded audio of the caller, any length. */
  receive(payload: Uint8Array): void;
  /** Frees the converters. Idempotent. */
  close(): void;
}

/** `onFrame` gets 20 ms frames in the house format, valid until it returns. @throws TranscoderError for a rate that is not offered. */
export function openAudioPath(options: {
  format: AudioFormat;
  backend: TranscoderBackend;
  clock: Clock;
  sink: PlaybackSink;
  onFrame(frame: Int16Array): void;
}): AudioPath {
  const { format, backend, clock, sink } = options;
  const inbound = createInboundConverter(format, backend);
  const framer = new Framer(frameSamples(PCM_16K), options.onFrame);
  const playout = new Pacer({ converter: createOutboundConverter(format, backend), sink, clock });
  return {
    playout,
    receive: (payload) => framer.push(inbound.convert(payload)),
    close() {
      playout.close();
      inbound.close();
    },
  };
}
