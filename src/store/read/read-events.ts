import { isTerminal, type JobState } from '../../core/job/job.ts';
import { isJobId, shardOfJobId } from '../../core/job/job-id.ts';
import { parsePosition } from '../../core/views/history-position.ts';
import type { EventView } from '../../core/views/history.ts';
import {
  type AttemptRecord,
  HOOK_EVENTS_MAX,
  type ManualRetry,
  emittedAfter,
  type HistoryRows,
  type SignalRecord,
  buildHistory,
} from '../../core/views/history-events.ts';
import { piece } from '../connection/backend.ts';
import { type Queryable, statement } from '../connection/db.ts';
import type { Vault } from '../connection/vault.ts';

export interface EventPage {
  events: EventView[];
  /** The last id of the page if more events can be read now. */
  nextId: string | null;
  /** Job and hooks have ended and this is the last page: no event will follow. */
  ended: boolean;
}

/** The id of an event is its position in the history (`core/views/history-events.ts`). */
export function isEventId(text: string): boolean {
  return parsePosition(text) !== null;
}

interface SignalRow {
  claim: number;
  name: string;
  at: string;
  value: unknown;
  by: string | null;
}

interface EventRows extends Omit<HistoryRows, 'signals'> {
  state: JobState;
  signalled: readonly SignalRow[];
}

/**
 * A page with more text than this ends early: later events are read without their content. The
 * claim of the cursor and the next one are always read, so that every page makes progress.
 */
export const PAGE_CHARS_MAX = 1024 * 1024;

/** The user who sent a signal. The audit log is on no node of Citus, so it is read first there. */
const actorIn = (
  rows: string,
) => `(select a.actor from ${rows} and 'signal:' || (a.after ->> 'signal') = s.name
             order by a.id desc limit 1)`;
const SIGNALS = `longshore.audit a
             where a.tenant = $3 and a.subject = $2::uuid::text and a.action = 'job.signal'`;
const SIGNALLERS = piece('', `with told as materialized (select a.* from ${SIGNALS}) `);
const ACTOR = piece(actorIn(SIGNALS), actorIn('told a where true'));

/**
 * The rows from which the history is derived, from one claim on. One statement is one snapshot, in
 * which the job is in exactly one table. Every ended claim has at least two events, so a page
 * needs at most as many claims as events; events that the job emitted are read in order, from the
 * cursor on.
 */
