// What happens to a call until it has ended, and what it has ended as then.
import { describe, expect, it } from 'vitest';
import type { CallOutcome, EndReason } from '../../src/contract/call-record.js';
import { matching, Scene, type SceneKind } from './scene.js';

/** What a carrier is asked to say when an engine is broken, behind its language. */
export const SORRY = 'en-US I am sorry, something went wrong. Please call again later.';

export interface Scenario {
  name: string;
  only?: Partial<SceneKind>;
  play(scene: Scene): unknown;
  endReason: EndReason;
  outcome: CallOutcome;
  /** Requests after the call was up, or all of a call that never was. `ID` stands for the carrier's id. */
  requests?: (kind: SceneKind) => string[];
}

/** Plays each scenario with every call that it is of. */
export function play(scenarios: readonly Scenario[]): void {
  describe.each(scenarios)('when $name', (scenario) => {
    it.each(matching(scenario))('an $direction call, $steering, has one end', async (kind) => {
      const scene = new Scene(kind);
      await scenario.play(scene);
      const record = await scene.expectEnd();
      expect([record.endReason, record.outcome]).toEqual([scenario.endReason, scenario.outcome]);
      if (scenario.requests === undefined) return;
      const requests = scenario.requests(kind).map((line) => line.replace('ID', scene.carrierCallId));
      expect(scene.bench.rest.requests).toEqual(requests);
    });
  });
}
