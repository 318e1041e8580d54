// What a session tells before there is an engine: kept in order, and told when there is one.

/** Something that was told. `usage`: it is what was used, which counts whatever becomes of the session. */
export interface HeldReport<Events, Usage> {
  readonly usage?: Usage;
  tell(events: Events): void;
}

/** Far more than the session of a call that rings has to tell. */
const MAX_HELD = 1000;

export class HeldReports<Events, Usage> {
  #held: HeldReport<Events, Usage>[] = [];
  #events: Events | undefined;

  /** Who hears what is told; undefined before there is an engine. */
  get events(): Events | undefined {
    return this.#events;
  }

  add(report: HeldReport<Events, Usage>): void {
    if (this.#events !== undefined) report.tell(this.#events);
    else if (this.#held.length < MAX_HELD) this.#held.push(report);
  }

  /** Tells `events` everything that was held, and what comes from now on. */
  release(events: Events): void {
    this.#events = events;
    for (const report of this.#held.splice(0)) report.tell(events);
  }

  /** The session was in vain: tells `events` what it has used, and nothing else of it. */
  settle(events: Events): void {
    this.#held = this.#held.filter(({ usage }) => usage !== undefined);
    this.release(events);
  }

  /** What was used and told to nobody. */
  takeUsage(): Usage[] {
    return this.#held.splice(0).flatMap(({ usage }) => (usage === undefined ? [] : [usage]));
  }
}