const READ = statement<EventRows>(
  'read_events',
  `${SIGNALLERS}select to_json(j.created_at) as "createdAt",
     coalesce(
       (select state from longshore.waiting where shard = $1 and id = $2),
       (select state from longshore.running where shard = $1 and id = $2),
       (select state from longshore.done where shard = $1 and id = $2)) as state,
     coalesce((
       select json_agg(c) from (
         select claim, attempt, "workerId", "queuedAt", "startedAt", "cancelRequestedAt",
           "cancelRequestedBy", "finishedAt", next, "runAt", "waitsFor",
           case when not beyond then error end as error,
           case when not beyond then retried end as retried, beyond
         from (
           select a.*, row_number() over (order by a.claim) > 2
             and sum(a.size) over (order by a.claim) - a.size >= ${PAGE_CHARS_MAX} as beyond
           from (
             select claim_no as claim, case when started_at is not null then number end as attempt,
               worker as "workerId", queued_at as "queuedAt", started_at as "startedAt",
               cancel_requested_at as "cancelRequestedAt",
               cancel_requested_by as "cancelRequestedBy", finished_at as "finishedAt", next,
               run_at as "runAt", waits_for as "waitsFor", error, retried,
               coalesce(length(error::text), 0) + coalesce(length(retried::text), 0) as size
             from longshore.attempt where shard = $1 and job_id = $2 and claim_no >= $4
             order by claim_no limit $5
           ) a
         ) a
         union all
         select claim_no, attempts, worker, queued_at, started_at, cancel_requested_at,
           cancel_requested_by, null, null, null, null, null, null, false
         from longshore.running where shard = $1 and id = $2
         union all
         select claim_no, attempts, worker, queued_at, started_at, cancel_requested_at,
           cancel_requested_by, finished_at, state, null, null, null, null, false
         from longshore.done where shard = $1 and id = $2 and state = 'succeeded'
         union all
         select claim_no + 1, null, null, queued_at, null, null, null, null, null, null, null, null,
           null, false
         from longshore.waiting where shard = $1 and id = $2
         union all
         select claim_no + 1, null, null, queued_at, null, cancel_requested_at,
           cancel_requested_by, finished_at, state, null, null, error, null, false
         from longshore.done where shard = $1 and id = $2 and started_at is null
       ) c
     ), '[]') as attempts,
     coalesce((
       select json_agg(s) from (
         select claim, n, attempt, type, cancelling, at,
           case when not beyond then payload end as payload, beyond
         from (
           select e.*, sum(length(e.payload::text)) over (order by e.claim, e.n)
             - length(e.payload::text) >= ${PAGE_CHARS_MAX} as beyond
           from (
             select claim_no as claim, n, attempt, type, cancelling, at, payload
             from longshore.event
             where shard = $1 and job_id = $2 and (claim_no, n) > ($6::int, $7::int)
               and (cancelling or claim_no > $6 or not $8::boolean)
             order by claim_no, n limit $5
           ) e
         ) s
       ) s
     ), '[]') as emitted,
     coalesce((
       select json_agg(h) from (
         select k.id as "jobId", k.hook, k.created_at as "madeAt", f.state as status,
           f.finished_at as "finishedAt", f.error, coalesce((
             select json_agg(e) from (
               select e.at, e.payload from longshore.event e
               where e.shard = $1 and e.job_id = k.id and e.type = 'custom'
               order by e.claim_no, e.n limit ${HOOK_EVENTS_MAX}
             ) e
           ), '[]') as emitted
         from longshore.job k
         left join lateral (
           select * from longshore.done where shard = $1 and id = k.id limit 1
         ) f on true
         where k.shard = $1 and k.parent_id = $2 and k.hook is not null
       ) h
     ), '[]') as hooks,
     coalesce((
       select json_agg(s) from (
         select s.claim_no as claim, s.name, s.at,
           case when s.name like 'reject:%' then s.value end as value,
           ${ACTOR} as by
         from longshore.step s
         where s.shard = $1 and s.job_id = $2 and s.claim_no >= $4
           and (s.name like 'signal:%' or s.name like 'reject:%')
         order by s.at, s.name limit 1000
       ) s
     ), '[]') as signalled
   from longshore.job j
   where j.shard = $1 and j.id = $2
     and (select tenant from longshore.queue q where q.shard = $1 and q.queue = j.queue) = $3`,
);

/** Null when this tenant has no such job. */
export async function readEvents(
  db: Queryable,
  tenant: string,
  jobId: string,
  { afterId, limit }: { afterId: string | null; limit: number },
): Promise<EventPage | null> {
  if (!isJobId(jobId)) return null;
  const after = (afterId === null ? null : parsePosition(afterId)) ?? null;
  const emitted = emittedAfter(after);
  // One for the claim of the cursor, and one to detect a next page.
  const rowsMax = limit + 2;
  const from = [after?.[0] ?? 0, rowsMax, emitted.claim, emitted.n, emitted.stopping];
  const [rows] = await db.run(READ, [shardOfJobId(jobId), jobId, tenant, ...from]);
  if (!rows) return null;
  const attempts = rows.attempts.map((attempt) => readable(db.vault, tenant, attempt));
  const signals = rows.signalled.map((row) => signalOf(db.vault, tenant, row));
  const { events, more } = buildHistory({ ...rows, attempts, signals }, after, limit);
  const over = isTerminal(rows.state) && rows.hooks.every(({ status }) => status !== null);
  return { events, nextId: (more ? events.at(-1)?.id : null) ?? null, ended: over && !more };
}

function signalOf(vault: Vault, tenant: string, row: SignalRow): SignalRecord {
  const { claim, name, at, by, value } = row;
  const rejected = value === null ? null : vault.show(tenant, value);
  // Such as `signal:NAME` or `reject:NAME:CLAIM`.
  return { claim, signal: name.split(':')[1] ?? '', at, by, rejected };
}

function readable(vault: Vault, tenant: string, attempt: AttemptRecord): AttemptRecord {
  const { retried } = attempt;
  return retried ? { ...attempt, retried: vault.show(tenant, retried) as ManualRetry } : attempt;
}
