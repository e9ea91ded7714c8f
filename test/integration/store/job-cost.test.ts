import { Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeJobId } from '../../../src/core/job/job-id.ts';
import { NO_USAGE } from '../../../src/core/job/job.ts';
import type { JobRequest } from '../../../src/core/job/new-job.ts';
import { Enqueuer } from '../../../src/enqueue/enqueuer.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { silentLog } from '../../../src/runtime/log.ts';
import { claim, type ClaimedJob } from '../../../src/store/claim/claim.ts';
import type { Settlement } from '../../../src/store/claim/settle.ts';
import { settleAndClaim } from '../../../src/store/claim/settle-and-claim.ts';
import { allStatements, Db, type Queryable, SESSION } from '../../../src/store/connection/db.ts';
import { migrate } from '../../../src/store/connection/migrate.ts';
import { Waker } from '../../../src/store/connection/wake.ts';
import { enqueue } from '../../../src/store/enqueue/enqueue.ts';
import type { Entry } from '../../../src/store/enqueue/enqueue-entry.ts';
import { registerWorker } from '../../../src/store/workers/workers.ts';
import type { PlanNode } from '../../support/checks/plans.ts';
import { request } from '../../support/jobs.ts';
import { plainQueryable } from '../../support/plain-queryable.ts';
import { emptyDatabase, type EmptyDatabase } from '../../support/servers/database.ts';

/**
 * What an ordinary job costs the database. No test measures time, but this one counts. A change that
 * raises a number raises it here and says why; one that lowers a number lowers it here.
 */
const JOBS = 200;
const WORKER = '00000000-0000-7000-8000-000000000001';

/** Per batch of 200 jobs: round trips. Per job: WAL and visited pages. */
interface Cost {
  roundTrips: number;
  walRecords: number;
  walBytes: number;
  pages: number;
}

let empty: EmptyDatabase;
let setup: Db;
let waker: Waker;
let client: Client;
let counted: Queryable;
let roundTrips = 0;

beforeAll(async () => {
  empty = await emptyDatabase();
  await migrate({ url: empty.url, log: silentLog, shards: 1 });
  setup = Db.open({ url: empty.url, log: silentLog, clock: systemClock });
  waker = new Waker(empty.url, silentLog, systemClock);
  await registerWorker(setup, 0, {
    instance: WORKER,
    host: 'here',
    pid: 1,
    version: '1',
    slots: JOBS,
    leaseMs: 600_000,
  });
  client = new Client({ connectionString: empty.url, options: SESSION });
  await client.connect();
  counted = {
    ...plainQueryable(),
    run: async <Row>(
      { name, text }: { name: string; text: string },
      values?: readonly unknown[],
    ) => {
      roundTrips += 1;
      return (await client.query({ name, text, values: [...(values ?? [])] })).rows as Row[];
    },
  };
});
afterAll(async () => {
  await client.end();
  await waker.close();
  await setup.close();
  await empty.drop();
});

/** WAL and pages of this connection so far; PostgreSQL counts them for each backend since 18. */
async function usage(): Promise<{ records: number; images: number; bytes: number; pages: number }> {
  await client.query('select pg_stat_force_next_flush()');
  const { rows } = await client.query<Record<'records' | 'images' | 'bytes' | 'pages', string>>(
    `select wal_records as records, wal_fpi as images, wal_bytes as bytes,
       (select sum(hits + reads) from pg_stat_get_backend_io(pg_backend_pid())
        where object = 'relation') as pages
     from pg_stat_get_backend_wal(pg_backend_pid())`,
  );
  const [row] = rows;
  const number = (text: string | undefined) => Number(text ?? 0);
  return {
    records: number(row?.records),
    images: number(row?.images),
    bytes: number(row?.bytes),
    pages: number(row?.pages),
  };
}

/**
 * The least cost of some tries: a checkpoint, a first use, or a page that is full or pruned just now
 * makes one of them dearer.
 */
async function costOf(work: () => Promise<() => Promise<unknown>>): Promise<Cost> {
  const tries: Cost[] = [];
  for (let n = 0; n < 5; n += 1) {
    const measured = await work();
    const before = await usage();
    roundTrips = 0;
    await measured();
    const trips = roundTrips;
    const after = await usage();
    if (after.images > before.images) continue;
    tries.push({
      roundTrips: trips,
      walRecords: (after.records - before.records) / JOBS,
      walBytes: (after.bytes - before.bytes) / JOBS,
      pages: (after.pages - before.pages) / JOBS,
    });
  }
  if (tries.length === 0) return fail('a checkpoint in every try');
  const least = (name: keyof Cost) => Math.min(...tries.map((one) => one[name]));
  return {
    roundTrips: least('roundTrips'),
    walRecords: least('walRecords'),
    walBytes: least('walBytes'),
    pages: least('pages'),
  };
}

function fail(reason: string): never {
  throw new Error(reason);
}

async function entries(changes: () => Partial<JobRequest> = () => ({})): Promise<Entry[]> {
  const enqueuer = new Enqueuer(setup, waker, systemClock);
  const all: Entry[] = [];
  for (let n = 0; n < JOBS; n += 1) {
    all.push(await enqueuer.prepare(request({ maxAttempts: 3, ...changes() })));
  }
  return all;
}

