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
  'test/e2e/cluster-drain.test.ts',
  'test/e2e/cluster-dashboard.test.ts',
  'test/e2e/cluster.test.ts',
  'test/e2e/cluster-clocks.test.ts',
  'test/e2e/local-recording.test.ts',
  'test/e2e/cluster-recording.test.ts',
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

/** The group that is played first: its files are longest, and what is short fills the gaps that the last ones leave. */
const FIRST = 'virtual';

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    // A group stays together: a worker that gets a file of another one begins again, with nothing loaded.
    return sorted.sort((one, other) => groupOf(one) - groupOf(other) || placeOf(one) - placeOf(other));
  }
}

function groupOf({ project }: TestSpecification): number {
  const { name, config } = project;
  return 2 * config.sequence.groupOrder + (name === FIRST ? 0 : 1);
}

function placeOf({ moduleId }: TestSpecification): number {
  const place = LONGEST.findIndex((path) => moduleId.endsWith(path));
  return place === -1 ? LONGEST.length : place;
}
