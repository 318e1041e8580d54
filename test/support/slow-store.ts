// A store whose answers take a while.
import { MemoryStore } from '../../src/stores/memory-store.js';

/** Reads each part of a snapshot some turns of the event loop late. */
export class SlowStore extends MemoryStore {
  readonly #delays: readonly number[];

  constructor(delays: readonly number[]) {
    super();
    this.#delays = delays;
  }

  override async active() {
    await this.#wait(0);
    return super.active();
  }
  override async list(query: Parameters<MemoryStore['list']>[0]) {
    await this.#wait(1);
    return super.list(query);
  }
  override async aggregates() {
    await this.#wait(2);
    return super.aggregates();
  }

  async #wait(part: number): Promise<void> {
    for (let turn = 0; turn < (this.#delays[part] ?? 0); turn += 1)
      await new Promise((resolve) => setImmediate(resolve));
  }
}
