import { expect, it } from 'vitest';
import { systemClock } from '../../../src/runtime/clock.ts';
import { silentLog } from '../../../src/runtime/log.ts';
import { HOUR_MS } from '../../../src/core/values/duration.ts';
import { alertWatch } from '../../../src/scheduler/alert-watch.ts';
import { bulkRunner } from '../../../src/scheduler/bulk-runner.ts';
import { counterKeeper } from '../../../src/scheduler/counter-keeper.ts';
import { limitSweeper } from '../../../src/scheduler/limit-sweeper.ts';
import { lookout } from '../../../src/scheduler/lookout.ts';
import { promoter } from '../../../src/scheduler/promoter.ts';
import { reaper } from '../../../src/scheduler/reaper.ts';
import { ALL_SHARDS } from '../../../src/scheduler/shard-order.ts';
import { findPendingWork } from '../../../src/store/workers/pending-work.ts';
import { changeLimits } from '../../../src/store/limits/limits.ts';
import type { Db, Queryable, Statement } from '../../../src/store/connection/db.ts';
import { enqueueOne } from '../../support/jobs.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { until } from '../../support/until.ts';

/** What the loops of a scheduler ask while nothing happens. */
const database = sharedDatabase();

/** The database, and the names of the statements it was asked, also in transactions. */
function counted(): { db: Db; names: string[] } {
  const names: string[] = [];
  const counting = <T extends Queryable>(target: T): T =>
    new Proxy(target, {
      get(_, key) {
        if (key === 'run') {
          return async (one: Statement<unknown>, values?: readonly unknown[]) => {
            names.push(one.name);
            return await target.run(one, values);
          };
        }
        if (key === 'transaction') {
          return async (work: (tx: Queryable) => Promise<unknown>) =>
            await database.db.transaction(async (tx) => await work(counting(tx)));
        }
        return Reflect.get(target, key, target) as unknown;
      },
    });
  return { db: counting(database.db), names };
}

it('a sweep of limiters is one statement where there is no limit', async () => {
  const { db, names } = counted();
  const sweeper = limitSweeper(db, database.waker, 1_000, silentLog);
  await sweeper.start();
  await sweeper.stop();
  expect(names).toEqual(['first_limiter']);
});

it('a poll for bulk actions is one statement while none runs', async () => {
  const { db, names } = counted();
  const bulks = bulkRunner(db, database.waker, silentLog, systemClock);
  await bulks.start();
  await bulks.stop();
  expect(names).toEqual(['next_bulk']);
});

/**
 * Sixty polls are a minute of an idle scheduler. The loops that the lookout wakes rest meanwhile;
 * `app/local-scheduler.ts` says for how long. A change that adds a poller raises the number here and says why.
 */
it('while nothing happens, one statement per poll wakes no loop', async () => {
  const { db, names } = counted();
  const { waker } = database;
  const clock = systemClock;
  const reaping = reaper({ db, waker, clock, pollMs: 1_000, restMs: HOUR_MS, log: silentLog });
  const sweeping = limitSweeper(db, waker, 1_000, silentLog, ALL_SHARDS, { restMs: HOUR_MS });
  const counting = counterKeeper(db, clock, silentLog, ALL_SHARDS, HOUR_MS);
  const promoting = promoter(db, waker, HOUR_MS, silentLog);
  const woken = { reaping, sweeping, counting, promoting };
  const looking = lookout(db, woken, 1, silentLog);
  const services = [reaping, sweeping, counting, promoting];
  // What the tests before this one counted is ten seconds young.
  await database.sql('delete from longshore.counter_delta');
  for (const service of services) await service.start();
  await until('each loop has polled once', () =>
    ['forget_workers', 'first_limiter', 'forget_counters', 'find_expired'].every((name) =>
      names.includes(name),
    ),
  );
  names.length = 0;
  await looking.start();
  await until('it has polled 60 times', () => names.length >= 60);
  await looking.stop();
  expect(new Set(names)).toEqual(new Set(['find_pending_work']));

  // Each kind of work wakes its loop.
  const wakes = async (name: string) => {
    names.length = 0;
    await looking.start();
    await until(`${name} was asked`, () => names.includes(name));
    await looking.stop();
  };
  await enqueueOne(database);
  await wakes('roll_up_counters');
  await enqueueOne(database, { runAt: new Date(Date.now() + 50) });
  await wakes('promote');
  await database.sql(
    `insert into longshore.worker (shard, instance, host, pid, version, slots, started_at,
       heartbeat_at, lease_until, definitions)
     values (0, gen_random_uuid(), 'here', 1, '1', 1, now(), now(), now() - interval '1 s', '{}')`,
  );
  await wakes('bury_workers');
  expect(await findPendingWork(database.db, 0)).toMatchObject({ lost: false, limiters: false });
  await changeLimits(database.db, 'tenant', 'default', { concurrencyLimit: 1 }, null);
  await wakes('find_stuck_limiters');
  for (const service of services) await service.stop();
});

it('a round of alerts asks this much while nothing happens', async () => {
  const { db, names } = counted();
  const watch = alertWatch({ db, clock: systemClock, log: silentLog });
  await watch.start();
  await until('it has asked for messages', () => names.includes('any_alert_notice_due'));
  await watch.stop();
  expect(names).toEqual([
    'save_alert_defaults',
    'list_alert_rules',
    'alert_defaults',
    'find_xmin_holder',
    'find_stopped_canaries',
    'find_failing_webhooks',
    'find_old_levels',
    'find_dead_queues',
    'find_young_retries',
    'find_stuck',
    'find_late_schedules',
    'find_missed_slots',
    // Of all tenants; only budgets that exist are measured.
    'list_all_budgets',
    'resolve_alerts',
    'any_alert_notice_due',
  ]);
});

it('counters are rolled up every ten seconds, and else only if something was counted', async () => {
  let nowMs = 0;
  const { db, names } = counted();
  const keeper = counterKeeper(db, { ...systemClock, monotonicMs: () => nowMs }, silentLog);
  const round = async () => {
    names.length = 0;
    await keeper.start();
    await keeper.stop();
    return names;
  };
  expect(await round()).toEqual(['roll_up_counters', 'forget_counters']);
  expect(await round()).toEqual(['first_delta']);
  await enqueueOne(database);
  expect(await round()).toEqual(['first_delta', 'roll_up_counters']);
  expect(await database.sql('select from longshore.counter_delta')).toEqual([]);
  nowMs += 60_000;
  expect(await round()).toEqual(['roll_up_counters']);
});
