// When a vendor stops a model.

export interface ModelRetirement {
  /** The last day on which the vendor offers the model, as an ISO date. */
  readonly lastDay: string;
  /** What to take in its place, in the words that follow "take". */
  readonly instead: string;
}
