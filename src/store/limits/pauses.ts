import type { PauseView } from '../../core/queue/limit-view.ts';
import { DEFAULT_TENANT } from '../../core/access/scope.ts';
import { type Actor, audited, type AuditEntry } from '../access/audit.ts';
import { piece } from '../connection/backend.ts';
import { type Db, type Queryable, statement } from '../connection/db.ts';
import { lockQueues } from './install-limits.ts';
import { notifyWorkers } from './sync-limits.ts';

/**
 * Pauses of everything, a tenant, or a definition with all its versions. No claim that begins
 * after the pause takes a job of it; running jobs finish, and new jobs are accepted and wait. The
 * hooks of a paused definition run, because their jobs have ended; those of a paused tenant wait.
 *
 * A queue can be under several pauses, and resumes when the last one ends. Pauses are rows; each
 * queue stores the result, which is all that a claim reads.
 */

export type PauseTarget =
  { scope: 'all' } | { scope: 'tenant'; name: string } | { scope: 'definition'; name: string };

export interface Pause {
  scope: PauseTarget['scope'];
  /** Empty for everything. */
  name: string;
  by: string | null;
  reason: string | null;
  since: Date;
}

const BEFORE = statement<Pause>(
  'pause_before',
  `select scope, name, paused_by as by, reason, paused_at as since from longshore.pause
   where scope = $1 and name = $2`,
);

/** A second pause changes actor and reason if it has a reason, and never the start. */
const PAUSE = statement<Pause>(
  'pause',
  `insert into longshore.pause (scope, name, paused_by, reason, paused_at)
   values ($1, $2, $3, $4, clock_timestamp())
   on conflict (scope, name) do update
     set paused_by = case when excluded.reason is null then pause.paused_by
         else excluded.paused_by end,
       reason = coalesce(excluded.reason, pause.reason)
   returning scope, name, paused_by as by, reason, paused_at as since`,
);

const RESUME = statement<Pause>(
  'resume',
  `delete from longshore.pause where scope = $1 and name = $2
   returning scope, name, paused_by as by, reason, paused_at as since`,
);

const LIST = statement<Pause>(
  'list_pauses',
  `select scope, name, paused_by as by, reason, paused_at as since from longshore.pause
   order by paused_at, scope, name`,
);

/** What `longshore.paused_since` says, which Citus does not call for a queue. */
const SINCE = piece(
  'longshore.paused_since(q.tenant, q.key)',
  `(select min(p.paused_at) from longshore.pause p
    where p.scope = 'all' or (p.scope = 'tenant' and p.name = q.tenant)
      or (p.scope = 'definition' and p.name = q.key))`,
);

const MARK_QUEUES = statement<{ queue: number }>(
  'mark_paused_queues',
  `with paused as materialized (
     select q.queue, ${SINCE} as since, clock_timestamp() as at from longshore.queue q
     where q.shard = $1
   )
   update longshore.queue q
   set paused_at = p.since, resumed_at = case when p.since is null then p.at end
   from paused p
   where q.shard = $1 and q.queue = p.queue and q.paused_at is distinct from p.since
   returning q.queue`,
);

export async function pause(
  db: Db,
  target: PauseTarget,
  by: Actor | null,
  reason: string | null,
): Promise<{ pause: Pause; before: Pause | null }> {
  const key = [target.scope, nameOf(target)];
  const write = async (tx: Queryable) => {
    const [before = null] = await tx.run(BEFORE, key);
    const [made] = await tx.run(PAUSE, [...key, by?.name ?? null, reason]);
    if (!made) throw new Error('the pause was not stored');
    return { pause: made, before };
  };
  return await change(db, by, write, ({ pause: made, before }) => {
    if (before && reason === null) return null;
    const entry = { ...auditEntryOf(target, 'pause'), after: { reason: made.reason } };
    return before ? { ...entry, before: { reason: before.reason } } : entry;
  });
}

/** Returns the pause that ended; null when there was none. */
export async function resume(
  db: Db,
  target: PauseTarget,
  by: Actor | null = null,
): Promise<Pause | null> {
  const values = [target.scope, nameOf(target)];
  const entry = auditEntryOf(target, 'resume');
  const write = async (tx: Queryable) => (await tx.run(RESUME, values))[0] ?? null;
  return await change(db, by, write, (over) => over && entry);
}

export async function listPauses(db: Queryable): Promise<Pause[]> {
  return await db.run(LIST);
}

/** The pause as the API shows it; the actor only to its own tenant. */
export function pauseView(
  { scope, name, by, reason, since }: Pause,
  showActor: boolean,
): PauseView {
  const actor = showActor ? by : null;
  return { scope, name: name || null, by: actor, reason, since: since.toISOString() };
}

async function change<Result>(
  db: Db,
  by: Actor | null,
  write: (tx: Queryable) => Promise<Result>,
  auditEntry: (result: Result) => AuditEntry | null,
): Promise<Result> {
  const result = await db.transaction(async (tx) => {
    await lockQueues(tx);
    const changed = await audited(tx, by, write, auditEntry);
    for (let shard = 0; shard < db.shards; shard += 1) await tx.run(MARK_QUEUES, [shard]);
    return changed;
  });
  await notifyWorkers(db);
  return result;
}

/** A pause of everything is in the audit log of the default tenant. */
function auditEntryOf(target: PauseTarget, verb: 'pause' | 'resume'): AuditEntry {
  return {
    tenant: target.scope === 'tenant' ? target.name : DEFAULT_TENANT,
    action: `${target.scope}.${verb}`,
    subject: nameOf(target) || 'all',
  };
}

function nameOf(target: PauseTarget): string {
  return target.scope === 'all' ? '' : target.name;
}
