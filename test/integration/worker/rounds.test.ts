import { expect, it, onTestFinished } from 'vitest';
import { defineJob, NonRetryable } from '../../../src/core/definition/define.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { silentLog } from '../../../src/runtime/log.ts';
import { DatabaseUnavailable, Db } from '../../../src/store/connection/db.ts';
import { QUEUES_CHANGED } from '../../../src/store/connection/wake.ts';
import { directQueue } from '../../../src/worker/claim/direct-queue.ts';
import { Levels } from '../../../src/worker/claim/levels.ts';
import { postgresQueue } from '../../../src/worker/claim/postgres-queue.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { workerOn } from '../../support/servers/worker.ts';
import { request } from '../../support/jobs.ts';
import { until } from '../../support/until.ts';

/** An ordinary job does not pay for others of its batch. */
const database = sharedDatabase();

const JOBS = [
  defineJob({ key: 'plain', isolation: 'inline', run: () => null }),
  defineJob({ key: 'limited', isolation: 'inline', concurrencyLimit: 5, run: () => null }),
  defineJob({ key: 'parent', isolation: 'inline', run: () => null }),
  defineJob({
    key: 'failing',
    isolation: 'inline',
    run: () => {
      throw new NonRetryable('always');
    },
  }),
];

it.each([
  ['that fails', 'failing'],
  ['with a limit', 'limited'],
  ['that another job waits for', 'parent'],
])('plain jobs take the short statements beside one %s', async (_, other) => {
  const reserved = Db.open({ clock: systemClock, url: database.url, log: silentLog, max: 1 });
  const queue = postgresQueue(database.db, reserved, database.waker);
  const general: string[] = [];
  const settled: string[] = [];
  const limited: number[] = [];
  const worker = workerOn(database, {
    jobs: JOBS,
    slots: 50,
    queue: directQueue({
      ...queue,
      settle: async (shard, settlements) => {
        general.push(...settlements.map(({ id }) => id));
        return await queue.settle(shard, settlements);
      },
      settleAndClaim: async (shard, batch) => {
        settled.push(...batch.settlements.map(({ id }) => id));
        return await queue.settleAndClaim(shard, batch);
      },
      claimLimited: async (shard, limit, instance, levels) => {
        const claimed = await queue.claimLimited(shard, limit, instance, levels);
        limited.push(claimed.jobs.length);
        return claimed;
      },
    }),
  });
  onTestFinished(async () => {
    await worker.stop();
    await reserved.close();
  });
  const keys = Array.from({ length: 40 }, (_none, n) => (n === 20 ? other : 'plain'));
  const answers = await database.enqueuer.start(
    keys.map((definitionKey) => request({ definitionKey, maxAttempts: 1 })),
  );
  const ids = answers.map(({ jobId }) => jobId);
  const parents = ids.filter((_id, n) => keys[n] === 'parent');
  for (const jobId of parents) {
    const after = { jobs: [jobId], onFailure: 'cancel' } as const;
    await database.enqueuer.start([request({ definitionKey: 'served-nowhere', after })]);
  }
  await worker.worker.start();
  await until('all have ended', async () => {
    const done = await database.sql('select from longshore.done where id = any ($1)', [ids]);
    return done.length === ids.length;
  });
  const special = ids.filter((_id, n) => keys[n] === other);
  expect(general).toEqual(special);
  expect(new Set(settled)).toEqual(new Set(ids.filter((id) => !special.includes(id))));
  expect(limited.reduce((sum, jobs) => sum + jobs, 0)).toBe(other === 'limited' ? 1 : 0);
});

/** What a worker does with five limited and forty plain jobs, all of them queued before it starts. */
async function drainBoth(keys: { limited: string; plain: string }, planClaim: () => void) {
  const reserved = Db.open({ clock: systemClock, url: database.url, log: silentLog, max: 1 });
  const queue = postgresQueue(database.db, reserved, database.waker);
  const claims: string[] = [];
  let runs = 0;
  const run = () => {
    runs += 1;
    return null;
  };
  const worker = workerOn(database, {
    jobs: [
      defineJob({ key: keys.limited, isolation: 'inline', concurrencyLimit: 5, run }),
      defineJob({ key: keys.plain, isolation: 'inline', run }),
    ],
    slots: 50,
    queue: directQueue({
      ...queue,
      claim: async (shard, limit, instance, levels) => {
        planClaim();
        const jobs = await queue.claim(shard, limit, instance, levels);
        claims.push(`plain ${jobs.length} of ${limit}`);
        return jobs;
      },
      claimLimited: async (shard, limit, instance, levels) => {
        const claimed = await queue.claimLimited(shard, limit, instance, levels);
        claims.push(`limited ${claimed.jobs.length} of ${limit}`);
        return claimed;
      },
    }),
  });
  onTestFinished(async () => {
    await worker.stop();
    await reserved.close();
  });
  // The queue with the lower number is first.
  const list = [...Array(5).fill(keys.limited), ...Array(40).fill(keys.plain)] as string[];
  const ids: string[] = [];
  for (const definitionKey of list) {
    const [answer] = await database.enqueuer.start([request({ definitionKey })]);
    ids.push(answer?.jobId ?? '');
  }
  await worker.worker.start();
  await until('all have ended', async () => {
    const done = await database.sql('select from longshore.done where id = any ($1)', [ids]);
    return done.length === ids.length;
  });
  return { claims, runs };
}

it('limited and plain jobs of a round are claimed at the same time, each in their part of its slots', async () => {
  const { claims, runs } = await drainBoth({ limited: 'few', plain: 'many' }, () => undefined);
  expect(claims).toContain('limited 5 of 25');
  // The limited jobs may end first, and the round that follows may take the plain ones.
  expect(claims).toContainEqual(expect.stringMatching(/^plain \d+ of 25$/));
  expect(runs).toBe(45);
});

it('a claim that fails does not lose the jobs that its round has claimed before', async () => {
  let planned = 0;
  const { claims, runs } = await drainBoth({ limited: 'few-2', plain: 'many-2' }, () => {
    planned += 1;
    if (planned === 1) throw new DatabaseUnavailable('away');
  });
  expect(claims[0]).toBe('limited 5 of 25');
  expect(runs).toBe(45);
});

it('a hint about a queue of others is no work, once it is known', async () => {
  const queue = postgresQueue(database.db, database.db, database.waker);
  const levels = new Levels(0, queue, { list: [] }, systemClock, 60_000);
  await database.enqueuer.start([request({ definitionKey: 'of-others' })]);
  const [row] = await database.sql<{ queue: number }>(
    `select queue from longshore.queue where key = 'of-others'`,
  );
  const hint = { shard: 0, queue: row?.queue ?? 0, rank: 0 };
  await levels.pollIfDue();
  expect(levels.hint(hint)).toBe(true);
  await levels.pollIfDue();
  expect(levels.hint(hint)).toBe(false);
  expect(levels.hint({ ...hint, queue: QUEUES_CHANGED })).toBe(true);
});
