import { OMITTED_MESSAGE_MAX } from '../../core/dependency/dependency.ts';
import type { JobError, TerminalState } from '../../core/job/job.ts';
import { shardOfJobId } from '../../core/job/job-id.ts';
import { type Queryable, type Statement, statement } from '../connection/db.ts';

/** How a job ended that another one waited for. */
export interface StoredOutcome {
  id: string;
  state: TerminalState;
  /** As stored, so maybe sealed; null unless it succeeded and is still stored. */
  resultJson: string | null;
  error: JobError | null;
  /** There was no room: it has a result that is not loaded, or its error is shortened. */
  omitted?: true | undefined;
}

type Stored = Pick<StoredOutcome, 'id' | 'resultJson' | 'error'>;
type Ended = Pick<StoredOutcome, 'id' | 'state'>;

/**
 * The most bytes that are loaded of the outcomes of one job. What reaches the job has at most 8 million
 * characters (`core/dependency/dependency.ts`); sealed values are a third longer.
 */
const STORED_MAX_BYTES = 12_000_000;
/** So few fit for certain, whatever their size: a stored result has at most 1 MiB. */
const FIT_SURELY = 8;
/** Outcomes whose sizes are asked for at once: the database reads them for that. */
const PAGE_FIRST = 100;
const PAGE_MAX = 2_000;

const SIZES = statement<{ id: string; bytes: number }>(
  'sizes_of_outcomes',
  `select f.id, f.bytes from unnest($2::uuid[]) as u(id)
   cross join lateral (
     select id, coalesce(octet_length(result::text), 0) + coalesce(octet_length(error::text), 0) as bytes
     from longshore.done where shard = $1 and id = u.id limit 1
   ) f`,
);

const OUTCOMES = statement<Stored>(
  'outcomes_of_jobs',
  `select f.id, f.result::text as "resultJson", f.error from unnest($2::uuid[]) as u(id)
   cross join lateral (
     select id, result, error from longshore.done where shard = $1 and id = u.id limit 1
   ) f`,
);

const BRIEFLY = statement<{
  id: string;
  hasResult: boolean;
  code: JobError['code'] | null;
  message: string;
}>(
  'outcomes_without_values',
  `select f.id, f."hasResult", f.code, f.message from unnest($2::uuid[]) as u(id)
   cross join lateral (
     select id, (pg_column_size(result) > 8 or result::text <> 'null') is true as "hasResult", error ->> 'code' as code,
       left(error ->> 'message', ${OMITTED_MESSAGE_MAX}) as message
     from longshore.done where shard = $1 and id = u.id limit 1
   ) f`,
);

/**
 * The outcomes of jobs that have ended, in their order. The first ones are whole, until one does not
 * fit; that one and all after it have no result. So a job with many large ones gets the same each time,
 * and the others are never read.
 */
export async function loadOutcomes(
  db: Queryable,
  ended: readonly Ended[],
  maxBytes = STORED_MAX_BYTES,
): Promise<StoredOutcome[]> {
  const whole: Ended[] = [];
  const stored = new Map<string, Omit<StoredOutcome, 'state'>>();
  let room = maxBytes;
  let isFull = false;
  while (!isFull && whole.length < ended.length) {
    const rest = ended.length - whole.length;
    const page = ended.slice(
      whole.length,
      whole.length + pageOf(whole.length, maxBytes - room, room),
    );
    const fitting: Ended[] = [];
    const sizes = rest <= FIT_SURELY && whole.length === 0 ? null : await ofEach(db, SIZES, page);
    for (const one of page) {
      const bytes = sizes?.get(one.id)?.bytes ?? 0;
      isFull ||= bytes > room;
      if (isFull) break;
      room -= bytes;
      fitting.push(one);
    }
    for (const [id, outcome] of await ofEach(db, OUTCOMES, fitting)) stored.set(id, outcome);
    whole.push(...fitting);
  }
  for (let at = whole.length; at < ended.length; at += PAGE_MAX) {
    const rows = await ofEach(db, BRIEFLY, ended.slice(at, at + PAGE_MAX));
    for (const { id, hasResult, code, message } of rows.values()) {
      const error = code === null ? null : { code, message, stack: null, cause: null };
      const isOmitted = hasResult || error !== null;
      stored.set(id, { id, resultJson: null, error, ...(isOmitted && { omitted: true }) });
    }
  }
  const gone = { resultJson: null, error: null };
  return ended.map((one) => ({ ...gone, ...stored.get(one.id), ...one }));
}

/** As many as probably fit, by the size of those before. */
function pageOf(loaded: number, bytes: number, room: number): number {
  if (loaded === 0) return PAGE_FIRST;
  const fitting = Math.floor((room * loaded) / Math.max(1, bytes));
  return Math.min(PAGE_MAX, Math.max(PAGE_FIRST, fitting));
}

/** The rows of these jobs, by id. */
async function ofEach<Row extends { id: string }>(
  db: Queryable,
  query: Statement<Row>,
  jobs: readonly Ended[],
): Promise<Map<string, Row>> {
  const rows = new Map<string, Row>();
  for (const [of, here] of Map.groupBy(jobs, (one) => shardOfJobId(one.id))) {
    const ids = here.map((one) => one.id);
    for (const row of await db.run(query, [of, ids])) rows.set(row.id, row);
  }
  return rows;
}