let requests = 0;
const requestId = () =>
  makeJobId({ timeMs: Date.now(), sequence: 0, random: [0, (requests += 1)], shard: 0 });

const levels = [{ queue: 1, rank: 0, floor: 0, attempts: 3 }];

function success({ id, claim: claimNo }: ClaimedJob): Settlement {
  const transition = {
    to: 'succeeded',
    resultJson: 'null',
    error: null,
    delayMs: 0,
    attemptRefunded: false,
    interrupted: false,
    attempted: true,
    waitsFor: null,
  } as const;
  return { id, claim: claimNo, was: 'running', transition, usage: NO_USAGE };
}

/** Sets up one try, and returns what is counted. */
type Try = () => Promise<() => Promise<unknown>>;

const enqueueAll =
  (changes?: () => Partial<JobRequest>): Try =>
  async () => {
    const jobs = await entries(changes);
    return async () => await enqueue(counted as Db, jobs, '0:1:0');
  };

const claimAll =
  (changes?: () => Partial<JobRequest>): Try =>
  async () => {
    await enqueue(setup, await entries(changes));
    return async () => await claim(counted, 0, JOBS, WORKER, levels);
  };

const settleAndClaimAll: Try = async () => {
  await enqueue(setup, await entries());
  const settlements = (await claim(setup, 0, JOBS, WORKER, levels)).map(success);
  await enqueue(setup, await entries());
  const batch = { settlements, limit: JOBS, instance: WORKER, levels };
  return async () => await settleAndClaim(counted, 0, batch);
};

/** The short form: each round has one job, and begins above the last taken position. */
const settleAndClaimOneByOne: Try = async () => {
  await enqueue(setup, await entries());
  const [first] = await claim(setup, 0, 1, WORKER, levels);
  await enqueue(setup, await entries());
  return async () => {
    let last = first ?? fail('no job');
    for (let n = 0; n < JOBS; n += 1) {
      const { jobs } = await settleAndClaim(counted, 0, {
        settlements: [success(last)],
        limit: 1,
        instance: WORKER,
        levels: levels.map((level) => ({ ...level, floor: last.seq })),
      });
      last = jobs[0] ?? fail('no job');
    }
  };
};

test.each<[string, Cost, Try]>([
  // Body and its two indexes, waiting row and its two indexes.
  ['enqueue', { roundTrips: 1, walRecords: 6.1, walBytes: 580, pages: 10 }, enqueueAll()],
  // One more record and three more pages: the insert may meet the same id.
  [
    'enqueue with request ids',
    { roundTrips: 1, walRecords: 7.1, walBytes: 630, pages: 14 },
    enqueueAll(() => ({ requestId: requestId() })),
  ],
  // Lock and delete of the waiting row, running row and its two indexes.
  ['claim', { roundTrips: 1, walRecords: 5.1, walBytes: 430, pages: 12 }, claimAll()],
  // The same, and delete of the running row, done row and its index.
  [
    'settle and claim',
    { roundTrips: 1, walRecords: 8.1, walBytes: 730, pages: 21 },
    settleAndClaimAll,
  ],
  // The same for each job, two counter rows with their index entries, and the commit.
  [
    'settle and claim, one job at a time',
    { roundTrips: JOBS, walRecords: 13.5, walBytes: 1_150, pages: 40 },
    settleAndClaimOneByOne,
  ],
  // The definition is not read for each of them.
  [
    'claim of jobs without an attempt limit',
    { roundTrips: 1, walRecords: 5.1, walBytes: 430, pages: 12 },
    claimAll(() => ({ maxAttempts: null })),
  ],
])('%s costs no more than counted', async (_, most, work) => {
  const cost = await costOf(work);
  for (const name of Object.keys(most) as (keyof Cost)[]) {
    expect(cost[name], name).toBeLessThanOrEqual(most[name]);
  }
});

/** The executor sets up every node of a plan, even for a batch of one. */
test.each([
  ['enqueue_plain', 12],
  ['enqueue_once', 15],
  ['claim', 28],
  ['settle_and_claim', 57],
  ['settle', 83],
])('the plan of %s has at most %i nodes', async (name, most) => {
  const { text } = allStatements.find((one) => one.name === name) ?? fail(name);
  await client.query(`prepare cost_${name} as ${text}`);
  const nulls = Array.from({ length: Math.max(...parametersOf(text)) }, () => 'null');
  const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
    `explain (format json) execute cost_${name} (${nulls.join(', ')})`,
  );
  const plan = rows[0]?.['QUERY PLAN'][0].Plan ?? fail('no plan');
  expect(nodesOf(plan).length).toBeLessThanOrEqual(most);
});

function parametersOf(text: string): number[] {
  return [...text.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number));
}

/** Partitions are counted once: their number depends on the retention. */
function nodesOf(node: PlanNode): PlanNode[] {
  const all = node.Plans ?? [];
  const children = node['Node Type'] === 'Append' && all.every(isPartition) ? all.slice(0, 1) : all;
  return [node, ...children.flatMap(nodesOf)];
}

function isPartition(node: PlanNode): boolean {
  return /_(old|kept|p\d+)$/.test(node['Relation Name'] ?? '');
}
