import { Client } from 'pg';
import { pino } from 'pino';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../src/runtime/clock.ts';
import { adviceOn, healthWatch } from '../../../src/scheduler/health-watch.ts';
import { findHolder, type Holder, tableHealth } from '../../../src/store/connection/health.ts';
import { postgresVersions, databasePerTest } from '../../support/servers/database.ts';
import { enqueueOne } from '../../support/jobs.ts';
import { until } from '../../support/until.ts';

interface Line {
  level: number;
  msg: string;
  pid?: number;
  application?: string;
  state?: string;
  heldSeconds?: number;
  deadRows?: Record<string, number>;
}
const [INFO, WARN] = [30, 40];

describe.each(postgresVersions())('a pinned xmin on PostgreSQL %i', (postgres) => {
  const database = databasePerTest({ postgres });

  /** A forgotten transaction. */
  const hold = async () => {
    const client = new Client({
      connectionString: database.url,
      application_name: 'forgotten report',
    });
    await client.connect();
    onTestFinished(async () => await client.end());
    await client.query('begin isolation level repeatable read; select 1');
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    return { client, pid: rows[0]?.pid ?? 0 };
  };

  it('is found, with its holder and since when', async () => {
    expect(await findHolder(database.db)).toBeNull();
    const { client, pid } = await hold();
    await enqueueOne(database);
    const holder = await until('it is held for a while', async () => {
      const found = await findHolder(database.db);
      return (found?.heldMs ?? 0) > 100 ? found : null;
    });
    expect(holder).toMatchObject({ kind: 'transaction', pid, application: 'forgotten report' });
    expect(holder?.state).toBe('idle in transaction');
    expect(holder?.queryStart).toBeInstanceOf(Date);
    const second = await hold();
    await enqueueOne(database);
    expect(await findHolder(database.db)).toMatchObject({ pid });
    await client.query('commit');
    expect(await findHolder(database.db)).toMatchObject({ pid: second.pid });
    await second.client.query('commit');
    expect(await findHolder(database.db)).toBeNull();
  });

  it('is said once, again for another one, and when it is over', async () => {
    const lines: Line[] = [];
    const log = pino({ base: null }, { write: (line) => lines.push(JSON.parse(line) as Line) });
    const limits = { everyMs: 10, tooLongMs: 200 };
    const watch = healthWatch(database.db, systemClock, log, limits);
    const heard = async (count: number) => {
      await until(`${count} lines`, () => lines.length >= count);
      // Several more rounds say nothing new.
      await new Promise((resolve) => setTimeout(resolve, 100));
      expect(lines).toHaveLength(count);
      return lines.at(-1);
    };
    const first = await hold();
    await enqueueOne(database);
    const second = await hold();
    // A holder that is still young when the older one ends is good news first and a warning later.
    await until('both to be held for too long', async () => {
      const { rows } = await second.client.query<{ old: boolean }>(
        `select bool_and(clock_timestamp() - xact_start > $1 * interval '1 ms') as old
         from pg_stat_activity where pid = any($2)`,
        [limits.tooLongMs, [first.pid, second.pid]],
      );
      return rows[0]?.old === true;
    });
    await watch.start();
    onTestFinished(async () => await watch.stop());
    const warning = await heard(1);
    expect(warning).toMatchObject({ level: WARN, pid: first.pid, state: 'idle in transaction' });
    expect(Object.keys(warning?.deadRows ?? {}).sort()).toEqual(['running', 'waiting']);
    expect(warning?.msg).toMatch(
      new RegExp(
        `^process ${first.pid} \\(forgotten report, idle in transaction\\) has kept vacuum .* ` +
          `end it: select pg_terminate_backend\\(${first.pid}\\)`,
      ),
    );
    await first.client.query('rollback');
    expect(await heard(2)).toMatchObject({ level: WARN, pid: second.pid });
    await second.client.query('rollback');
    expect(await heard(3)).toMatchObject({ level: INFO, msg: 'vacuum is no longer held back' });
  });

  it('does not hide the sizes: tables are reported with all their partitions', async () => {
    await enqueueOne(database);
    const tables = new Map((await tableHealth(database.db)).map((row) => [row.table, row]));
    expect(tables.get('job')).toMatchObject({ table: 'job' });
    expect(tables.get('job')?.partitions).toBeGreaterThanOrEqual(9);
    expect(tables.get('job')?.bytes).toBeGreaterThan(9 * 8_192);
    expect(tables.get('waiting')).toMatchObject({ partitions: 0 });
    expect(tables.get('waiting')?.deadRows).toBeGreaterThanOrEqual(0);
  });
});

it('is explained for what is no session, too', () => {
  const holder = { mark: '', heldMs: null, pid: null, application: null, queryStart: null };
  const slot: Holder = { ...holder, kind: 'replication slot', name: 'standby', state: 'inactive' };
  expect(adviceOn(slot, 600)).toMatch(
    /^replication slot standby \(inactive\) has kept .* pg_drop_replication_slot\('standby'\)/,
  );
  const prepared: Holder = { ...holder, kind: 'prepared transaction', name: 'tx7', state: null };
  expect(adviceOn(prepared, 600)).toMatch(/^prepared transaction tx7 has kept .* for 600 s/);
});
