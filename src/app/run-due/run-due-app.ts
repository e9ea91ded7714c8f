import type { Config } from '../../config/config.ts';
import type { RunDueBudget, RunDueSummary } from '../../core/queue/run-due.ts';
import { openDatabase } from '../open-database.ts';
import { runDue } from './run-due.ts';
import type { JobDefinition } from '../../core/definition/define.ts';
import { systemClock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import { loadTracing } from '../../signals/load-tracing.ts';
import { Db } from '../../store/connection/db.ts';
import { migrate } from '../../store/connection/migrate.ts';
import { Waker } from '../../store/connection/wake.ts';

/** Runs what is due within a budget, and exits. */
export async function runDueApp(
  config: Config,
  log: Log,
  budget: RunDueBudget,
  jobs: string | readonly JobDefinition[] = config.jobs,
): Promise<RunDueSummary> {
  await loadTracing(config.tracing);
  const database = await openDatabase(config, { ownCluster: false }, log);
  await migrate({ url: database.url, log, shards: config.shards });
  const { pooler, shards, encryptionKeys } = config;
  const db = Db.open({
    clock: systemClock,
    url: database.url,
    pooler,
    log,
    shards,
    encryptionKeys,
    max: 10,
  });
  const waker = new Waker(database.url, log, systemClock, pooler, shards);
  try {
    const settings = { ...config, jobs, databaseUrl: database.url };
    return await runDue(db, waker, settings, log, budget);
  } finally {
    await waker.close();
    await db.close();
  }
}
