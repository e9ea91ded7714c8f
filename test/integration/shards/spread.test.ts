import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import type { JobRequest } from '../../../src/core/job/new-job.ts';
import { shardOfJobId } from '../../../src/core/job/job-id.ts';
import { homeShard } from '../../../src/core/queue/shard.ts';
import type { Enqueuer } from '../../../src/enqueue/enqueuer.ts';
import { enqueueWithin } from '../../../src/store/enqueue/enqueue.ts';
import { request } from '../../support/jobs.ts';
import { publish } from '../../support/limits.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { HeldLink, untilBlocked } from '../../support/servers/held-link.ts';
import {
  ageSpreads,
  freshEnqueuer,
  frozenEnqueuer,
  requestIdAt,
  setSpread,
} from '../../support/checks/spread.ts';

/**
 * One definition in many shards. Processes that believe in different spreads meet here: a frozen one
 * keeps the spread from before the change, a fresh one knows the new one.
 */
const SHARDS = 8;
const database = sharedDatabase({ shards: SHARDS });

let fresh: Enqueuer;
beforeAll(async () => {
  fresh = freshEnqueuer(database);
});

let keys = 0;
const newDefinition = async (spread?: number) => {
  const key = `hot-${(keys += 1)}`;
  await publish(database, key, spread === undefined ? {} : { spread });
  return key;
};
const start = async (enqueuer: Enqueuer, definitionKey: string, more: Partial<JobRequest> = {}) => {
  const [answer] = await enqueuer.start([request({ definitionKey, ...more })]);
  if (!answer) throw new Error('no answer');
  return { ...answer, shard: shardOfJobId(answer.jobId) };
};
const jobsOf = async (key: string) =>
  await database.sql<{ id: string }>(
    `select j.id from longshore.job j join longshore.queue q using (shard, queue) where q.key = $1`,
    [key],
  );

/** Before and after a change of the spread from 1 to 4. */
const twoViews = async () => {
  const key = await newDefinition();
  const frozen = await frozenEnqueuer(database);
  await setSpread(database, key, 4);
  return { key, frozen, home: homeShard('default', key, SHARDS) };
};

describe('a definition with a spread', () => {
  it('uses so many shards from its home shard on, and its batches stay together', async () => {
    const key = await newDefinition(3);
    const home = homeShard('default', key, SHARDS);
    const used = [0, 1, 2].map((nth) => (home + nth) % SHARDS);
    const seen = new Set<number>();
    while (seen.size < used.length) seen.add((await start(fresh, key)).shard);
    expect(seen).toEqual(new Set(used));
    const batch = Array.from({ length: 100 }, () => request({ definitionKey: key }));
    const shards = (await database.enqueuer.start(batch)).map(({ jobId }) => shardOfJobId(jobId));
    expect(shards.every((shard) => used.includes(shard))).toBe(true);
    const changes = shards.filter((shard, n) => n > 0 && shard !== shards[n - 1]);
    expect(changes.length).toBeLessThan(50);
  });

  it('is in its home shard without one, and uses all shards with a larger one', async () => {
    const plain = await newDefinition();
    expect((await start(fresh, plain)).shard).toBe(homeShard('default', plain, SHARDS));
    const wide = await newDefinition(1_000);
    const seen = new Set<number>();
    while (seen.size < SHARDS) seen.add((await start(fresh, wide)).shard);
  });

  it('follows its code, and an override until that is removed', async () => {
    const key = await newDefinition(2);
    const steps = async () =>
      await database.sql(
        `select (steps -> -1 ->> 'spread')::int as spread, asked from longshore.spread where key = $1`,
        [key],
      );
    expect(await steps()).toEqual([{ spread: 2, asked: null }]);
    await setSpread(database, key, 5);
    await publish(database, key, { spread: 3 });
    expect(await steps()).toEqual([{ spread: 5, asked: null }]);
    await setSpread(database, key, null as never);
    expect(await steps()).toEqual([{ spread: 3, asked: null }]);
    await publish(database, key);
    expect(await steps()).toEqual([{ spread: 1, asked: null }]);
  });

  it('has no limiter, which would have to be swept', async () => {
    const key = await newDefinition(4);
    await setSpread(database, key, 2);
    const limiters = 'select from longshore.limiter where name = $1';
    expect(await database.sql(limiters, [`definition ${key}`])).toEqual([]);
  });

  it('is changed by another process when the one that changed it died meanwhile', async () => {
    const key = await newDefinition();
    await database.sql('insert into longshore.spread (key, asked) values ($1, 4)', [key]);
    const seen = new Set<number>();
    while (seen.size < 4) seen.add((await start(fresh, key)).shard);
    const left = await database.sql('select from longshore.spread where asked is not null');
    expect(left).toEqual([]);
  });
});

