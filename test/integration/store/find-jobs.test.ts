import { beforeAll, expect, it } from 'vitest';
import { ANY_JOB, type JobCriteria } from '../../../src/core/job/job-criteria.ts';
import { findJobs, type JobWalk } from '../../../src/store/read/find-jobs.ts';
import {
  listWaiting,
  type WaitingCursor,
  type WaitingSort,
} from '../../../src/store/read/list-waiting.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { fillQueue, LIMITED_QUEUE } from '../../support/servers/full-queue.ts';

/**
 * Finding jobs takes one of several paths and gives up on each after so many rows, so there are many seams
 * at which a job could be left out or shown twice. Beside 45,000 jobs, all of them are asked for in every
 * way, page by page, and compared with what one plain statement says.
 */
const database = sharedDatabase();

beforeAll(async () => {
  await fillQueue(database.url);
  await database.sql(`begin; set local session_replication_role = replica; ${ODDITIES}; commit`);
  await database.sql('analyze');
});

/** What the tables are to hold besides. */
const ODDITIES = `
  insert into longshore.job (shard, id, queue, params, created_at)
  select shard, id, queue, '{}', now() from longshore.waiting w where queue = ${LIMITED_QUEUE};

  -- More jobs of one moment than a walk passes by, a few of them of another definition.
  create temporary table made on commit drop as
  select longshore.new_job_id(0::smallint) as id, case when n % 200 = 0 then 10 else 11 end as queue
  from generate_series(1, 21000) n;
  insert into longshore.job (shard, id, queue, params, created_at)
  select 0, id, queue, '{}', now() from made;
  insert into longshore.waiting (shard, id, queue, state, rank, run_at, max_attempts)
  select 0, id, queue, 'scheduled', 0, date_trunc('day', now()) + interval '2 days', 3 from made;

  -- The oldest, so that none of them is among the newest 20,000.
  update longshore.job j
  set tags = case when n <= 3 then array['old', 'once', 'odd'] else array['old'] end
  from (select id, row_number() over (order by id) as n from longshore.job) oldest
  where oldest.id = j.id and n <= 6000;

  insert into longshore.definition (key, version, info) values
    ('key-1', 1, '{"owner": "team-few"}'), ('key-10', 1, '{"owner": "team-few-more"}'),
    ('key-499', 1, '{"owner": "idle"}');

  update longshore.job set params = '{"name": "Umbrella", "colour": "dark blue"}'
  where queue in (1, 10) and id::text like '%0_00' or id in (select id from longshore.job order by id limit 7)`;

const QUESTIONS: [string, Partial<JobCriteria>][] = [
  ['everything', {}],
  ['a definition', { definitionKey: 'key-2' }],
  ['a definition with few jobs', { definitionKey: 'key-1' }],
  ['a definition without jobs', { definitionKey: 'key-499' }],
  ['a state', { statuses: ['scheduled'] }],
  ['states of one table', { statuses: ['scheduled', 'queued'] }],
  ['states of two tables', { statuses: ['scheduled', 'running'] }],
  ['states of all tables', { statuses: ['scheduled', 'running', 'failed'] }],
  ['ends of both kinds', { statuses: ['succeeded', 'failed'] }],
  ['a state in which nothing is', { statuses: ['retrying'] }],
  ['a definition by state', { definitionKey: 'key-2', statuses: ['failed'] }],
  ['few jobs by state', { definitionKey: 'key-1', statuses: ['queued'] }],
  ['few jobs by end', { definitionKey: 'key-1', statuses: ['succeeded'] }],
  ['few jobs by states', { definitionKey: 'key-1', statuses: ['queued', 'running', 'failed'] }],
  ['no jobs by state', { definitionKey: 'key-499', statuses: ['queued', 'succeeded'] }],
  ['a common tag', { tag: 'rare' }],
  ['a rare tag, far away', { tag: 'once' }],
  ['a common tag, far away', { tag: 'old' }],
  ['a common tag, far away, by state', { tag: 'old', statuses: ['scheduled'] }],
  ['a tag that nothing has', { tag: 'never' }],
  ['a common tag by definition', { tag: 'rare', definitionKey: 'key-3' }],
  ['a common tag by state', { tag: 'rare', statuses: ['scheduled', 'failed'] }],
  ['a rare tag by state', { tag: 'odd', statuses: ['queued'] }],
  ['an error', { errorCode: 'CRASHED', definitionKey: 'key-2' }],
  ['an error by state', { fingerprint: 'f1', statuses: ['failed'] }],
  ['an error by tag', { fingerprint: 'f1', tag: 'rare' }],
];

/** Searches, and the same as a condition. */
const SEARCHES: [string, string, string][] = [
  ['a definition', 'definition:key-1', `l.key = 'key-1'`],
  ['a part of keys', 'definition:ey-1', `l.key like '%ey-1%'`],
  [
    'a pattern of keys',
    'definition:KEY-1* status:scheduled',
    `l.key like 'key-1%' and w.state = 'scheduled'`,
  ],
  ['two definitions', 'definition:key-1 definition:key-10', `l.key in ('key-1', 'key-10')`],
  ['an owner', 'owner:team-few', `l.key = 'key-1'`],
  ['a part of owners', 'owner:TEAM', `l.key in ('key-1', 'key-10')`],
  ['an owner without jobs', 'owner:idle', 'false'],
  ['an owner that is unknown', 'owner:none-such', 'false'],
  ['a code by owner', 'owner:team code:crashed', `l.key = 'key-1' and f.error_code = 'CRASHED'`],
  ['two tags', 'tag:old tag:once', `j.tags @> array['old', 'once']`],
  [
    'a text of a definition',
    'definition:key-1 umbrella',
    `l.key = 'key-1' and j.params::text like '%Umbrella%'`,
  ],
  [
    'words in any order',
    'definition:key-10 "DARK BLUE" umbrella',
    `l.key = 'key-10' and j.params::text like '%Umbrella%'`,
  ],
  ['a word of the code', 'crash status:failed', `f.error_code = 'CRASHED'`],
  ['a key as a word', 'key-1', `l.key = 'key-1'`],
  ['a part of a key as a word', 'y-10 owner:team', `l.key = 'key-10'`],
  [
    'a worker',
    'status:running worker:00000000-0000-4000-8000-000000000001',
    `r.worker = '00000000-0000-4000-8000-000000000001'`,
  ],
];

