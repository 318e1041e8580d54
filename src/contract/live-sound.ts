// The sound of a call that is up, for whoever listens in to it.

/** Why there is no more of it: the call is over, another process has it, or it could not be made. */
export type SoundEnd = 'call-ended' | 'moved' | 'failed';

/** Where it goes. */
export interface SoundSink {
  /** The next bytes of a WAV file without an end: 16 kHz, 16-bit PCM, the caller left, the agent right. They may be kept, and must not be changed. */
  write(bytes: Uint8Array): void;
  /** Nothing more comes. Once, and not after `leave`. */
  end(reason: SoundEnd): void;
}

/** Somebody who listens in. */
export interface LiveListening {
  /** How much later than it was said everything is written. */
  readonly delayMs: number;
  /** Ends it. Idempotent. */
  leave(): void;
}

/** What a server offers to listeners: of its own calls, and of those of its cluster. */
export interface LiveSound {
  /**
   * Gives `sink` what caller and agent hear from now on, in real time; never in the tick of this call, nor in that in which it resolves. Undefined for a call that is not found.
   * @throws RequestError for a call that is over, or has no sound yet, LimitError, ClusterError
   */
  listen(callId: string, sink: SoundSink): LiveListening | undefined | Promise<LiveListening | undefined>;
}
