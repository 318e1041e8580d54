// Work on a disk, one piece after the other. A process has four threads for disks, host names and compression: a disk that stands still holds one
// of them, however much is to be written, and leaves the others to the calls.

export class DiskLane {
  #last: Promise<unknown> = Promise.resolve();

  /** Begins when everything before is done. Settles as `task` does. */
  run<T>(task: () => Promise<T>): Promise<T> {
    const done = this.#last.then(task);
    this.#last = done.catch(() => {});
    return done;
  }
}

/** What is kept of calls in the data folder. */
export const dataLane = new DiskLane();
/** Recordings: what is written during calls, and what is looked for and read behind them. */
export const recordingLane = new DiskLane();
