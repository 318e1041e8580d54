// A frame of the caller, as far as others must know it than those who listen to the sound itself.

/** Found out once for each frame. */
export interface HeardFrame {
  /** It sounds like speech. */
  readonly voiced: boolean;
  /** Its level, in decibels of full scale. */
  readonly dbfs: number;
}
