import { defineConfig, type TestProjectConfiguration } from 'vitest/config';
import { hasCitus } from './test/support/checks/extras.ts';
import { repeatedByAll, UNIT_FILES } from './test/support/checks/quick-suite.ts';

export interface Selection {
  /** Files that this run leaves out. */
  exclude?: string[];
  /** Of the files that start whole processes or a browser, only these; undefined: all of them. */
  endToEnd?: string[];
  /** Whether tests also run on the oldest PostgreSQL that we support, where it is installed. */
  oldestPostgres?: boolean;
  /** Whether tests of the store also run on Citus, where it is installed. */
  onCitus?: boolean;
}

/**
 * What also runs on Citus so far. TEST_CITUS=all: every file of the store and of races, also those
 * that do not pass there yet.
 */
const CITUS_FILES =
  process.env['TEST_CITUS'] === 'all'
    ? ['test/integration/store/*.test.ts', 'test/integration/races/*.test.ts']
    : ['events', 'expiry', 'lifecycle', 'retry', 'store'].map(
        (name) => `test/integration/store/${name}.test.ts`,
      );

const CHAOS = 'test/e2e/chaos.test.ts';
const BUILT = 'test/support/files/build-first.ts';

/**
 * One PostgreSQL cluster (fsync off) serves every integration file; each file gets its own database,
 * cloned from a migrated template. Two cores, so two files at a time. Files in `e2e` start whole
 * process trees and mostly wait for them, so they run after the others. The chaos run comes next,
 * alone. Browser files share one server and run one after another.
 */
export function projects({
  exclude = [],
  endToEnd,
  oldestPostgres = true,
  onCitus = true,
}: Selection = {}): TestProjectConfiguration[] {
  const only = (folder: string, all: string) =>
    endToEnd?.filter((file) => file.startsWith(folder)) ?? [all];
  return [
    {
      test: {
        name: 'unit',
        include: UNIT_FILES,
        exclude,
        globalSetup: [BUILT],
        maxWorkers: 2,
        // Property tests take a second or two, and more on a busy machine.
        testTimeout: 60_000,
        // Pure code leaves nothing behind, so its files share a process and what they import.
        isolate: false,
      },
    },
    {
      test: {
        name: 'integration',
        include: ['test/integration/**/*.test.ts'],
        exclude,
        globalSetup: [BUILT, 'test/support/servers/cluster.ts'],
        provide: { oldestPostgres },
        pool: 'forks',
        maxWorkers: 2,
        testTimeout: 120_000,
        hookTimeout: 120_000,
      },
    },
    {
      test: {
        name: 'citus',
        include: onCitus && hasCitus() ? CITUS_FILES : [],
        globalSetup: [BUILT, 'test/support/servers/citus/project.ts'],
        provide: { oldestPostgres: false },
        pool: 'forks',
        maxWorkers: 2,
        sequence: { groupOrder: 1 },
        testTimeout: 240_000,
        hookTimeout: 240_000,
      },
    },
    {
      test: {
        name: 'e2e',
        include: only('test/e2e/', 'test/e2e/**/*.test.ts'),
        exclude: [...exclude, CHAOS],
        globalSetup: [BUILT, 'test/support/servers/cluster.ts'],
        provide: { oldestPostgres: false },
        pool: 'forks',
        maxWorkers: 2,
        sequence: { groupOrder: 1 },
        testTimeout: 240_000,
        hookTimeout: 120_000,
      },
    },
    {
      test: {
        name: 'chaos',
        globalSetup: [BUILT],
        include: endToEnd ? [] : [CHAOS],
        pool: 'forks',
        maxWorkers: 1,
        sequence: { groupOrder: 2 },
        testTimeout: 240_000,
      },
    },
    {
      test: {
        name: 'browser',
        include: only('test/browser/', 'test/browser/**/*.test.ts'),
        exclude,
        // One server with real jobs for all files; each file has a browser of its own.
        globalSetup: [BUILT, 'test/support/servers/dashboard-server.ts'],
        pool: 'forks',
        maxWorkers: 1,
        fileParallelism: false,
        // For tests that only read.
        maxConcurrency: 2,
        sequence: { groupOrder: 3 },
        testTimeout: 180_000,
        hookTimeout: 180_000,
      },
    },
  ];
}

// `.ci/run` sets the variable: it has just run `npm test`.
const exclude = process.env['TEST_AFTER'] === 'quick' ? repeatedByAll() : [];

export default defineConfig({ test: { projects: projects({ exclude }) } });
