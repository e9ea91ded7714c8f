import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { changeLimits } from '../../../src/store/limits/limits.ts';
import { tellWhereOnFailure, sharedDatabase } from '../../support/servers/database.ts';
import { expectNoDrift } from '../../support/limits.ts';
import { request } from '../../support/jobs.ts';
import { FIXTURES } from '../../support/processes.ts';
import { type QuickWorker, startQuickWorker } from '../../support/servers/quick-worker.ts';
import { expectTrueCounters } from '../../support/checks/counters.ts';
import { mostAtOnce, readRuns } from '../../support/checks/run-history.ts';
import { until } from '../../support/until.ts';

/**
 * All kinds of limits at once, with worker processes that are killed and frozen in the middle of it.
 * Two witnesses: the jobs themselves, which write down all the while they run that they do, and the
 * database, which is looked at over and over. Neither may ever see more at a time than is allowed, and
 * in the end no token is missing and none is left over.
 */
const TENANT_LIMIT = 4;
const DEFINITION_LIMIT = 3;
const KEYS = ['a', 'b', 'c', 'd'];
const JOBS = 240;

const database = sharedDatabase();
let folder: string;
let file: string;
const workers: QuickWorker[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'longshore-limits-'));
  file = join(folder, 'history');
});
afterAll(async () => {
  await Promise.all(workers.map(async (worker) => await worker.stop()));
  await rm(folder, { recursive: true });
});

async function start(): Promise<QuickWorker> {
  const worker = await startQuickWorker({
    databaseUrl: database.url,
    jobs: join(FIXTURES, 'limited'),
    concurrency: 4,
  });
  workers.push(worker);
  return worker;
}

const ended = async () => (await database.sql('select from longshore.done')).length;

const SNAPSHOT = `
  select count(*)::int as tenant,
    (count(*) filter (where l.key = 'limited'))::int as definition,
    coalesce((select max(n) from (
      select count(*)::int as n from longshore.running where key_limiter is not null group by key_limiter
    ) k), 0) as key
  from longshore.running r join longshore.queue l using (shard, queue)`;

interface Seen {
  tenant: number;
  definition: number;
  key: number;
}

/** Looks at the database until stopped; keeps the most that it saw of each. */
function watch(): () => Promise<Seen> {
  const most: Seen = { tenant: 0, definition: 0, key: 0 };
  const over = new AbortController();
  const watching = (async () => {
    while (!over.signal.aborted) {
      const [row] = await database.sql<Seen & Record<string, unknown>>(SNAPSHOT);
      if (!row) continue;
      most.tenant = Math.max(most.tenant, row.tenant);
      most.definition = Math.max(most.definition, row.definition);
      most.key = Math.max(most.key, row.key);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  })();
  return async () => {
    over.abort();
    await watching;
    return most;
  };
}

it(
  'no limit is exceeded at any moment, whichever process is killed',
  { timeout: 240_000 },
  async () => {
    tellWhereOnFailure(database);
    const { db, enqueuer, sql } = database;
    await changeLimits(db, 'tenant', 'default', { concurrencyLimit: TENANT_LIMIT }, null);
    const [first, frozen] = await Promise.all([start(), start()]);
    const stopWatching = watch();
    await enqueuer.start(
      Array.from({ length: JOBS }, (_, n) => {
        const key = KEYS[n % (KEYS.length + 1)];
        const params = { file, ...(key !== undefined && { key }) };
        return request({
          definitionKey: n % 3 === 0 ? 'unlimited' : 'limited',
          concurrencyKey: n % 3 === 0 ? null : (key ?? null),
          paramsJson: JSON.stringify(params),
        });
      }),
    );
    await until('some jobs have ended', async () => (await ended()) > JOBS / 12);
    first.signal('SIGKILL');
    const second = await start();
    await until('more jobs have ended', async () => (await ended()) > JOBS / 5);
    frozen.signal('SIGSTOP');
    const dead = 'select from longshore.worker where dead_at is not null and pid = $1';
    await until(
      'the frozen one is taken for dead',
      async () => (await sql(dead, [frozen.pid])).length > 0,
    );
    frozen.signal('SIGCONT');
    await until('half of the jobs have ended', async () => (await ended()) > JOBS / 2);
    second.signal('SIGKILL');
    frozen.signal('SIGKILL');
    await start();
    await until('all jobs have ended', async () => (await ended()) === JOBS, 120_000);

    const seen = await stopWatching();
    const runs = readRuns(file);
    const limited = runs.filter(({ definition }) => definition === 'limited');
    const byKey = KEYS.map((key) => mostAtOnce(limited.filter((run) => run.key === key)));
    expect({ ...seen, ofJobs: mostAtOnce(runs), ofLimited: mostAtOnce(limited), byKey }).toEqual({
      // Exactly: a limit that is never reached would have been kept by chance.
      tenant: TENANT_LIMIT,
      definition: DEFINITION_LIMIT,
      key: 1,
      ofJobs: TENANT_LIMIT,
      ofLimited: DEFINITION_LIMIT,
      byKey: KEYS.map(() => 1),
    });
    expect(await sql('select from longshore.done where state <> $1', ['succeeded'])).toEqual([]);
    const lost = await sql(`select from longshore.attempt where error_code = 'LEASE_EXPIRED'`);
    expect(lost.length, 'leases that were lost with a job').toBeGreaterThan(0);
    await expectNoDrift(database);
    await expectTrueCounters(database);
    const left = 'select name from longshore.limiter where in_use <> 0 or blocked <> 0';
    expect(await sql(left)).toEqual([]);
  },
);