it.each(SEARCHES)('finds each job once by a search: %s', async (_name, q, condition) => {
  const rows = await database.sql<{ id: string }>(
    `select j.id ${JOBS} where ${condition} order by j.id`,
  );
  const expected = rows.map(({ id }) => id);
  const criteria = { ...ANY_JOB, q };
  for (const newestFirst of [true, false]) {
    const found = await walkThrough({ tenant: 'default', criteria, newestFirst, limit: 700 });
    expect(found.length).toBe(expected.length);
    expect(found).toEqual(newestFirst ? expected.toReversed() : expected);
  }
});

it('finds jobs that are named one by one, of the tenant only', async () => {
  const rows = await database.sql<{ id: string }>(
    `select id from longshore.job order by id limit 9`,
  );
  const jobIds = rows.map(({ id }) => id);
  const criteria = { ...ANY_JOB, jobIds: [...jobIds.toReversed(), jobIds[0] ?? ''] };
  const walk = { criteria, newestFirst: false, limit: 4 };
  expect(await walkThrough({ ...walk, tenant: 'default' })).toEqual(jobIds);
  expect(await walkThrough({ ...walk, tenant: 'other' })).toEqual([]);
  const named = { ...walk, criteria: { ...criteria, definitionKey: 'key-3' } };
  const some = await walkThrough({ ...named, tenant: 'default' });
  expect(some.length).toBeGreaterThan(0);
  expect(some.length).toBeLessThan(9);
});

it.each(QUESTIONS)('finds each job once: %s', async (_name, question) => {
  const criteria = { ...ANY_JOB, ...question };
  const expected = await allOf(criteria);
  for (const [newestFirst, limit] of [
    [true, 1_700],
    [false, 4_900],
  ] as const) {
    const found = await walkThrough({ tenant: 'default', criteria, newestFirst, limit });
    const inOrder = newestFirst ? expected.toReversed() : expected;
    const differing = inOrder.findIndex((id, n) => id !== found[n]);
    expect([found.length, found[differing]]).toEqual([inOrder.length, inOrder[differing]]);
  }
});

const WAITING: [string, WaitingSort, Partial<JobCriteria>][] = [
  ['those with a time', 'runAt', { statuses: ['scheduled', 'retrying'] }],
  ['of a definition', 'runAt', { statuses: ['scheduled'], definitionKey: 'key-3' }],
  ['of one that has none', 'runAt', { statuses: ['scheduled'], definitionKey: 'key-1' }],
  ['of a moment', 'runAt', { statuses: ['scheduled'], definitionKey: 'key-10' }],
  ['with a tag', 'runAt', { statuses: ['scheduled'], tag: 'rare' }],
  ['the line', '-priority', { statuses: ['queued'], definitionKey: 'key-2' }],
  ['a short line', '-priority', { statuses: ['queued'], definitionKey: 'key-1' }],
  ['the line, with a tag', '-priority', { statuses: ['queued'], tag: 'odd' }],
];

it.each(WAITING)(
  'finds each waiting job once, in its turn: %s by %s',
  async (_name, sort, question) => {
    const filter = { tenant: 'default', sort, ...question, limit: 2_000 };
    const found: string[] = [];
    let after: WaitingCursor | null = null;
    do {
      const page = await listWaiting(database.db, { ...filter, after });
      found.push(...page.jobs.map(({ jobId }) => jobId));
      after = page.next;
    } while (after !== null);
    const expected = new Set(await allOf({ ...ANY_JOB, ...question }));
    const rows = await database.sql<{ id: string }>(
      `select id from longshore.waiting where run_at is not null or seq is not null
     order by run_at, rank, seq, id`,
    );
    expect(found).toEqual(rows.map(({ id }) => id).filter((id) => expected.has(id)));
  },
);

async function walkThrough(walk: Omit<JobWalk, 'afterId'>): Promise<string[]> {
  const ids: string[] = [];
  let afterId: string | null = null;
  do {
    const found = await findJobs(database.db, 0, { ...walk, afterId });
    expect(found.ids.length).toBeLessThanOrEqual(walk.limit);
    ids.push(...found.ids);
    afterId = found.reachedId;
  } while (afterId !== null);
  return ids;
}

const JOBS = `from longshore.job j
     join longshore.queue l using (shard, queue)
     left join longshore.waiting w using (shard, id)
     left join longshore.running r using (shard, id)
     left join longshore.done f using (shard, id)`;

/** Oldest first, by reading everything. */
async function allOf(criteria: JobCriteria): Promise<string[]> {
  const { definitionKey, statuses, tag, errorCode, fingerprint } = criteria;
  const rows = await database.sql<{ id: string }>(
    `select j.id ${JOBS}
     where ($1::text is null or l.key = $1)
       and (cardinality($2::text[]) = 0 or coalesce(w.state, r.state, f.state)::text = any ($2))
       and ($3::text is null or $3 = any (j.tags))
       and ($4::text is null or f.error_code = $4) and ($5::text is null or f.fingerprint = $5)
     order by j.id`,
    [definitionKey, statuses, tag, errorCode, fingerprint],
  );
  return rows.map(({ id }) => id);
}
