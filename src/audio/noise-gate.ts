// What stands out of the noise of a line, by its level alone.

/** Below this level nothing is speech, in decibels of full scale. */
const GATE_DBFS = -45;

/** Speech stands out of the noise of the line by at least this much, in decibels. */
const ABOVE_FLOOR_DB = 10;

/** The floor follows a quieter frame at once and a louder one slowly: about 3 dB in a second. */
const FLOOR_RISE_DB = 0.06;

/** Where a noise floor is assumed before any frame was heard. Far enough below the gate not to narrow it. */
const FIRST_FLOOR_DBFS = -70;

/** One per line. Takes the levels of its 20 ms frames, in order. */
export class NoiseGate {
  #floorDbfs = FIRST_FLOOR_DBFS;

  /** True when a frame of this level is loud enough for speech. */
  isOpen(levelDbfs: number): boolean {
    return levelDbfs >= GATE_DBFS && levelDbfs >= this.#floorDbfs + ABOVE_FLOOR_DB;
  }

  /** Learns what the line sounds like. Of speech only what is quieter than the floor counts. */
  learn(levelDbfs: number, { isSpeech }: { isSpeech: boolean }): void {
    if (levelDbfs < this.#floorDbfs) this.#floorDbfs = levelDbfs;
    else if (!isSpeech) this.#floorDbfs = Math.min(levelDbfs, this.#floorDbfs + FLOOR_RISE_DB);
  }
}
