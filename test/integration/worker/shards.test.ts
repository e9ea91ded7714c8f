import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type JobDefinition, defineJob } from '../../../src/core/definition/define.ts';
import { homeShard } from '../../../src/core/queue/shard.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { silentLog } from '../../../src/runtime/log.ts';
import { persist } from '../../../src/runtime/persist.ts';
import { type Service, stopAll } from '../../../src/runtime/service.ts';
import { limitSweeper } from '../../../src/scheduler/limit-sweeper.ts';
import { promoter } from '../../../src/scheduler/promoter.ts';
import { pruner } from '../../../src/scheduler/pruner.ts';
import { reaper } from '../../../src/scheduler/reaper.ts';
import { counterKeeper } from '../../../src/scheduler/counter-keeper.ts';
import { ticker } from '../../../src/scheduler/ticker.ts';
import { Db } from '../../../src/store/connection/db.ts';
import { claim } from '../../../src/store/claim/claim.ts';
import { findLevels } from '../../support/checks/find-levels.ts';
import { changeLimits } from '../../../src/store/limits/limits.ts';
import { registerWorker } from '../../../src/store/workers/workers.ts';
import { directQueue } from '../../../src/worker/claim/direct-queue.ts';
import { postgresQueue } from '../../../src/worker/claim/postgres-queue.ts';
import { Worker } from '../../../src/worker/worker.ts';
import { type BreakableShard, breakableShard } from '../../support/broken-shard.ts';
import { testDatabase, type TestDatabase } from '../../support/servers/database.ts';
import { enqueueOne } from '../../support/jobs.ts';
import { ALL_BUCKETS, newSchedule } from '../../support/schedules.ts';
import { until } from '../../support/until.ts';
import { jobEnded } from '../../support/servers/worker.ts';

/** Three shards, of which the one in the middle fails, or does not answer. The others go on. */

const SHARDS = 3;
const BROKEN = 1;
const HEALTHY = [0, 2];
const MODES = ['fail', 'hang'] as const;

let database: TestDatabase;
let obstacle: BreakableShard;

beforeEach(async () => {
  database = await testDatabase({ shards: SHARDS });
  obstacle = await breakableShard(database, BROKEN);
});
afterEach(async () => {
  await obstacle.mend();
  await database.close();
});

/** A definition whose jobs live in that shard. */
const keyIn = (shard: number) => {
  for (let n = 0; ; n += 1) {
    const key = `job-${n}`;
    if (homeShard('default', key, SHARDS) === shard) return key;
  }
};
const KEYS = [keyIn(0), keyIn(1), keyIn(2)];
const keyOf = (shard: number) => KEYS[shard] ?? '';

const enqueueIn = async (shard: number, more = {}) =>
  await enqueueOne(database, { definitionKey: keyOf(shard), ...more });

