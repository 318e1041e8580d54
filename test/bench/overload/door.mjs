// The door of a server under load: what it answers about itself, asked some times a second.
import { pause } from '../../trials/world.mjs';

const EVERY_MS = 250;
const TIMEOUT_MS = 10_000;

/** @typedef {{ at: number, status: number, tookMs: number, overloaded: number }} Answer `overloaded` is the metric, -1 where there was none */

export class DoorLog {
  /** @type {Answer[]} */
  answers = [];
  #url;
  #isOver = false;
  #asking;

  /** @param {string} url */
  constructor(url) {
    this.#url = url;
    this.#asking = this.#keepAsking();
  }

  /** Resolves with true when `isThere` of the newest answer and the one before, else after `withinMs`. @param {(answers: [Answer, Answer | undefined]) => boolean} isThere @param {number} withinMs */
  async until(isThere, withinMs) {
    const deadline = Date.now() + withinMs;
    for (;;) {
      const last = this.answers.at(-1);
      if (last !== undefined && isThere([last, this.answers.at(-2)])) return true;
      if (Date.now() > deadline) return false;
      await pause(50);
    }
  }

  async end() {
    this.#isOver = true;
    await this.#asking;
  }

  async #keepAsking() {
    while (!this.#isOver) {
      const at = Date.now();
      const started = performance.now();
      const status = await this.#get('/ready').then(
        (response) => response.status,
        () => 0,
      );
      const tookMs = performance.now() - started;
      const metrics = await this.#get('/metrics').then(
        (response) => response.text(),
        () => '',
      );
      const overloaded = Number(/^offhook_overloaded (\d)$/m.exec(metrics)?.[1] ?? -1);
      this.answers.push({ at, status, tookMs, overloaded });
      await pause(EVERY_MS);
    }
  }

  /** @param {string} path */
  #get(path) {
    return fetch(`${this.#url}${path}`, { signal: AbortSignal.timeout(TIMEOUT_MS) });
  }
}
