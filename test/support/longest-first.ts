// The order of test files: those that take longest begin first, so that no worker is left alone with one of them in the end.
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The files that take longer than half a minute where everything is played, longest first. */
export const LONGEST: readonly string[] = [
  // On the processors.
  'test/e2e/provider-trouble/fallbacks.test.ts',
  'test/e2e/provider-trouble/drops.test.ts',
  'test/e2e/provider-trouble/realtime-drops.test.ts',
  'test/e2e/provider-trouble/nonsense.test.ts',
  'test/e2e/provider-trouble/outages.test.ts',
  'test/e2e/provider-trouble/carrier-drops.test.ts',
  'test/e2e/provider-trouble/carrier-outages.test.ts',
  'test/e2e/provider-trouble/carrier-voice-modes.test.ts',
  'test/e2e/provider-trouble/carrier-fallbacks.test.ts',
  'test/e2e/provider-trouble/carrier-inbound.test.ts',
  'test/e2e/provider-trouble/carrier-realtime-drops.test.ts',
  'test/e2e/provider-trouble/carrier-shared-vendors.test.ts',
  // In real time.
  'test/client/handover/trouble.deep.test.ts',
  'test/e2e/realtime.test.ts',
  'test/e2e/tools.test.ts',
  'test/e2e/fallback.test.ts',
  'test/e2e/observability.test.ts',
  'test/e2e/scripts.test.ts',
  'test/e2e/carrier-trouble.test.ts',
  'test/e2e/provocations.test.ts',
  'test/carriers/carrier-a/conformance.test.ts',
  'test/e2e/monologue.test.ts',
  'test/e2e/budget.test.ts',
  'test/e2e/conversation.test.ts',
  'test/e2e/carriers.test.ts',
  'test/carriers/carrier-b/conformance.test.ts',
];

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.sort((one, other) => placeOf(one) - placeOf(other));
  }
}

function placeOf({ moduleId }: TestSpecification): number {
  const place = LONGEST.findIndex((path) => moduleId.endsWith(path));
  return place === -1 ? LONGEST.length : place;
}
