import { defineConfig, type Plugin, type TestProjectInlineConfiguration } from 'vitest/config';
import { common, root } from './support/common-config.js';
import { LongestFirst } from './support/longest-first.js';

/**
 * Files that mostly wait: whole calls in real time, and what gives up or tries again after seconds. Calls whose clock goes as fast as the
 * processor does, like those of provider-trouble without a carrier, are not among them.
 */
const WAITING = [
  'test/e2e/*.test.ts',
  'test/e2e/voice-modes/*.test.ts',
  'test/e2e/provider-trouble/carrier-*.test.ts',
  'test/carriers/*/conformance.test.ts',
  'test/client/forwarding.test.ts',
  'test/providers/whole-call.test.ts',
  'test/testing/carrier-b/{inbound,outbound}.test.ts',
  'test/testing/conformance/*.test.ts',
];

interface Group {
  readonly name: string;
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  readonly maxWorkers: number;
  readonly order: number;
}

function group({ name, include, exclude, maxWorkers, order }: Group): TestProjectInlineConfiguration {
  const plugins = [...common.plugins, besideCommandLine(order)];
  const files = { include: [...include], exclude: ['node_modules/**', ...exclude] };
  return { ...common, plugins, test: { ...common.test, ...files, name, maxWorkers } };
}

/** Vitest does not tell groups of `--exclude` and `--maxWorkers`, and has `--sequence` replace their order. */
function besideCommandLine(order: number): Plugin {
  return {
    name: 'beside-command-line',
    configureVitest({ vitest, project }) {
      const { cliExclude = [], maxWorkers } = vitest.config;
      project.config.exclude.push(...cliExclude);
      // Only the command line sets it there.
      if (maxWorkers) project.config.maxWorkers = maxWorkers;
      project.config.sequence.groupOrder = order;
    },
  };
}

// One group after the other: calls in real time would be late beside files that keep the processors busy. Those that wait leave them idle,
// so that more of them than there are processors go side by side.
export default defineConfig({
  root,
  test: {
    sequence: { sequencer: LongestFirst },
    projects: [
      group({
        name: 'working',
        include: ['test/**/*.test.ts'],
        exclude: [...WAITING, 'test/conformance/**', 'test/live/**'],
        maxWorkers: 2,
        order: 1,
      }),
      group({ name: 'waiting', include: WAITING, exclude: [], maxWorkers: 4, order: 2 }),
    ],
  },
});
