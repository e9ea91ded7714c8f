import { Client } from 'pg';
import type { JobError } from '../../src/core/job/job.ts';
import { Queues } from '../../src/store/enqueue/queues.ts';
import type { TestDatabase } from './servers/database.ts';

export interface Mistake {
  fingerprint: string;
  code: string;
  message: string;
  cause?: JobError;
}

export interface ManyDeadLetters {
  key: string;
  version?: number;
  tenant?: string;
  count: number;
  mistakes: readonly Mistake[];
  params?: unknown;
}

const FILL = `
  set local session_replication_role = replica;
  create temporary table made on commit drop as
  select longshore.new_job_id(0::smallint) as id, n from generate_series(1, $COUNT) n;
  insert into longshore.job (shard, id, queue, params, created_at)
  select 0, id, $QUEUE, '$PARAMS', clock_timestamp() from made;
  insert into longshore.done (shard, id, queue, state, rank, attempts, max_attempts, claim_no,
    interruptions, queued_at, worker, started_at, finished_at, error_code, fingerprint, error)
  select 0, id, $QUEUE, 'failed', 0, 1, 1, 1, 0, now(), gen_random_uuid(), now(),
    clock_timestamp(), e.code, e.fingerprint,
    json_build_object('code', e.code, 'message', e.message, 'stack', null, 'cause', e.cause)
  from made join (
    select m.*, row_number() over () - 1 as n
    from json_to_recordset('$MISTAKES') as m(code text, fingerprint text, message text, cause json)
  ) e on e.n = made.n % $KINDS`;

/** Dead letters by plain SQL, past the guard triggers: through the front door they take too long. */
export async function manyDeadLetters(
  { url, db }: TestDatabase,
  { key, version = 1, tenant = 'default', count, mistakes, params = {} }: ManyDeadLetters,
): Promise<void> {
  const { queue } = await new Queues(db, 1).resolve(tenant, key, version);
  const text = FILL.replaceAll('$COUNT', String(count))
    .replaceAll('$QUEUE', String(queue))
    .replaceAll('$KINDS', String(mistakes.length))
    .replaceAll('$PARAMS', JSON.stringify(params))
    .replaceAll('$MISTAKES', JSON.stringify(mistakes));
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(`begin; ${text}; commit`);
  } finally {
    await client.end();
  }
}

export const SLOW: Mistake = { fingerprint: 'f-slow', code: 'TIMEOUT', message: 'too slow' };
export const GONE: Mistake = { fingerprint: 'f-gone', code: 'NOT_FOUND', message: 'Order is gone' };
export const VAT = {
  fingerprint: 'f-vat',
  code: 'TIMEOUT',
  message: 'row 19 could not be imported',
  stack: null,
  cause: {
    code: 'HANDLER_ERROR',
    message: 'batch 4 was refused',
    stack: 'stack of the cause',
    cause: {
      code: 'HANDLER_ERROR',
      message: 'column "vat_id" does not exist',
      stack: null,
      cause: null,
    },
  },
};
export const BROKEN: Mistake = { fingerprint: 'f-broken', code: 'HANDLER_ERROR', message: 'boom' };
