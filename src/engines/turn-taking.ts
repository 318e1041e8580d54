// What decides about the turns, in numbers. The options that set them document them.

export interface TurnTakingSettings {
  readonly silenceMs: number;
  readonly silenceAfterSentenceMs: number;
  readonly silenceAfterOpenEndMs: number;
  /** Ends a turn whatever its text says, and also when no frames arrive. */
  readonly maxSilenceMs: number;
  readonly interruptAfterMs: number;
  readonly interruptAfterWords: number;
  readonly carefulMs: number;
  readonly interruptibleGreeting: boolean;
  readonly resumeAfterMs: number;
  readonly echoGuard: boolean;
  readonly keysInterrupt: boolean;
  readonly keyPauseMs: number;
  readonly fillers: readonly string[];
  readonly fillerAfterMs: number;
}

/** Source of the silences: what published voice agents use; people pause about 200 ms between turns. */
export const DEFAULT_TURN_TAKING: TurnTakingSettings = {
  silenceMs: 500,
  silenceAfterSentenceMs: 300,
  silenceAfterOpenEndMs: 1200,
  maxSilenceMs: 3000,
  interruptAfterMs: 500,
  interruptAfterWords: 2,
  carefulMs: 3000,
  interruptibleGreeting: true,
  resumeAfterMs: 2000,
  echoGuard: true,
  keysInterrupt: true,
  keyPauseMs: 1500,
  fillers: [],
  fillerAfterMs: 1200,
};

/** What an agent does about a caller who says nothing. */
export interface IdleSettings {
  readonly afterMs: number;
  readonly prompts: readonly string[];
  readonly goodbye: string;
}
