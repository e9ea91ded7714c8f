import { Client } from 'pg';

/** What `fillQueue` leaves: enough of everything that reading a whole table shows. */
export interface FullQueue {
  runningIds: string[];
  doneIds: string[];
  /** A worker that owns ten jobs; all others belong to another one. */
  worker: string;
}

/** Queue 1 has 30 jobs waiting; the rest of the 20,000 are in queues 2 to 8, in five ranks each. */
export const SMALL_QUEUE = 1;
/** At most 20 run at a time, and of each of 5,000 keys one is queued and one is blocked. */
export const LIMITED_QUEUE = 9;
export const FIRST_KEY_LIMITER = '4611686018427387905';

const WORKER = '00000000-0000-4000-8000-000000000001';
const OTHER_WORKER = '00000000-0000-4000-8000-000000000002';

/** Half an hour ago, in ms. All jobs come within 15 minutes; they are in one partition, whatever the time is. */
const HALF_AN_HOUR_AGO = '((extract(epoch from now()) * 1000)::bigint - 1800000)';
const FIRST = `${HALF_AN_HOUR_AGO} - case when ${HALF_AN_HOUR_AGO} % 86400000 > 85400000 then 1000000 else 0 end`;

/** The id of the n-th job, some milliseconds after that of the one before. */
const ID = `(lpad(to_hex(${FIRST} + n * 20), 12, '0')
  || '7000' || '8000' || lpad(to_hex(n::bigint * 1024), 12, '0'))::uuid`;

const FILL = `
  set local session_replication_role = replica;
  insert into longshore.queue (shard, queue, tenant, key, version)
  select 0, n, 'default', 'key-' || n, 1 from generate_series(1, 500) n;

  insert into longshore.worker (shard, instance, host, pid, version, slots, started_at,
    heartbeat_at, lease_until)
  select 0, i, 'test', 1, '0', 10, now(), now(), now() + interval '1 hour'
  from unnest(array['${WORKER}', '${OTHER_WORKER}']::uuid[]) i;

  insert into longshore.limiter (shard, limiter, name, lim, key_lim) values (0, 7, 'definition key-9', 20, 1);
  update longshore.queue set definition_limiter = 7, keyed = true where queue = ${LIMITED_QUEUE};
  insert into longshore.limiter (shard, limiter, definition, in_use, blocked)
  select 0, ${FIRST_KEY_LIMITER}::bigint + n, 7, 1, 1 from generate_series(0, 4999) n;

  create temporary table made on commit drop as
  select ${ID} as id, n,
    case when n % 670 = 0 then ${SMALL_QUEUE} else 2 + n % 7 end as queue, -(n / 7 % 5) as rank
  from generate_series(1, 45000) n;

  insert into longshore.job (shard, id, queue, params, tags, created_at)
  select 0, id, queue, '{}', case when n % 100 = 0 then array['rare'] end, now() from made;

  insert into longshore.waiting (shard, id, queue, state, rank, seq, max_attempts, queued_at)
  select 0, id, queue, 'queued', case when queue = ${SMALL_QUEUE} then 0 else rank end, n, 3, now()
  from made where n <= 20000 and (n % 10 > 0 or queue = ${SMALL_QUEUE});

  insert into longshore.waiting (shard, id, queue, state, rank, seq, blocked, key_limiter, has_permit,
    max_attempts, queued_at)
  select 0, (lpad(to_hex((extract(epoch from now()) * 1000)::bigint + n), 12, '0')
      || '70008000000000000400')::uuid, ${LIMITED_QUEUE}, 'queued', 0,
    case when n < 5000 then n end, case when n >= 5000 then n end,
    ${FIRST_KEY_LIMITER}::bigint + n % 5000, n < 5000, 3, now()
  from generate_series(0, 9999) n;

  insert into longshore.waiting (shard, id, queue, state, rank, run_at, max_attempts)
  select 0, id, queue, 'scheduled', rank, now() + n * interval '1 s' - interval '150 s', 3
  from made where n <= 20000 and n % 10 = 0 and queue <> ${SMALL_QUEUE};

  insert into longshore.running (shard, id, queue, state, rank, attempts, max_attempts, claim_no,
    interruptions, queued_at, worker, started_at)
  select 0, id, queue, 'running', rank, 1, 3, 1, 0, now(),
    case when n % 500 = 0 then '${WORKER}' else '${OTHER_WORKER}' end::uuid, now()
  from made where n between 20001 and 25000;

  insert into longshore.done (shard, id, queue, state, rank, attempts, max_attempts, claim_no,
    interruptions, queued_at, worker, started_at, finished_at, error_code, fingerprint, error,
    result)
  select 0, id, queue, case when n % 50 = 0 then 'failed' else 'succeeded' end::longshore.job_state,
    rank, 1, 3, 1, 0, now(), '${OTHER_WORKER}', now(), now(),
    case when n % 50 = 0 then 'CRASHED' end, case when n % 50 = 0 then 'f' || n / 50 % 3 end,
    case when n % 50 = 0 then '{}'::json end, '1'
  from made where n > 25000;

  insert into longshore.attempt (shard, job_id, claim_no, number, worker, started_at, finished_at)
  select 0, id, 1, 1, '${OTHER_WORKER}', now(), now() from made where n % 2 = 0;

  insert into longshore.event (shard, job_id, claim_no, n, attempt, type, cancelling, at, payload)
  select 0, id, 1, i, 1, 'custom', false, now(), '{}' from made, generate_series(0, 1) i
  where n > 20000;

  insert into longshore.log_chunk (shard, job_id, claim_no, n, attempt, line_count, at, data)
  select 0, id, 1, i, 1, 1, now(), '[[0,"info","stdout",""]]' from made, generate_series(0, 1) i
  where n > 20000;

  insert into longshore.stream_chunk (shard, job_id, n, claim_no, attempt, data)
  select 0, id, i, 1, 1, 'text' from made, generate_series(0, 1) i where n > 20000;

  insert into longshore.step (shard, job_id, claim_no, name, at, value)
  select 0, id, 1, '', now(), '1' from made where n > 20000;

  insert into longshore.dedupe (shard, scope, key, job_id, params_sha)
  select 0, 'scope', 'key-' || n, id, '' from made`;

/** Fills every table by plain SQL, past the guard triggers, which would take too long. */
export async function fillQueue(url: string): Promise<FullQueue> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(`begin; ${FILL}; commit`);
    const ids = async (table: string, where = 'true') => {
      const { rows } = await client.query<{ id: string }>(
        `select id from longshore.${table} where ${where} order by id limit 10`,
      );
      return rows.map((row) => row.id);
    };
    return {
      runningIds: await ids('running', `worker = '${WORKER}'`),
      doneIds: await ids('done'),
      worker: WORKER,
    };
  } finally {
    await client.end();
  }
}
