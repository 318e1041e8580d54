// When a vendor stops a model.

export interface ModelRetirement {
  /** Last day on which the model answers, an ISO date. */
  readonly lastDay: string;
  /** What to take in its place, in the words that follow "take". */
  readonly instead: string;
}
