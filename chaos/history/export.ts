import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from 'pg';

/**
 * Writes the recorded row events and the tables into files. Times stay as the database has them;
 * `read.ts` converts them to the common clock.
 */

const PAGE = 20_000;

const micros = (column: string, name: string) =>
  `(extract(epoch from ${column}) * 1000000)::bigint::float8 as "${name}"`;

const EVENTS: Record<string, { table: string; columns: string }> = {
  rows: {
    table: 'chaos.row_event',
    columns: `xid::text, move, place, job, state, claim, attempts, max_attempts as "maxAttempts",
      worker, error_code as "errorCode", execution, ${micros('at', 'at')},
      ${micros('begun', 'begun')}, ${micros('run_at', 'runAt')}`,
  },
  attempts: {
    table: 'chaos.attempt_event',
    columns: `job, claim, number, worker, error_code as "errorCode", execution,
      ${micros('at', 'at')}`,
  },
  progress: {
    table: 'chaos.progress_event',
    columns: `job, claim, attempts, execution, ${micros('at', 'at')}`,
  },
  leases: {
    table: 'chaos.lease_event',
    columns: `worker, pid, ${micros('at', 'at')}, ${micros('until', 'until')},
      ${micros('dead_at', 'deadAt')}`,
  },
  versions: {
    table: 'chaos.version_event',
    columns: `job, claim, version, ${micros('at', 'at')}, ${micros('begun', 'begun')}`,
  },
  releases: {
    table: 'chaos.release_event',
    columns: `current, ${micros('pg_xact_commit_timestamp(xid::xid)', 'at')}`,
  },
};

const FINAL = `
  select j.id as job, count(s.state)::int as places, min(s.state) as state,
    coalesce(min(s.claim_no), 0) as claim, coalesce(min(s.attempts), 0) as attempts,
    coalesce(min(s.max_attempts), 0) as "maxAttempts", min(s.error_code) as "errorCode",
    (select count(*)::int from longshore.attempt a where a.job_id = j.id) as "attemptRows",
    j.idempotency_key as key, encode(sha256(convert_to(j.params::text, 'UTF8')), 'hex')
      as "paramsSha", min(s.result_sha) as "resultSha", j.schedule_id as schedule,
    (extract(epoch from j.scheduled_for) * 1000)::float8 as "scheduledForMs",
    j.policy -> 'batch' ->> 'name' as batch,
    case when j.policy ? 'batch' then min(s.result) end as "batchResult"
  from (select * from longshore.job where id > $1 order by id limit ${PAGE}) j
  left join lateral (
    select state::text, claim_no, attempts, max_attempts, null as error_code, null as result_sha,
        null as result
      from longshore.waiting w where w.id = j.id
    union all
    select state::text, claim_no, attempts, max_attempts, null, null, null
      from longshore.running r where r.id = j.id
    union all
    select state::text, claim_no, attempts, max_attempts, error_code,
        encode(sha256(convert_to(result::text, 'UTF8')), 'hex'), result::text
      from longshore.done d where d.id = j.id
  ) s on true
  group by j.id, j.idempotency_key, j.params::text, j.schedule_id, j.scheduled_for,
    j.policy
  order by j.id`;

const SLOTS = `
  select schedule_id as schedule, (extract(epoch from slot_at) * 1000)::float8 as "slotMs",
    (extract(epoch from through) * 1000)::float8 as "throughMs", status, reason, job_id as job
  from longshore.slot order by schedule_id, slot_at`;

const DEPLOYMENTS = `
  select number, note as build, retired_at is not null as retired
  from longshore.deployment order by number`;

const MEMBERS = `
  select e.job_id as batch, e.on_id as job, e.ended::text
  from longshore.edge e join longshore.job j on j.shard = e.shard and j.id = e.job_id
  where e.kind = 'child' and j.policy ? 'batch' order by e.job_id, e.position`;

const LIMITERS = `
  select coalesce(l.name, 'key ' || l.limiter) as name, l.in_use as "inUse", l.blocked,
    ((select count(*) from longshore.running r where l.limiter = any (r.permits))
      + (select count(*) from longshore.waiting w where w.key_limiter = l.limiter and w.has_permit)
    )::int as held,
    (select count(*)::int from longshore.waiting w
      where w.key_limiter = l.limiter and w.blocked is not null) as waiting
  from longshore.limiter l order by l.limiter`;

export async function exportHistory(client: Client, folder: string): Promise<void> {
  for (const [name, { table, columns }] of Object.entries(EVENTS)) {
    await client.query(`create index if not exists ${name}_seq on ${table} (seq)`);
    const page = `select seq::float8, ${columns} from ${table} where seq > $1 order by seq
      limit ${PAGE}`;
    await writePages(client, page, 0, ({ seq }) => seq, join(folder, `${name}.jsonl`));
  }
  const nothing = '00000000-0000-0000-0000-000000000000';
  await writePages(client, FINAL, nothing, ({ job }) => job, join(folder, 'final.jsonl'));
  for (const [name, text] of [
    ['slots', SLOTS],
    ['deployments', DEPLOYMENTS],
    ['members', MEMBERS],
    ['limiters', LIMITERS],
  ] as const) {
    const { rows } = await client.query<Record<string, unknown>>(text);
    const lines = rows.map((row) => `${JSON.stringify(row)}\n`);
    await writeFile(join(folder, `${name}.jsonl`), lines);
  }
}

async function writePages(
  client: Client,
  text: string,
  first: unknown,
  keyOf: (row: Record<string, unknown>) => unknown,
  file: string,
): Promise<void> {
  const stream = createWriteStream(file);
  for (let after = first; ;) {
    const { rows } = await client.query<Record<string, unknown>>(text, [after]);
    for (const row of rows) stream.write(`${JSON.stringify(row)}\n`);
    const last = rows.at(-1);
    if (!last) break;
    after = keyOf(last);
  }
  stream.end();
  await once(stream, 'finish');
}
