// Names the tests that go on and on: where a run hangs, its log says in what.
import type { Reporter, TestCase } from 'vitest/node';

const LOOK_MS = 60_000;
const LONG_MS = 180_000;

export class SlowTests implements Reporter {
  /** Tests that run, and since when. */
  readonly #running = new Map<TestCase, number>();
  #timer: NodeJS.Timeout | undefined;

  onTestRunStart(): void {
    this.#timer ??= setInterval(() => this.#tell(), LOOK_MS).unref();
  }

  onTestCaseReady(test: TestCase): void {
    this.#running.set(test, performance.now());
  }

  onTestCaseResult(test: TestCase): void {
    this.#running.delete(test);
  }

  onTestRunEnd(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#running.clear();
  }

  #tell(): void {
    const now = performance.now();
    for (const [test, startedAt] of this.#running) {
      const seconds = Math.round((now - startedAt) / 1000);
      if (seconds * 1000 >= LONG_MS)
        console.log(`has run for ${seconds} s: ${test.module.relativeModuleId} > ${test.fullName}`);
    }
  }
}
