/**
 * What `npm test` leaves to `npm run test:all`. A file belongs here when it takes more than about
 * ten seconds on two idle cores; the reason says what makes it slow.
 */
export const COMPLETE_ONLY: Record<string, string> = {
  'test/integration/worker/in-process.test.ts': 'starts several kinds of processes',
  'test/integration/worker/shards.test.ts': 'breaks each shard and waits for the others',
  'test/integration/limits/pause-hammer.test.ts': 'many pauses at once',
  'test/integration/store/claim-hammer.test.ts': 'hundreds of claims under forced plans',
  'test/integration/docs/docs-commands.test.ts': 'runs every command of the docs',
  'test/integration/docs/docs-scripts.test.ts': 'runs every script of the docs',
  'test/integration/docs/doctor.test.ts': 'starts the program for each check',
  'test/integration/docs/embedded-postgres.test.ts': 'creates clusters',
  'test/integration/limits/fairness.test.ts': 'statistics over many claims',
  'test/integration/store/find-jobs.test.ts': 'compares many filters page by page',
  'test/integration/limits/limits-hammer.test.ts': 'many claims at once',
  'test/integration/store/model.test.ts': 'random steps on both versions of PostgreSQL',
  'test/integration/database/pooler.test.ts': 'the store suite through PgBouncer',
  'test/integration/worker/redis-liveness.test.ts': 'waits for leases to end',
  'test/integration/worker/redis-server.test.ts': 'starts whole servers',
  'test/integration/races/retention.test.ts': 'thousands of old jobs',
  'test/integration/races/retention-races.test.ts': 'thousands of jobs for each race',
  'test/integration/runners/runners-memory.test.ts': 'fills memory',
  'test/integration/docs/testing.test.ts': 'runs the tests of a user',
  'test/integration/worker/tracing.test.ts': 'starts several kinds of runners',
};

/** Of the tests with whole processes and a browser, `npm test` runs these only. */
export const QUICK_END_TO_END = [
  'test/e2e/start.test.ts',
  'test/e2e/cli.test.ts',
  'test/browser/overview.test.ts',
  'test/browser/first-key.test.ts',
];
