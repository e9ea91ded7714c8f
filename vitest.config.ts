import { defineConfig } from 'vitest/config';

// One PostgreSQL cluster (fsync off) serves every integration file; each file gets its own database
// cloned from a migrated template. Two cores, so two files at a time; e2e files, which start whole
// process trees and mostly wait for them, come after the others. Then the chaos run, which nothing may
// disturb but itself, and the files of the browser, which share a server, one after another.
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: ['{src,web/src,chaos}/**/*.test.ts', 'test/*.test.ts'],
          maxWorkers: 2,
          // Property tests take a second or two, and more on a machine that is busy.
          testTimeout: 30_000,
          // Pure code leaves nothing behind, so its files share a process and what they import.
          isolate: false,
        },
      },
      {
        test: {
          name: 'integration',
          include: ['test/integration/**/*.test.ts'],
          globalSetup: ['test/support/cluster.ts'],
          pool: 'forks',
          maxWorkers: 2,
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          exclude: ['test/e2e/chaos.test.ts'],
          globalSetup: ['test/support/cluster.ts'],
          pool: 'forks',
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
          testTimeout: 180_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'chaos',
          include: ['test/e2e/chaos.test.ts'],
          pool: 'forks',
          maxWorkers: 1,
          sequence: { groupOrder: 2 },
          testTimeout: 180_000,
        },
      },
      {
        test: {
          name: 'browser',
          include: ['test/browser/**/*.test.ts'],
          // One server with real jobs for all files; each file has a browser of its own.
          globalSetup: ['test/support/dashboard-server.ts'],
          pool: 'forks',
          maxWorkers: 1,
          fileParallelism: false,
          sequence: { groupOrder: 3 },
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
