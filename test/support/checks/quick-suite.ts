import { globSync, readFileSync } from 'node:fs';

export const UNIT_FILES = ['{src,web/src,chaos}/**/*.test.ts', 'test/*.test.ts'];

/**
 * What `npm test` leaves to `npm run test:all`. A file belongs here when it takes more than about
 * five seconds on two idle cores; the reason says what makes it slow.
 */
export const COMPLETE_ONLY: Record<string, string> = {
  'src/artifacts/cache-kill.test.ts': 'starts a process for each step and kills it',
  'test/integration/streams/streams.test.ts': 'starts workers for each test',
  'test/integration/large/large-values.test.ts': 'runs large jobs in three storages',
  'test/integration/worker/in-process.test.ts': 'starts several kinds of processes',
  'test/integration/batches/batches-in-process.test.ts': 'runs a thousand jobs, and a rig',
  'test/integration/worker/shards.test.ts': 'breaks each shard and waits for the others',
  'test/integration/shards/broken-shard.test.ts': 'waits until a shard is given up',
  'test/integration/shards/spread.test.ts': 'many pairs of processes with an old and a new spread',
  'test/integration/shards/idle-shards.test.ts': 'waits until 64 shards are quiet',
  'test/integration/definitions/groups.test.ts': 'runs groups in every kind of isolation',
  'test/integration/definitions/params-shapes.test.ts':
    'starts workers with several versions of code',
  'test/integration/limits/pause-hammer.test.ts': 'many pauses at once',
  'test/integration/database/capacity.test.ts': 'thousands of jobs in a cluster of its own',
  'test/integration/store/claim-hammer.test.ts': 'hundreds of claims under forced plans',
  'test/integration/docs/docs-commands.test.ts': 'runs every command of the docs',
  'test/integration/docs/moving-pages.test.ts':
    'starts a server, Redis and the programs of the pages',
  'test/integration/docs/docs-scripts.test.ts': 'runs every script of the docs',
  'test/integration/docs/doctor.test.ts': 'starts the program for each check',
  'test/integration/docs/embedded-postgres.test.ts': 'creates clusters',
  'test/integration/limits/fairness.test.ts': 'statistics over many claims',
  'test/integration/limits/limited-beside-plain.test.ts': 'thousands of jobs for each test',
  'test/integration/store/find-jobs.test.ts': 'compares many filters page by page',
  'test/integration/limits/limits-hammer.test.ts': 'many claims at once',
  'test/integration/store/model.test.ts': 'random steps on both versions of PostgreSQL',
  'test/integration/database/pooler.test.ts': 'the store suite through PgBouncer',
  'test/integration/worker/redis-liveness.test.ts': 'waits for leases to end',
  'test/integration/worker/redis-server.test.ts': 'starts whole servers',
  'test/integration/races/retention.test.ts': 'thousands of old jobs',
  'test/integration/races/retention-races.test.ts': 'thousands of jobs for each race',
  'test/integration/remote/remote-worker.test.ts': 'loses answers, leases and servers',
  'test/integration/remote/remote-access.test.ts': 'starts a server for each kind of key',
  'test/integration/waits/many-followers.test.ts': 'ten thousand jobs after one',
  'test/integration/waits/signal-links.test.ts': 'starts a process for each kind of link',
  'test/integration/runners/runners-flood.test.ts': 'floods a worker with output',
  'test/integration/runners/runners-memory.test.ts': 'fills memory',
  'test/integration/runners/runners-users.test.ts': 'starts processes as other users',
  'test/integration/docs/testing.test.ts': 'runs the tests of a user',
  'test/integration/worker/job-secrets.test.ts': 'runs jobs in every kind of runner',
  'test/integration/worker/tracing.test.ts': 'starts several kinds of runners',
  'test/integration/brokers/ingest.test.ts': 'starts RabbitMQ',
  'test/integration/brokers/publishers.test.ts': 'starts RabbitMQ',
  'test/integration/brokers/ingest-kafka.test.ts': 'waits for consumer groups',
  'test/integration/import/bullmq.test.ts': 'starts Redis and kills a process',
  'test/integration/import/pg-boss.test.ts': 'creates the tables of pg-boss and kills a process',
  'test/integration/worker/redis-beats.test.ts': 'starts Redis for each test',
  'test/integration/runners/runners-warm.test.ts': 'starts a process for each check',
  'test/integration/runners/runners-left-behind.test.ts': 'kills and freezes workers',
  'test/integration/http/edge-limits.test.ts': 'opens hundreds of connections',
  'test/integration/http/unavailable.test.ts': 'stops PostgreSQL under a server',
  'test/integration/worker/stalled.test.ts': 'waits until silent jobs are ended',
  'test/integration/database/partitions.test.ts': 'makes partitions in many processes at once',
  'test/integration/database/migrate.test.ts': 'migrates an empty database for each test',
  'test/integration/runners/runners-recycling.test.ts': 'starts a process for each check',
  'test/integration/runners/runners-commands.test.ts': 'starts a process for each check',
  'test/integration/http/run-due-http.test.ts': 'starts a worker for each call',
  'test/integration/http/changes.test.ts': 'waits for changes of several processes',
  'test/integration/http/dialects.test.ts': 'starts servers for the API of each source document',
  'test/integration/http/http-cost.test.ts': 'bodies of 16 MB',
  'test/integration/races/interleaving-history.test.ts': 'each order of each pair of writes',
  'test/integration/schedules/schedulers.test.ts': 'waits for leases of schedulers to end',
  'src/schedule/calendar.test.ts': 'compares decades of dates with another library',
  'test/integration/seeds/000.test.ts': 'starts a whole server',
  'test/integration/seeds/001.test.ts': 'starts a whole server',
  'test/integration/seeds/002.test.ts': 'starts a whole server',
  'test/integration/seeds/004.test.ts': 'starts a whole server',
};

/**
 * What `npm run test:all` need not repeat right after `npm test`: files that test the same thing in
 * both. An integration test that also runs on the oldest PostgreSQL is not one of them.
 */
export function repeatedByAll(): string[] {
  const integration = globSync('test/integration/**/*.test.ts').filter(
    (file) => !(file in COMPLETE_ONLY) && !readFileSync(file, 'utf8').includes('postgresVersions'),
  );
  const unit = globSync(UNIT_FILES).filter((file) => !(file in COMPLETE_ONLY));
  return [...unit, ...integration, ...QUICK_END_TO_END];
}

/** Of the tests with whole processes and a browser, `npm test` runs these only. */
export const QUICK_END_TO_END = [
  'test/e2e/start.test.ts',
  'test/e2e/cli.test.ts',
  'test/browser/overview.test.ts',
];
