import type { JobState } from '../../../src/core/job/job.ts';
import type { Db, Statement } from '../../../src/store/connection/db.ts';
import { tableOf } from '../checks/raw-rows.ts';
import { isOwned, isRated, type ModelJob } from './model.ts';

/** A row of a table as PostgreSQL writes it in JSON: times are text with microseconds. */
export type Row = Record<string, unknown>;

/** All that the database has about one job. */
export interface JobRow {
  id: string;
  body: Row;
  /** Which of the three tables has its narrow row. A job in two of them is here twice. */
  table: 'waiting' | 'running' | 'done';
  narrow: Row & { state: JobState; seq?: number | null };
  tried: Row[];
  /** Microseconds, so that moments can be compared. */
  runAt: number | null;
  waitMs: number | null;
  due: boolean | null;
}

export interface Rows {
  /** When they were read, by the database's clock, in microseconds. */
  at: number;
  jobs: JobRow[];
  /** The jobs that hooks are; they are not among `jobs`. */
  hooks: JobRow[];
  limiters: { name: string; inUse: number; blocked: number; tokens: number | null }[];
  keys: { scope: string; key: string; job_id: string }[];
  workers: (Row & { instance: string })[];
}

/** One statement, so all of it is of one moment. A narrow row without a body would be seen too. */
const READ: Statement<Rows> = {
  name: 'model_rows',
  text: `
  with narrow as (
    select id, 'waiting' as "table", run_at, row_to_json(w) as row from longshore.waiting w
    union all
    select id, 'running', null, row_to_json(r) from longshore.running r
    union all
    select id, 'done', null, row_to_json(f) from longshore.done f
  ),
  job as (
    select id, row_to_json(j) as body, n."table", n.row as narrow,
      coalesce(a.tried, '[]') as tried,
      (extract(epoch from n.run_at) * 1000000)::float8 as "runAt",
      (extract(epoch from n.run_at - coalesce(a.last, j.created_at)) * 1000)::float8 as "waitMs",
      n.run_at <= clock_timestamp() as due
    from longshore.job j full join narrow n using (id)
    left join lateral (
      select json_agg(row_to_json(t) order by claim_no) as tried, max(finished_at) as last
      from longshore.attempt t where t.job_id = id
    ) a on true
  )
  select (extract(epoch from clock_timestamp()) * 1000000)::float8 as at,
    (select coalesce(json_agg(job order by id), '[]') from job) as jobs,
    (select coalesce(json_agg(json_build_object('name', coalesce(g.name, k.key), 'inUse', g.in_use,
        'blocked', g.blocked, 'tokens',
        floor(longshore.tokens_at(g.rate, g.tokens, g.refilled_at, clock_timestamp())))), '[]')
      from longshore.limiter g left join (values ('p'), ('q')) as k(key)
        on g.limiter = longshore.limiter_of('key', E'a\\nkeyed\\n' || k.key)) as limiters,
    (select coalesce(json_agg(d order by scope, key), '[]') from longshore.dedupe d) as keys,
    (select coalesce(json_agg(k order by instance), '[]') from longshore.worker k) as workers`,
};

export async function readRows(db: Db): Promise<Rows> {
  const [rows] = await db.run(READ);
  if (!rows) throw new Error('no answer');
  const isHook = ({ body }: JobRow) => (body['hook'] ?? null) !== null;
  return {
    ...rows,
    jobs: rows.jobs.filter((row) => !isHook(row)),
    hooks: rows.jobs.filter(isHook),
  };
}

/** What both sides say of a job, in one shape. */
export function pictureOfRow({ table, narrow, tried, waitMs, due }: JobRow): unknown {
  return {
    table,
    state: narrow.state,
    queue: narrow['queue'],
    rank: narrow['rank'],
    attempts: narrow['attempts'],
    maxAttempts: narrow['max_attempts'],
    failsUnserved: narrow['fails_unserved'] ?? false,
    watched: narrow['watched'] ?? false,
    waitsFor: narrow['waits_for'] ?? null,
    claim: narrow['claim_no'],
    interruptions: narrow['interruptions'],
    inLine: (narrow.seq ?? null) !== null,
    blocked: (narrow['blocked'] ?? null) !== null,
    permits: narrow['has_permit'] === true ? 1 : ((narrow['permits'] ?? []) as unknown[]).length,
    waitMs,
    due,
    worker: narrow['worker'] ?? null,
    cancelRequested: (narrow['cancel_requested_at'] ?? null) !== null,
    progress: [narrow['progress_fraction'] ?? null, narrow['progress_message'] ?? null],
    result: narrow['result'] ?? null,
    errorCode: narrow['error_code'] ?? null,
    error: narrow['error'] ?? null,
    usage: usageOf(narrow),
    tried: tried.map((row) => ({
      claim: row['claim_no'],
      number: row['number'],
      worker: row['worker'],
      usage: usageOf(row),
      errorCode: row['error_code'],
      error: row['error'],
    })),
  };
}

export function pictureOfJob(job: ModelJob, anyNumber: unknown): unknown {
  const { runAt, progress } = job;
  return {
    table: tableOf(job.state),
    state: job.state,
    queue: job.queue,
    rank: job.priority === 0 ? 0 : -job.priority,
    attempts: job.attempts,
    maxAttempts: job.maxAttempts,
    failsUnserved: job.failsUnserved && tableOf(job.state) !== 'done',
    watched: job.watched && tableOf(job.state) !== 'done',
    waitsFor: job.waitsFor,
    claim: job.claim,
    interruptions: job.interruptions,
    inLine: job.position !== null,
    blocked: job.blocked !== null,
    permits: job.hasPermit || (isOwned(job) && isRated(job)) ? 1 : 0,
    waitMs: runAt ? (runAt.waitMs ?? anyNumber) : null,
    due: runAt?.due ?? null,
    worker: job.worker,
    cancelRequested: job.cancelRequested,
    progress: [progress?.fraction ?? null, progress?.message ?? null],
    result: job.result,
    errorCode: job.error?.code ?? null,
    error: errorOf(job.error),
    usage: job.usage,
    tried: job.tried.map(({ error, ...one }) => ({
      ...one,
      errorCode: error?.code ?? null,
      error: errorOf(error),
    })),
  };
}

function usageOf(row: Row): unknown {
  return {
    pid: row['pid'] ?? null,
    exitCode: row['exit_code'] ?? null,
    signal: row['signal'] ?? null,
    peakRssBytes: row['peak_rss_bytes'] ?? null,
    cpuMs: row['cpu_ms'] ?? null,
  };
}

/** An error as it is stored and shown. */
export function errorOf(error: ModelJob['error']) {
  return error ? { ...error, stack: null, cause: null } : null;
}