describe.each(MODES)('a shard that is to %s', (how) => {
  describe('with a worker', () => {
    const released = new Set<string>();
    let worker: Worker;
    let reserved: Db;

    const definitions: JobDefinition[] = KEYS.map((key) =>
      defineJob({
        key,
        isolation: 'inline',
        async run(params: { until?: string }, ctx) {
          const name = params.until;
          if (name !== undefined) {
            await until(name, () => released.has(name) || ctx.abortSignal.aborted);
          }
        },
      }),
    );

    beforeEach(async () => {
      reserved = Db.open({
        clock: systemClock,
        url: database.url,
        log: silentLog,
        shards: SHARDS,
        max: SHARDS,
        queryTimeoutMs: 2_500,
      });
      worker = new Worker({
        queue: directQueue(postgresQueue(database.db, reserved, database.waker)),
        databaseUrl: database.url,
        jobs: definitions,
        host: 'test',
        pid: process.pid,
        version: '0',
        slots: 4,
        // Long enough that a busy machine costs the healthy shards no lease.
        leaseMs: 10_000,
        heartbeatMs: 1_000,
        pollMs: 100,
        drainMs: 2_000,
        cancelGraceMs: 500,
        logMaxBytes: 1_000_000,
        clock: systemClock,
        log: silentLog,
      });
    });
    afterEach(async () => {
      await obstacle.mend();
      await worker.stop();
      await reserved.close();
    });

    /** As the server does it: a start that fails is tried again. On a busy machine any query may. */
    const startWorker = async () => {
      const begin = async () => {
        await worker.start().catch(async (error: unknown) => {
          await worker.stop();
          throw error;
        });
      };
      const { signal } = new AbortController();
      await persist(begin, { what: 'the start of the worker', log: silentLog, signal });
    };

    const leases = async () =>
      await database.sql<{ shard: number; instance: string }>(
        'select shard, instance from longshore.worker where dead_at is null order by shard',
      );

    it('keeps neither claims nor outcomes nor leases of the others from being written', async () => {
      await startWorker();
      const before = await until('there is a lease in each shard', async () => {
        const rows = await leases();
        return rows.length === SHARDS && rows;
      });
      const held = randomUUID();
      const long = await enqueueIn(0, { paramsJson: JSON.stringify({ until: held }) });
      const waits = [await enqueueIn(BROKEN), await enqueueIn(BROKEN), await enqueueIn(BROKEN)];
      await obstacle.breakIt(how);
      // Far more than a lease passes, in which the broken shard is given up and the others are not.
      await until('the lease in the broken shard is over', async () => {
        for (const shard of HEALTHY) await jobEnded(database, await enqueueIn(shard));
        const [late] = await database.sql<{ late: boolean }>(
          `select bool_and(lease_until < now() - interval '1 s') as late from longshore.worker
           where shard = $1`,
          [BROKEN],
        );
        return late?.late;
      });
      const after = await leases();
      for (const shard of HEALTHY) {
        const of = (rows: typeof before) => rows.filter((row) => row.shard === shard);
        expect(of(after)).toEqual(of(before));
      }
      released.add(held);
      expect(await jobEnded(database, long)).toMatchObject({ status: 'succeeded', attempts: 1 });

      await obstacle.mend();
      const bringsBack = reaper({
        db: database.db,
        waker: database.waker,
        clock: systemClock,
        pollMs: 200,
        log: silentLog,
      });
      await bringsBack.start();
      for (const id of waits) {
        expect(await jobEnded(database, id)).toMatchObject({ status: 'succeeded' });
      }
      await bringsBack.stop();
    });

    it('lets a worker start', async () => {
      const id = await enqueueIn(BROKEN);
      await obstacle.breakIt(how);
      await startWorker();
      for (const shard of HEALTHY) await jobEnded(database, await enqueueIn(shard));
      await obstacle.mend();
      await jobEnded(database, id);
    });
  });

  describe('with schedulers', () => {
    let services: Service[] = [];

    const begin = async (...wanted: Service[]) => {
      services = wanted;
      for (const service of services) await service.start();
    };
    afterEach(async () => {
      await obstacle.mend();
      await stopAll(services);
    });

    /** Waits until something holds for the healthy shards, and looks that it does not for the broken. */
    const onlyBrokenWaits = async (what: string, query: string) => {
      await until(what, async () => {
        const rows = await database.sql<{ shard: number; done: boolean }>(query);
        return HEALTHY.every((shard) => rows.some((row) => row.shard === shard && row.done));
      });
      const rows = await database.sql<{ shard: number; done: boolean }>(query);
      expect(rows.find(({ shard }) => shard === BROKEN)?.done).toBe(false);
      await obstacle.mend();
      await until(`${what}, there too`, async () => {
        const all = await database.sql<{ done: boolean }>(query);
        return all.length === SHARDS && all.every(({ done }) => done);
      });
    };

    it('keeps no due job of the others waiting', async () => {
      for (let shard = 0; shard < SHARDS; shard += 1) await enqueueIn(shard, { delayMs: 1 });
      await obstacle.breakIt(how);
      await begin(promoter(database.db, database.waker, 100, silentLog));
      await onlyBrokenWaits(
        'due jobs are queued',
        `select shard, state = 'queued' as done from longshore.waiting`,
      );
    });

    it('does not delay the recovery of lost jobs in other shards', async () => {
      for (let shard = 0; shard < SHARDS; shard += 1) {
        await enqueueIn(shard);
        const instance = randomUUID();
        const identity = { instance, host: 'test', pid: 1, version: '0', slots: 1 };
        await registerWorker(database.db, shard, { ...identity, leaseMs: 60_000 });
        const queues = await database.sql<{ queue: number }>(
          'select queue from longshore.queue where shard = $1',
          [shard],
        );
        const lines = await findLevels(
          database.db,
          shard,
          queues.map(({ queue }) => queue),
        );
        const from = lines.map((line) => ({ ...line, floor: 0, attempts: 3 }));
        expect(await claim(database.db, shard, 1, instance, from)).toHaveLength(1);
      }
      await database.sql(`update longshore.worker set lease_until = now() - interval '1 s'`);
      await obstacle.breakIt(how);
      const { db, waker } = database;
      await begin(reaper({ db, waker, clock: systemClock, pollMs: 100, log: silentLog }));
      await onlyBrokenWaits(
        'lost jobs are queued again',
        `select shard, true as done from longshore.waiting
         union all select shard, false from longshore.running`,
      );
    });

    it('keeps no schedule of the others from firing', async () => {
      for (const definitionKey of KEYS) await newSchedule(database, { definitionKey });
      await database.sql(
        `update longshore.schedule set next_at = now() - interval '1 s',
           next_local = (now() - interval '1 s') at time zone 'UTC', check_at = now()`,
      );
      await obstacle.breakIt(how);
      const { db, enqueuer } = database;
      const membership = { buckets: ALL_BUCKETS };
      await begin(ticker({ db, enqueuer, log: silentLog }, membership, 100, systemClock));
      await onlyBrokenWaits(
        'schedules have been looked after',
        'select shard, check_at > now() as done from longshore.schedule',
      );
    });

    it('does not delay the sweep of limiters in other shards', async () => {
      await changeLimits(database.db, 'tenant', 'default', { concurrencyLimit: SHARDS }, null);
      await database.sql(`update longshore.limiter set adopt_until = now() - interval '1 s'`);
      await obstacle.breakIt(how);
      await begin(limitSweeper(database.db, database.waker, 100, silentLog));
      await onlyBrokenWaits(
        'limiters are in order',
        'select shard, adopt_until is null as done from longshore.limiter',
      );
    });

    it('keeps no sums of the others from being added up', async () => {
      for (let shard = 0; shard < SHARDS; shard += 1) await enqueueIn(shard);
      await obstacle.breakIt(how);
      await begin(counterKeeper(database.db, systemClock, silentLog));
      await onlyBrokenWaits(
        'moves are added up',
        `select number as shard, exists (select from longshore.counter t
           where t.shard = number) as done from generate_series(0, 2) number`,
      );
    });

    it('keeps nothing of the others from being pruned', async () => {
      for (const definitionKey of KEYS) await newSchedule(database, { definitionKey });
      await database.sql('update longshore.schedule set new_slots = 500');
      await obstacle.breakIt(how);
      const retention = { retentionDays: 30, deadLetterDays: 30 };
      await begin(pruner(database.db, retention, silentLog));
      await until('slots of the others are pruned', async () => {
        const rows = await database.sql<{ shard: number }>(
          'select shard from longshore.schedule where new_slots > 0',
        );
        return rows.length === 1 && rows[0]?.shard === BROKEN;
      });
    });
  });
});
