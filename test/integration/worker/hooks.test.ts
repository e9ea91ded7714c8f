import { describe, expect, it, onTestFinished } from 'vitest';
import { hookKey } from '../../../src/core/definition/hooks.ts';
import { isJobId, shardOfJobId, timeOfJobId } from '../../../src/core/job/job-id.ts';
import { NO_USAGE } from '../../../src/core/job/job.ts';
import { decide, DEFAULT_RULES, type Outcome } from '../../../src/core/job/lifecycle.ts';
import { HOOKS, type HookName, type HookParams } from '../../../src/core/views/history.ts';
import { silentLog } from '../../../src/runtime/log.ts';
import { cancelJob } from '../../../src/store/change/cancel-job.ts';
import { claim, type ClaimedJob } from '../../../src/store/claim/claim.ts';
import { getJob } from '../../../src/store/read/get-job.ts';
import { Queues, servedQueues } from '../../../src/store/enqueue/queues.ts';
import { listJobs } from '../../../src/store/read/list-jobs.ts';
import { Listener } from '../../../src/store/connection/listen.ts';
import { settle } from '../../../src/store/claim/settle.ts';
import { QUEUES_CHANGED, type LevelHint } from '../../../src/store/connection/wake.ts';
import { postgresVersions, testDatabase, sharedDatabase } from '../../support/servers/database.ts';
import { HeldLink } from '../../support/servers/held-link.ts';
import { failure, loseLease, settleAs, SUCCESS } from '../../support/jobs.ts';
import { reachOwned, reachState, type Subject } from '../../support/checks/reach-state.ts';
import { publishHooks } from '../../support/history.ts';
import { until } from '../../support/until.ts';

