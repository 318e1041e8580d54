// The order of test files: those that take longest begin first, so that no worker is left alone with one of them in the end.
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The files that take longer than half a minute, longest first. */
export const LONGEST: readonly string[] = [
  // On the processors.
  'test/e2e/provider-trouble/fallbacks.test.ts',
  'test/e2e/provider-trouble/drops.test.ts',
  'test/e2e/provider-trouble/nonsense.test.ts',
  'test/e2e/provider-trouble/outages.test.ts',
  // In real time.
  'test/e2e/voice-modes/carrier-a.test.ts',
  'test/e2e/voice-modes/carrier-b.test.ts',
  'test/e2e/realtime.test.ts',
  'test/e2e/provider-trouble/carrier-a-realtime-drops.test.ts',
  'test/e2e/provider-trouble/carrier-b-fallbacks.test.ts',
  'test/e2e/provider-trouble/carrier-a-fallbacks.test.ts',
  'test/e2e/provider-trouble/carrier-b-realtime-drops.test.ts',
  'test/e2e/tools.test.ts',
  'test/e2e/fallback.test.ts',
  'test/e2e/observability.test.ts',
  'test/e2e/provider-trouble/carrier-a.test.ts',
  'test/e2e/provider-trouble/carrier-b.test.ts',
  'test/e2e/scripts.test.ts',
  'test/e2e/provider-trouble/carrier-a-outages.test.ts',
  'test/e2e/carrier-trouble.test.ts',
  'test/e2e/provocations.test.ts',
  'test/e2e/provider-trouble/carrier-b-outages.test.ts',
  'test/e2e/provider-trouble/carrier-a-drops.test.ts',
  'test/e2e/provider-trouble/carrier-b-drops.test.ts',
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