describe('two processes that believe in different spreads', () => {
  const KEYED: [string, Partial<JobRequest>][] = [
    ['an idempotency key', { idempotencyKey: 'a' }],
    ['an idempotency key of the tenant', { idempotencyKey: 'wide', idempotencyScope: 'tenant' }],
    ['a unique key', { unique: { key: 'u', while: 'active', onConflict: 'existing' } }],
    ['unique params', { unique: { key: null, while: 'active', onConflict: 'existing' } }],
    [
      'both keys',
      {
        idempotencyKey: 'b',
        unique: { key: 'v', while: 'active', onConflict: 'existing' },
      },
    ],
  ];

  it.each(KEYED)('make one job of %s', async (_, more) => {
    const { key, frozen } = await twoViews();
    const first = await start(frozen, key, more);
    const second = await start(fresh, key, more);
    expect(second).toEqual({ ...first, created: false });
    expect(await jobsOf(key)).toHaveLength(1);
  });

  it.each(KEYED)('make one job of %s at the same moment', async (_, more) => {
    for (const order of ['frozen first', 'fresh first']) {
      const { key, frozen } = await twoViews();
      const named = { ...more, ...(more.idempotencyKey && { idempotencyKey: `${key}-key` }) };
      const [one, other] = order === 'frozen first' ? [frozen, fresh] : [fresh, frozen];
      const link = await HeldLink.begin(database);
      const entries = await one.admit([request({ definitionKey: key, ...named })]);
      const [first] = await enqueueWithin(link, entries);
      const second = start(other, key, named);
      await untilBlocked(database);
      await link.commit();
      expect(await second).toMatchObject({ jobId: first?.jobId, created: false });
      expect(await jobsOf(key)).toHaveLength(1);
    }
  });

  it('share keys with callers that enqueue by SQL', async () => {
    const { key, frozen } = await twoViews();
    const bySql = async (body: object) => {
      const [row] = await database.sql<{ job_id: string; created: boolean }>(
        'select job_id, created from longshore.enqueue($1)',
        [{ definitionKey: key, params: {}, ...body }],
      );
      return { jobId: row?.job_id ?? '', created: row?.created };
    };
    const unique = { key: 'u', while: 'active' };
    for (const [body, more] of [
      [{ idempotencyKey: 'a' }, { idempotencyKey: 'a' }],
      [{ unique }, { unique: { ...unique, onConflict: 'existing' } as JobRequest['unique'] }],
      [
        { unique: { ...unique, key: 'w' }, concurrencyKey: 'c' },
        {
          unique: { ...unique, key: 'w', onConflict: 'existing' } as JobRequest['unique'],
          concurrencyKey: 'd',
        },
      ],
    ] as const) {
      const { jobId } = await start(frozen, key, more);
      expect(await bySql(body)).toEqual({ jobId, created: false });
    }
    const { shard } = await start(frozen, key, { concurrencyKey: 'c' });
    expect(shardOfJobId((await bySql({ concurrencyKey: 'c' })).jobId)).toBe(shard);
    const seen = new Set<number>();
    while (seen.size < 4) seen.add(shardOfJobId((await bySql({})).jobId));
  });

  it('put all jobs of a concurrency key into one shard', async () => {
    const { key, frozen } = await twoViews();
    const shards = new Set<number>();
    for (let n = 0; n < 16; n += 1) {
      const concurrencyKey = `customer-${n}`;
      const before = (await start(frozen, key, { concurrencyKey })).shard;
      const unique = { key: 'u', while: { windowMs: 1 }, onConflict: 'existing' } as const;
      expect((await start(fresh, key, { concurrencyKey })).shard).toBe(before);
      expect((await start(fresh, key, { concurrencyKey, unique })).shard).toBe(before);
      shards.add(before);
    }
    expect(shards.size).toBeGreaterThan(3);
  });

  it('make one job of a request id, whatever its time is', async () => {
    const { key, frozen } = await twoViews();
    const nowMs = Date.now();
    for (const aheadMs of [-3_600_000, -60_000, -1, 0, 30_000, 59_000]) {
      for (const more of [{}, { tags: ['red'] }]) {
        const requestId = requestIdAt(nowMs + aheadMs);
        const first = await start(frozen, key, { requestId, ...more });
        const second = await start(fresh, key, { requestId, ...more });
        expect(second).toEqual({ ...first, created: false });
      }
    }
    expect(await jobsOf(key)).toHaveLength(12);
  });

  it('refuse a request id of a time whose spread no process knows yet', async () => {
    const { key, frozen } = await twoViews();
    const requestId = requestIdAt(Date.now() + 70_000);
    for (const enqueuer of [frozen, fresh]) {
      const starting = enqueuer.start([request({ definitionKey: key, requestId })]);
      await expect(starting).rejects.toMatchObject({ index: 0, field: 'requestId' });
    }
    expect(await jobsOf(key)).toEqual([]);
  });

  it('find the job of an earlier request after any number of changes', async () => {
    const key = await newDefinition();
    const home = homeShard('default', key, SHARDS);
    const nowMs = Date.now();
    for (const [spread, hours] of [
      [4, 5],
      [2, 5],
      [8, 1],
    ] as const) {
      await setSpread(database, key, spread);
      await ageSpreads(database, hours * 3_600_000);
    }
    const before = await frozenEnqueuer(database);
    const made = new Map<string, string>();
    const shardsAt = async (hours: number) => {
      const shards = new Set<number>();
      for (let n = 0; n < 20; n += 1) {
        const requestId = requestIdAt(nowMs - hours * 3_600_000 + n * 16);
        const { jobId, shard } = await start(before, key, { requestId });
        made.set(requestId, jobId);
        shards.add((shard - home + SHARDS) % SHARDS);
      }
      return [...shards].sort((a, b) => a - b);
    };
    expect(await shardsAt(12)).toEqual([0]);
    expect(await shardsAt(8)).toEqual([0, 1, 2, 3]);
    expect(await shardsAt(3)).toEqual([0, 1]);
    expect(await shardsAt(0.1)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    await setSpread(database, key, 1);
    await ageSpreads(database, 70_000);
    const after = await frozenEnqueuer(database);
    for (const [requestId, jobId] of made) {
      expect(await start(after, key, { requestId })).toMatchObject({ jobId, created: false });
    }
    expect(await jobsOf(key)).toHaveLength(made.size);
  });

  it('agree in any order, while the spread changes under them', async () => {
    const step = fc.record({
      kind: fc.constantFrom('idempotency', 'unique', 'request', 'concurrency', 'plain'),
      name: fc.constantFrom('a', 'b'),
      who: fc.nat(3),
      spread: fc.option(fc.integer({ min: 1, max: SHARDS }), { freq: 6, nil: null }),
    });
    const run = async (steps: (typeof step extends fc.Arbitrary<infer Step> ? Step : never)[]) => {
      const key = await newDefinition();
      await setSpread(database, key, 4);
      await ageSpreads(database, 3_600_000);
      const enqueuers = [fresh, await frozenEnqueuer(database)];
      for (const spread of [8, 2]) {
        await setSpread(database, key, spread);
        enqueuers.push(await frozenEnqueuer(database));
      }
      const nowMs = Date.now();
      const requestIds = { a: requestIdAt(nowMs - 7_200_000), b: requestIdAt(nowMs) };
      const moreOf: Record<string, (name: 'a' | 'b') => Partial<JobRequest>> = {
        idempotency: (name) => ({ idempotencyKey: name }),
        unique: (name) => ({ unique: { key: name, while: 'active', onConflict: 'replace' } }),
        request: (name) => ({ requestId: requestIds[name] }),
        concurrency: (concurrencyKey) => ({ concurrencyKey }),
        plain: () => ({}),
      };
      let changing = Promise.resolve();
      const answers = await Promise.all(
        steps.map(async ({ kind, name, who, spread }) => {
          // One after the other: each holds the lock of queues.
          if (spread !== null) {
            changing = changing.then(async () => await setSpread(database, key, spread));
          }
          const enqueuer = enqueuers[who] ?? fresh;
          const more = moreOf[kind]?.(name) ?? {};
          return { of: `${kind} ${name}`, kind, ...(await start(enqueuer, key, more)) };
        }),
      );
      await changing;
      const once = answers.filter(({ kind }) => !['concurrency', 'plain'].includes(kind));
      const distinct = (all: typeof answers, what: 'jobId' | 'shard') =>
        [...Map.groupBy(all, ({ of }) => of).values()].map(
          (group) => new Set(group.map((one) => one[what])).size,
        );
      expect(distinct(once, 'jobId').every((count) => count === 1)).toBe(true);
      const keyed = answers.filter(({ kind }) => kind === 'concurrency');
      expect(distinct(keyed, 'shard').every((count) => count === 1)).toBe(true);
      const many = answers.length - once.length;
      expect(await jobsOf(key)).toHaveLength(many + new Set(once.map(({ of }) => of)).size);
      expect(answers.filter(({ created }) => created)).toHaveLength((await jobsOf(key)).length);
    };
    const steps = fc.array(step, { minLength: 10, maxLength: 20 });
    await fc.assert(fc.asyncProperty(steps, run), { numRuns: 8, endOnFailure: true });
  }, 120_000);

  it('forget the changes that no request can need any more, except for the last', async () => {
    const key = await newDefinition();
    for (const spread of [2, 3, 4]) {
      await setSpread(database, key, spread);
      await ageSpreads(database, 90_000_000);
    }
    await setSpread(database, key, 5);
    const rows = await database.sql<{ spreads: number[] }>(
      `select jsonb_path_query_array(steps, '$[*].spread') as spreads from longshore.spread where key = $1`,
      [key],
    );
    expect(rows).toEqual([{ spreads: [3, 4, 5] }]);
  });
});
