import { defineConfig } from 'vitest/config';

// One PostgreSQL cluster (fsync off) serves every integration file; each file gets its own database
// cloned from a migrated template. Two cores, so two forks at most; e2e files run one after another
// because each of them starts whole process trees.
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
          globalSetup: ['test/support/cluster.ts'],
          pool: 'forks',
          maxWorkers: 1,
          fileParallelism: false,
          testTimeout: 180_000,
          hookTimeout: 60_000,
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
          sequence: { groupOrder: 1 },
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
