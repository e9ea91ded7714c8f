import { Client } from 'pg';
import { beforeEach, describe, expect, it } from 'vitest';
import { NO_USAGE } from '../../../src/core/job/job.ts';
import { decide, DEFAULT_RULES } from '../../../src/core/job/lifecycle.ts';
import { claim, type ClaimedJob, type ClaimLevel } from '../../../src/store/claim/claim.ts';
import { type Queryable, SESSION } from '../../../src/store/connection/db.ts';
import { findLevels } from '../../support/checks/find-levels.ts';
import { settleAndClaim } from '../../../src/store/claim/settle-and-claim.ts';
import { plainQueryable } from '../../support/plain-queryable.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { newWorker, request, SUCCESS } from '../../support/jobs.ts';

/**
 * Sixteen claimers on four levels, as fast as they can. SKIP LOCKED with LIMIT is known to misbehave
 * under unlucky plans (taking too many, or one twice), so each way that the planner could go is
 * forced once: the statement must be right by its shape, not by its plan.
 */
const CLAIMERS = 16;
const JOBS = 4_000;
/** One by one it takes as many statements as jobs, so fewer jobs make more claims. */
const JOBS_ONE_BY_ONE = 1_600;

const NO_INDEX = '-c enable_indexscan=off -c enable_indexonlyscan=off';

const PLANS = [
  ['its usual plan', ''],
  ['no index scan', NO_INDEX],
  ['no bitmap scan', '-c enable_bitmapscan=off'],
  ['no nested loop', '-c enable_nestloop=off'],
  ['no hash join', '-c enable_hashjoin=off'],
  ['sequential scans', `-c enable_seqscan=on ${NO_INDEX} -c enable_bitmapscan=off`],
] as const;

const database = sharedDatabase();
let worker: string;
let levels: ClaimLevel[];

beforeEach(async () => {
  await database.sql(`truncate longshore.job, longshore.waiting, longshore.running,
    longshore.done, longshore.attempt, longshore.worker`);
  worker = await newWorker(database);
});

async function enqueue(jobs: number): Promise<void> {
  await database.enqueuer.start(
    Array.from({ length: jobs }, (_, n) =>
      request({ definitionKey: n % 2 ? 'odd' : 'even', priority: n % 3 ? 0 : 1 }),
    ),
  );
  const queues = await database.sql<{ queue: number }>('select queue from longshore.queue');
  const found = await findLevels(
    database.db,
    0,
    queues.map((row) => row.queue),
  );
  levels = found.map((level) => ({ ...level, floor: 0, attempts: 3 }));
  expect(levels).toHaveLength(4);
}

/** One claimer on a connection with these settings, until it finds nothing. */
async function claimAll(
  settings: string,
  take: (db: Queryable, mine: readonly ClaimedJob[]) => Promise<ClaimedJob[]>,
): Promise<string[]> {
  const client = new Client({
    connectionString: database.url,
    options: `${SESSION} ${settings}`,
  });
  await client.connect();
  const db: Queryable = {
    ...plainQueryable(),
    run: async ({ name, text }, values = []) =>
      (await client.query({ name, text, values: [...values] })).rows,
  };
  try {
    const taken: string[] = [];
    let mine: ClaimedJob[] = [];
    do {
      mine = await take(db, mine);
      taken.push(...mine.map((job) => job.id));
    } while (mine.length > 0);
    return taken;
  } finally {
    await client.end();
  }
}

/** All claimers together; each starts with another level. */
async function hammer(
  settings: string,
  jobs: number,
  take: (db: Queryable, order: ClaimLevel[], mine: readonly ClaimedJob[]) => Promise<ClaimedJob[]>,
): Promise<void> {
  await enqueue(jobs);
  const taken = await Promise.all(
    Array.from({ length: CLAIMERS }, async (_, n) => {
      const order = [...levels.slice(n % levels.length), ...levels.slice(0, n % levels.length)];
      return await claimAll(settings, async (db, mine) => await take(db, order, mine));
    }),
  );
  expect(taken.flat()).toHaveLength(jobs);
  expect(new Set(taken.flat()).size).toBe(jobs);
  expect(await database.sql('select id from longshore.waiting')).toEqual([]);
}

const count = async (table: string) =>
  (await database.sql(`select from longshore.${table} where claim_no = 1`)).length;

describe.each(PLANS)('sixteen claimers with %s', (_, settings) => {
  it.each([
    [1, JOBS_ONE_BY_ONE],
    [10, JOBS],
  ])('get each job once, and never more than %i', async (limit, all) => {
    await hammer(settings, all, async (db, order) => {
      const jobs = await claim(db, 0, limit, worker, order);
      expect(jobs.length).toBeLessThanOrEqual(limit);
      return jobs;
    });
    expect(await count('running')).toBe(all);
  });

  it('finish each job once when they settle and claim in one turn', async () => {
    await hammer(settings, JOBS, async (db, order, mine) => {
      const settlements = mine.map((job) => {
        const was = 'running' as const;
        const transition = decide({ ...job, ...DEFAULT_RULES, state: was }, SUCCESS, 0.5);
        return { id: job.id, claim: job.claim, was, transition, usage: NO_USAGE };
      });
      const turn = { settlements, limit: 10, instance: worker, levels: order };
      const { settled, jobs } = await settleAndClaim(db, 0, turn);
      expect(settled).toBeNull();
      expect(jobs.length).toBeLessThanOrEqual(10);
      return jobs;
    });
    expect(await count('done')).toBe(JOBS);
    expect(await count('running')).toBe(0);
  });
});
