import { Pool, type QueryResultRow } from 'pg';
import { systemClock } from '../../src/runtime/clock.ts';
import { silentLog } from '../../src/runtime/log.ts';
import { Db } from '../../src/store/connection/db.ts';
import { JobIds } from '../../src/store/connection/job-ids.ts';
import { createSchedule } from '../../src/store/schedules/schedules.ts';
import { launch, type Running } from './processes.ts';
import { spec } from './schedules.ts';
import { auditSlots, type SlotAudit } from './checks/slot-history.ts';
import { until } from './until.ts';

export interface CronChaosOptions {
  url: string;
  schedules: number;
  schedulers: number;
  /** Whether another kill is wanted, after so many. */
  goOn(kills: number): boolean;
  seed: number;
  note?(words: string): void;
}

/**
 * Schedules of 1 to 5 seconds, schedulers that are killed at random and started again, and at the
 * end an audit of every slot. Kills follow each other as soon as slots go on being decided, so that
 * schedulers are caught in the middle of it.
 */
export async function cronChaos(options: CronChaosOptions): Promise<SlotAudit & { kills: number }> {
  const { url, seed, note = () => undefined } = options;
  const random = randomOf(seed);
  const pool = new Pool({ connectionString: url, max: 2 });
  pool.on('error', () => undefined);
  const sql = async <Row extends QueryResultRow>(text: string, values: unknown[] = []) =>
    (await pool.query(text, values)).rows as Row[];
  const slots = async () =>
    Number((await sql<{ n: string }>('select count(*) as n from longshore.slot'))[0]?.n);
  await makeSchedules(url, options.schedules);
  const env = {
    DATABASE_URL: url,
    LONGSHORE_LEASE_MS: '1500',
    LONGSHORE_POLL_MS: '200',
    LONGSHORE_LOG_LEVEL: 'warn',
  };
  const start = async () => await launch('scheduler', { env });
  const running: Running[] = [];
  for (let count = 0; count < options.schedulers; count += 1) running.push(await start());
  let kills = 0;
  while (options.goOn(kills)) {
    const seen = await slots();
    const more = Math.ceil((options.schedules * random()) / 4);
    await until('slots are decided', async () => (await slots()) > seen + more);
    const victim = Math.floor(random() * running.length);
    running[victim]?.signal('SIGKILL');
    await running[victim]?.exited;
    running[victim] = await start();
    kills += 1;
    if (kills % 10 === 0) note(`${kills} kills, ${await slots()} slots`);
  }
  const behind = `select 1 from longshore.schedule where check_at < clock_timestamp() limit 1`;
  await until('all have caught up', async () => (await sql(behind)).length === 0);
  for (const one of running) one.signal('SIGTERM');
  await Promise.all(running.map(async ({ exited }) => await exited));
  try {
    return { ...(await auditSlots(sql)), kills };
  } finally {
    await pool.end();
  }
}

/** Half of them fire every slot, the others only the latest of those that were missed. */
async function makeSchedules(url: string, count: number): Promise<void> {
  const db = Db.open({ clock: systemClock, url, log: silentLog, max: 4 });
  const ids = new JobIds(systemClock);
  for (let n = 0; n < count; n += 1) {
    const seconds = 1 + (n % 5);
    const made = spec({
      definitionKey: `chaos-${n % 7}`,
      cron: seconds === 1 ? '* * * * * *' : `*/${seconds} * * * * *`,
      catchUp: n % 2 === 0 ? 'all' : 'latest',
      catchUpMax: 1_000,
    });
    await createSchedule(db, ids, { tenant: 'default', source: 'api', spec: made });
  }
  await db.close();
}

/** The same numbers for the same seed (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