describe.each(postgresVersions())('the hooks of a job that ends, on PostgreSQL %i', (postgres) => {
  const database = sharedDatabase({ postgres });

  const keyOf = ({ worker }: Subject) => `key-${worker}`;

  const hookQueue = async (subject: Subject): Promise<number> => {
    const definition = { key: hookKey(keyOf(subject)), version: 1 };
    const [queue] = await servedQueues(database.db, 0, [definition]);
    if (!queue) throw new Error('no queue for hooks');
    return queue.queue;
  };

  /** The hooks that wait to be run, as a worker gets them. */
  const claimHooks = async (subject: Subject): Promise<ClaimedJob[]> => {
    const levels = [{ queue: await hookQueue(subject), rank: 0, floor: 0, attempts: 3 }];
    return await claim(database.db, 0, 10, subject.worker, levels);
  };

  const made = async (subject: Subject): Promise<HookName[]> => {
    const rows = await database.sql<{ hook: HookName }>(
      'select hook from longshore.job where parent_id = $1 order by id',
      [subject.id],
    );
    return rows.map(({ hook }) => hook).sort();
  };

  const ENDS: [end: string, outcome: Outcome, was: 'running' | 'cancelling', HookName[]][] = [
    ['succeeds', SUCCESS, 'running', ['onEnd', 'onSuccess']],
    ['fails for good', failure('NOT_FOUND'), 'running', ['onEnd', 'onFail']],
    ['is cancelled', failure('NOT_FOUND'), 'cancelling', ['onEnd']],
    ['succeeds although it should stop', SUCCESS, 'cancelling', ['onEnd', 'onSuccess']],
    ['will be retried', failure('TIMEOUT'), 'running', []],
    ['is lost', { kind: 'lost', message: 'gone' }, 'running', []],
    ['is interrupted', { kind: 'interrupted', message: 'deploy' }, 'running', []],
    ['snoozes', { kind: 'snoozed', delayMs: 60_000 }, 'running', []],
  ];

  it.each(ENDS)('are made for one that %s', async (_, outcome, was, expected) => {
    const subject = await reachOwned(database);
    await publishHooks(database, keyOf(subject), HOOKS);
    if (was === 'cancelling') await cancelJob(database.db, 'default', subject.id);
    await settleAs(database, subject.job, outcome, was);
    expect(await made(subject)).toEqual(expected);
    // Sent once more, it is refused and makes nothing.
    await settleAs(database, subject.job, outcome, was);
    expect(await made(subject)).toEqual(expected);
  });

  it.each([
    [['onEnd'], ['onEnd']],
    [['onFail'], ['onFail']],
    [['onSuccess'], []],
    [['onStart'], []],
    [[], []],
  ] as [HookName[], HookName[]][])(
    'are those that the definition has: %j',
    async (has, expected) => {
      const subject = await reachOwned(database);
      await publishHooks(database, keyOf(subject), has);
      await settleAs(database, subject.job, failure('NOT_FOUND'));
      expect(await made(subject)).toEqual(expected);
    },
  );

  it('are none without a published definition, or when it has only another version', async () => {
    const subject = await reachOwned(database);
    await database.sql(
      `insert into longshore.definition (key, version, info)
       values ($1, 2, '{"hooks": ["onEnd"]}'), ('other', 1, '{"hooks": ["onEnd"]}')
       on conflict do nothing`,
      [keyOf(subject)],
    );
    await settleAs(database, subject.job, SUCCESS);
    expect(await made(subject)).toEqual([]);
  });

  it('get all about the job, unchanged', async () => {
    const result = '{"z":1,"a":"\\u0000 \\ud800"}';
    const subject = await reachOwned(database);
    await publishHooks(database, keyOf(subject), ['onSuccess', 'onEnd']);
    const params = '{"b":[1, 2],"a":"\\u0000"}';
    await database.sql('update longshore.job set params = $2 where id = $1', [subject.id, params]);
    await settleAs(database, subject.job, { kind: 'success', resultJson: result });
    const [first, second, ...others] = await claimHooks(subject);
    expect(others).toEqual([]);
    expect(JSON.parse(first?.paramsJson ?? '')).toEqual({
      hook: 'onSuccess',
      jobId: subject.id,
      status: 'succeeded',
      attempt: 1,
      maxAttempts: 3,
      params: JSON.parse(params),
      result: JSON.parse(result),
      error: null,
    } satisfies HookParams);
    expect(JSON.parse(second?.paramsJson ?? '')).toMatchObject({ hook: 'onEnd' });
    expect(second).toMatchObject({ attempts: 1, maxAttempts: 3, claim: 1 });
  });

  it('get the error of the job, and none when it was cancelled', async () => {
    const failed = await reachOwned(database);
    await publishHooks(database, keyOf(failed), ['onFail']);
    await settleAs(database, failed.job, failure('NOT_FOUND', 'no such page'));
    const [onFail] = await claimHooks(failed);
    expect(JSON.parse(onFail?.paramsJson ?? '')).toMatchObject({
      status: 'failed',
      attempt: 1,
      result: null,
      error: { code: 'NOT_FOUND', message: 'no such page' },
    });
    const cancelled = await reachState(database, 'queued');
    await publishHooks(database, keyOf(cancelled), HOOKS);
    await cancelJob(database.db, 'default', cancelled.id);
    const [onEnd] = await claimHooks(cancelled);
    expect(JSON.parse(onEnd?.paramsJson ?? '')).toMatchObject({
      status: 'cancelled',
      attempt: 0,
      result: null,
      error: null,
    });
  });

  it('of a batch have ids of this shard and this moment, each its own', async () => {
    const batch = await Promise.all(
      Array.from({ length: 5 }, async () => await reachOwned(database)),
    );
    for (const subject of batch.slice(1)) await publishHooks(database, keyOf(subject), HOOKS);
    const settlements = batch.map(({ job }) => {
      const transition = decide({ ...job, ...DEFAULT_RULES, state: 'running' }, SUCCESS, 0.5);
      return { id: job.id, claim: job.claim, was: 'running', transition, usage: NO_USAGE } as const;
    });
    const settled = await settle(database.db, 0, settlements);
    const rows = await database.sql<{ id: string; ms: number }>(
      `select id, (extract(epoch from created_at) * 1000)::float8 as ms from longshore.job
       where parent_id = any ($1)`,
      [batch.map(({ id }) => id)],
    );
    const levelsOf = new Map(settled.map(({ id, levels }) => [id, levels]));
    expect(levelsOf.get(batch[0]?.id ?? '')).toEqual([]);
    for (const subject of batch.slice(1)) {
      const level = { shard: 0, queue: await hookQueue(subject), rank: 0 };
      expect(levelsOf.get(subject.id)).toEqual([level, level]);
      expect(await made(subject)).toEqual(['onEnd', 'onSuccess']);
    }
    expect(new Set(rows.map(({ id }) => id)).size).toBe(8);
    for (const { id, ms } of rows) {
      expect(isJobId(id)).toBe(true);
      expect(shardOfJobId(id)).toBe(0);
      expect(timeOfJobId(id)).toBeGreaterThanOrEqual(Math.floor(ms));
    }
  });

  it('have ids of which no two are alike, as the processes make them', async () => {
    const many = await database.sql<{ id: string }>(
      'select longshore.new_job_id(1023::smallint) as id from generate_series(1, 10000)',
    );
    expect(new Set(many.map(({ id }) => id)).size).toBe(10_000);
    expect(many.every(({ id }) => isJobId(id) && shardOfJobId(id) === 1_023)).toBe(true);
  });

  it('come with the outcome or not at all', async () => {
    const subject = await reachOwned(database);
    await publishHooks(database, keyOf(subject), HOOKS);
    const link = await HeldLink.begin(database);
    await settleAs({ db: link }, subject.job, SUCCESS);
    expect(await made(subject)).toEqual([]);
    await link.rollback();
    expect(await made(subject)).toEqual([]);
    await settleAs(database, subject.job, SUCCESS);
    expect(await made(subject)).toEqual(['onEnd', 'onSuccess']);
  });

  it('are made by the reaper and by a cancel too, and workers get a hint', async () => {
    const heard: LevelHint[] = [];
    let connected = false;
    const listener = new Listener({ url: database.url, log: silentLog });
    listener.add({
      onWork: (hints) => heard.push(...hints),
      onBeat: () => undefined,
      onConnected: () => (connected = true),
    });
    onTestFinished(async () => await listener.stop());
    await listener.start();
    await until('it listens', () => connected);
    const orphan = await reachOwned(database, 1);
    const waiting = await reachState(database, 'scheduled');
    for (const subject of [orphan, waiting]) await publishHooks(database, keyOf(subject), HOOKS);

    await loseLease(database, orphan.worker);
    expect(await made(orphan)).toEqual(['onEnd', 'onFail']);
    await cancelJob(database.db, 'default', waiting.id);
    expect(await made(waiting)).toEqual(['onEnd']);
    for (const subject of [orphan, waiting]) {
      const level = { shard: 0, queue: await hookQueue(subject), rank: 0 };
      await until('the hint has come', () => heard.some(({ queue }) => queue === level.queue));
      expect(heard).toContainEqual(level);
    }
  });

  it('are named in the answer of the settle, after the level of the job itself', async () => {
    const ends = await reachOwned(database);
    await publishHooks(database, keyOf(ends), HOOKS);
    const level = { shard: 0, queue: await hookQueue(ends), rank: 0 };
    expect(await settleAs(database, ends.job, SUCCESS)).toEqual([
      { id: ends.id, levels: [level, level] },
    ]);
    const lost = await reachOwned(database);
    await publishHooks(database, keyOf(lost), HOOKS);
    expect(await settleAs(database, lost.job, { kind: 'lost', message: 'gone' })).toEqual([
      {
        id: lost.id,
        levels: [
          { shard: 0, queue: lost.queue, rank: 0 },
          { shard: 0, queue: QUEUES_CHANGED, rank: 0 },
        ],
      },
    ]);
  });

  it('are hidden in lists unless asked for by name, and found by their id', async () => {
    const subject = await reachOwned(database);
    await publishHooks(database, keyOf(subject), ['onEnd']);
    await settleAs(database, subject.job, SUCCESS);
    const list = async (definitionKey: string | null, statuses: ('queued' | 'succeeded')[]) => {
      const filter = { tenant: 'default', tag: null, createdAfter: null, createdBefore: null };
      const page = { newestFirst: true, afterId: null, limit: 200 };
      const { jobs } = await listJobs(database.db, { ...filter, ...page, definitionKey, statuses });
      return jobs;
    };
    const key = hookKey(keyOf(subject));
    const all = [...(await list(null, [])), ...(await list(null, ['queued', 'succeeded']))];
    expect(all.filter(({ definitionKey }) => definitionKey.startsWith('$'))).toEqual([]);
    expect(all.map(({ jobId }) => jobId)).toContain(subject.id);
    const [hook, ...others] = await list(key, []);
    expect(others).toEqual([]);
    expect(hook).toMatchObject({ definitionKey: key, status: 'queued', priority: 0 });
    expect(await getJob(database.db, 'default', hook?.jobId ?? '')).toEqual(hook);
    expect(await getJob(database.db, 'other', hook?.jobId ?? '')).toBeNull();
  });

  it('have no hooks themselves', async () => {
    const subject = await reachOwned(database);
    await publishHooks(database, keyOf(subject), ['onEnd']);
    await settleAs(database, subject.job, SUCCESS);
    const [hook] = await claimHooks(subject);
    if (!hook) throw new Error('no hook');
    expect(await settleAs(database, hook, SUCCESS)).toEqual([{ id: hook.id, levels: [] }]);
    expect(await claimHooks(subject)).toEqual([]);
  });
});

describe('the queue of hooks', () => {
  it('is made beside each queue, once, however many make it, and where it is missing', async () => {
    const database = await testDatabase({ shards: 4 });
    onTestFinished(database.close);
    // A queue as it was made before hooks had queues.
    await database.sql(`insert into longshore.queue (shard, queue, tenant, key, version)
      select n, 1, 'default', 'old', 1 from generate_series(0, 3) n`);
    const names = [...Array.from({ length: 20 }, (_, n) => `key-${n}`), 'old'];
    const makers = Array.from({ length: 8 }, () => new Queues(database.db, 4));
    const queues = await Promise.all(
      makers.map(
        async (maker) =>
          await Promise.all(names.map(async (name) => await maker.resolve('default', name, 1))),
      ),
    );
    for (const found of queues) expect(found).toEqual(queues[0]);
    for (const { shard, key } of queues[0] ?? []) {
      const twins = await database.sql(
        'select tenant, version from longshore.queue where shard = $1 and key = $2',
        [shard, hookKey(key)],
      );
      expect(twins).toEqual([{ tenant: 'default', version: 1 }]);
    }
  });
});
