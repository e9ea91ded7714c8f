import { expect, it } from 'vitest';
import { systemClock } from '../../../src/runtime/clock.ts';
import { silentLog } from '../../../src/runtime/log.ts';
import { alertWatch } from '../../../src/scheduler/alert-watch.ts';
import { counterKeeper } from '../../../src/scheduler/counter-keeper.ts';
import { limitSweeper } from '../../../src/scheduler/limit-sweeper.ts';
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
