import { defineConfig, type Plugin, type TestProjectInlineConfiguration } from 'vitest/config';
import { common, root } from './support/common-config.js';
import { isDeep } from './support/depth.js';
import { virtualTime } from './support/virtual/plugin.js';
import { LongestFirst } from './support/longest-first.js';
import { SlowTests } from './support/slow-tests.js';

/** Whole calls, and what else plays for minutes, on a clock that moves by itself and a network in memory: nobody waits for them. With
 * `TEST_CLOCK=real` they take their time. */
const VIRTUAL = [
  'test/e2e/**/*.test.ts',
  'test/carriers/*/conformance.test.ts',
  'test/providers/whole-call.test.ts',
  'test/support/virtual/*.test.ts',
  'test/testing/carrier-b/{inbound,outbound}.test.ts',
  'test/testing/conformance/*.test.ts',
  'test/client/nothing-left.test.ts',
  'test/client/{live-calls,own-store}.test.ts',
  'test/cli/{servers,program}.test.ts',
  'test/examples/{agent-tests,calls,vendors}.test.ts',
  'test/cli/init/project.test.ts',
  'test/testing/simulate-call.test.ts',
];

/** What needs the real clock, the network of the machine, or processes of its own. */
const REAL = [
  'test/e2e/{real-time,standalone-dashboard}.test.ts',
  'test/client/signals.test.ts',
  'test/client/handover/*.test.ts',
  'test/**/*.deep.test.ts',
];

/** Processes that die and are started again, browsers, proxies, databases: they wait for most of their minutes, and are left to `npm run test:deep`. */
const LEFT_OUT = isDeep ? [] : ['test/**/*.deep.test.ts'];

/** Providers against emulated vendors, and who else asks when the network is quiet: on the one in memory, with clocks of their own. */
const PROVIDERS = [
  'test/providers/**/*.test.ts',
  'test/testing/{carrier-a,carrier-b,emulators}/*.test.ts',
  'test/base/request-body.test.ts',
  'test/dashboard/export.test.ts',
];

/** Calls on engines, all of which are told by one sample of a frame who speaks. */
const ENGINES = ['test/engines/**/*.test.ts'];

/**
 * Files that need a process of their own. All others share one with those before them, and the modules that these have loaded, which saves
 * half of the work: they leave environment, prototypes and modules as they found them.
 */
const APART = [
  // They mock modules.
  'test/base/public-address.test.ts',
  'test/engines/responder/operator-endpoint.test.ts',
  // They listen to what engines really take for speech.
  'test/engines/{heard-sound,voice-activity}.test.ts',
  // They count what is loaded, opened or kept.
  'test/linear-work.test.ts',
  'test/calls/ending/ended-call.test.ts',
];

/** Tests of providers and engines once more, on a clock whose timers ring early: nothing beside them may share it. */
const EARLY = ['test/{base,engines}/early-timers.test.ts'];

/** How whole calls are run. */
const IN_MEMORY =
  process.env.TEST_CLOCK === 'real'
    ? {}
    : { setupFiles: ['test/support/virtual/setup.ts'], plugins: [virtualTime(root)], isolate: false };

interface Group {
  readonly name: string;
  readonly include: readonly string[];
  readonly setupFiles?: readonly string[];
  readonly plugins?: readonly Plugin[];
  /** Whether each file gets modules of its own. @default true */
  readonly isolate?: boolean;
  readonly exclude: readonly string[];
  readonly maxWorkers: number;
  readonly order: number;
}

function group({
  name,
  include,
  exclude,
  setupFiles = [],
  plugins = [],
  isolate = true,
  maxWorkers,
  order,
}: Group): TestProjectInlineConfiguration {
  const setUp = [...setupFiles, 'test/support/same-cases.ts'];
  const files = { include: [...include], exclude: ['node_modules/**', ...exclude] };
  return {
    ...common,
    plugins: [...common.plugins, ...plugins, besideCommandLine(order)],
    test: { ...common.test, ...files, setupFiles: setUp, name, maxWorkers, isolate },
  };
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

/**
 * Three workers keep two processors busy, since files also wait: for a browser, a compiler, a program. What is real comes last: it waits most of its time,
 * and must not wait for a processor.
 */
export default defineConfig({
  root,
  test: {
    sequence: { sequencer: LongestFirst },
    reporters: ['default', new SlowTests()],
    // Whole servers that speak: more of them at a time leave none a processor.
    maxConcurrency: 3,
    projects: [
      group({ name: 'virtual', include: VIRTUAL, exclude: REAL, ...IN_MEMORY, maxWorkers: 3, order: 1 }),
      group({
        name: 'units',
        include: ['test/**/*.test.ts'],
        exclude: [
          ...VIRTUAL,
          ...REAL,
          ...APART,
          ...EARLY,
          ...PROVIDERS,
          ...ENGINES,
          'test/{clients/python,conformance,live}/**',
        ],
        isolate: false,
        maxWorkers: 3,
        order: 1,
      }),
      group({
        name: 'providers',
        include: PROVIDERS,
        exclude: [...VIRTUAL, ...APART],
        setupFiles: ['test/support/virtual/setup.ts'],
        isolate: false,
        maxWorkers: 3,
        order: 1,
      }),
      group({
        name: 'engines',
        include: ENGINES,
        exclude: [...APART, ...EARLY],
        setupFiles: ['test/support/virtual/setup.ts', 'test/engines/frames-with-sound.ts'],
        isolate: false,
        maxWorkers: 3,
        order: 1,
      }),
      group({
        name: 'early',
        include: EARLY,
        exclude: [],
        setupFiles: ['test/support/virtual/setup.ts'],
        maxWorkers: 3,
        order: 1,
      }),
      group({ name: 'apart', include: APART, exclude: [], maxWorkers: 3, order: 1 }),
      group({
        name: 'real',
        include: REAL,
        exclude: LEFT_OUT,
        setupFiles: ['test/support/room-for-calls.ts'],
        maxWorkers: 3,
        order: 2,
      }),
    ],
  },
});
