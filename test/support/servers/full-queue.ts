import { Client } from 'pg';

/** What `fillQueue` leaves: enough of everything that reading a whole table shows. */
export interface FullQueue {
  runningIds: string[];
  doneIds: string[];
  /** A worker that owns ten jobs; all others belong to another one. */
  worker: string;
}

/** Lane 1 has 30 jobs waiting; the rest of the 20,000 are in lanes 2 to 8, in five ranks each. */
export const SMALL_LANE = 1;
/** Here 20 at a time may run, and of each of 5,000 keys one is in the line and one waits for it. */
export const LIMITED_LANE = 9;
export const FIRST_KEY_GATE = '4611686018427387905';

const WORKER = '00000000-0000-4000-8000-000000000001';
const OTHER_WORKER = '00000000-0000-4000-8000-000000000002';

/** The id of the n-th job, some milliseconds after that of the one before. */
const ID = `(lpad(to_hex((extract(epoch from now()) * 1000)::bigint - 1800000 + n * 20), 12, '0')
  || '7000' || '8000' || lpad(to_hex(n::bigint * 1024), 12, '0'))::uuid`;

const FILL = `
  set local session_replication_role = replica;
  insert into longshore.lane (shard, lane, tenant, key, version)
  select 0, n, 'default', 'key-' || n, 1 from generate_series(1, 500) n;

  insert into longshore.worker (shard, instance, host, pid, version, slots, started_at,
    heartbeat_at, lease_until)
  select 0, i, 'test', 1, '0', 10, now(), now(), now() + interval '1 hour'
  from unnest(array['${WORKER}', '${OTHER_WORKER}']::uuid[]) i;

  insert into longshore.gate (shard, gate, name, lim, key_lim) values (0, 7, 'definition key-9', 20, 1);
  update longshore.lane set dgate = 7, keyed = true where lane = ${LIMITED_LANE};
  insert into longshore.gate (shard, gate, definition, in_use, parked)
  select 0, ${FIRST_KEY_GATE}::bigint + n, 7, 1, 1 from generate_series(0, 4999) n;

  create temporary table made on commit drop as
  select ${ID} as id, n,
    case when n % 670 = 0 then ${SMALL_LANE} else 2 + n % 7 end as lane, -(n / 7 % 5) as rank
  from generate_series(1, 45000) n;

  insert into longshore.job (shard, id, lane, params, tags, created_at)
  select 0, id, lane, '{}', case when n % 100 = 0 then array['rare'] end, now() from made;

  insert into longshore.waiting (shard, id, lane, state, rank, seq, max_attempts, queued_at)
  select 0, id, lane, 'queued', case when lane = ${SMALL_LANE} then 0 else rank end, n, 3, now()
  from made where n <= 20000 and (n % 10 > 0 or lane = ${SMALL_LANE});

  insert into longshore.waiting (shard, id, lane, state, rank, seq, parked, kgate, key_token,
    max_attempts, queued_at)
  select 0, (lpad(to_hex((extract(epoch from now()) * 1000)::bigint + n), 12, '0')
      || '70008000000000000400')::uuid, ${LIMITED_LANE}, 'queued', 0,
    case when n < 5000 then n end, case when n >= 5000 then n end,
    ${FIRST_KEY_GATE}::bigint + n % 5000, n < 5000, 3, now()
  from generate_series(0, 9999) n;

  insert into longshore.waiting (shard, id, lane, state, rank, run_at, max_attempts)
  select 0, id, lane, 'scheduled', rank, now() + n * interval '1 s' - interval '150 s', 3
  from made where n <= 20000 and n % 10 = 0 and lane <> ${SMALL_LANE};

  insert into longshore.running (shard, id, lane, state, rank, attempts, max_attempts, claim_no,
    interruptions, queued_at, worker, started_at)
  select 0, id, lane, 'running', rank, 1, 3, 1, 0, now(),
    case when n % 500 = 0 then '${WORKER}' else '${OTHER_WORKER}' end::uuid, now()
  from made where n between 20001 and 25000;

  insert into longshore.done (shard, id, lane, state, rank, attempts, max_attempts, claim_no,
    interruptions, queued_at, worker, started_at, finished_at, error_code, fingerprint, error,
    result)
  select 0, id, lane, case when n % 50 = 0 then 'failed' else 'succeeded' end::longshore.job_state,
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
