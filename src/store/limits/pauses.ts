import type { PauseView } from '../../core/queue/limit-view.ts';
import { HOST_TENANT } from '../../core/access/scope.ts';
import { type Actor, audited, type AuditEntry } from '../access/audit.ts';
import { type Db, type Queryable, statement } from '../connection/db.ts';
import { lockQueues } from './install-limits.ts';
import { tellWorkers } from './sync-limits.ts';

/**
 * What is paused: everything, a tenant, or a definition with all its versions. No claim that begins
 * after the pause takes a job of it; what runs goes on to its end, and jobs still come in and wait.
 * The hooks of a paused definition run, since they belong to jobs that have ended; those of a paused
 * tenant wait like all else of it.
 *
 * A queue can be paused for several reasons, and goes on when the last of them is gone. The reasons are
 * rows that people write; each queue has the sum of them, which is all that a claim looks at.
 */

export type PauseTarget =
  { scope: 'all' } | { scope: 'tenant'; name: string } | { scope: 'definition'; name: string };

export interface Pause {
  scope: PauseTarget['scope'];
  /** Empty when everything is paused. */
  name: string;
  by: string | null;
  reason: string | null;
  since: Date;
}

/** To pause what is paused changes the reason, not since when. */
const PAUSE = statement<Pause>(
  'pause',
  `insert into longshore.pause (scope, name, paused_by, reason, paused_at)
   values ($1, $2, $3, $4, clock_timestamp())
   on conflict (scope, name) do update
     set paused_by = excluded.paused_by, reason = excluded.reason
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

const MARK_QUEUES = statement<{ queue: number }>(
  'mark_paused_queues',
  `update longshore.queue l set paused_at = longshore.paused_since(l.tenant, l.key)
   where l.shard = $1 and l.paused_at is distinct from longshore.paused_since(l.tenant, l.key)
   returning l.queue`,
);

export async function pause(
  db: Db,
  target: PauseTarget,
  by: Actor | null,
  reason: string | null,
): Promise<Pause> {
  const values = [target.scope, nameOf(target), by?.name ?? null, reason];
  const after = { reason };
  const [row] = await change(db, by, async (tx) => tx.run(PAUSE, values), {
    ...auditEntryOf(target, 'pause'),
    after,
  });
  if (!row) throw new Error('the pause was not stored');
  return row;
}

/** Answers with the pause that is over; null when there was none. */
export async function resume(
  db: Db,
  target: PauseTarget,
  by: Actor | null = null,
): Promise<Pause | null> {
  const values = [target.scope, nameOf(target)];
  const entry = auditEntryOf(target, 'resume');
  const [row] = await change(db, by, async (tx) => tx.run(RESUME, values), entry);
  return row ?? null;
}

export async function listPauses(db: Queryable): Promise<Pause[]> {
  return await db.run(LIST);
}

/** As people see it; who did it is told to those whom it concerns. */
export function pauseView({ scope, name, by, reason, since }: Pause, tellWho: boolean): PauseView {
  const who = tellWho ? by : null;
  return { scope, name: name || null, by: who, reason, since: since.toISOString() };
}

async function change(
  db: Db,
  by: Actor | null,
  write: (tx: Queryable) => Promise<Pause[]>,
  entry: AuditEntry,
): Promise<Pause[]> {
  const rows = await db.transaction(async (tx) => {
    await lockQueues(tx);
    const changed = await audited(tx, by, write, (found) => (found.length > 0 ? entry : null));
    for (let shard = 0; shard < db.shards; shard += 1) await tx.run(MARK_QUEUES, [shard]);
    return changed;
  });
  await tellWorkers(db);
  return rows;
}

/** What concerns everybody is in the log of the host. */
function auditEntryOf(target: PauseTarget, verb: 'pause' | 'resume'): AuditEntry {
  return {
    tenant: target.scope === 'tenant' ? target.name : HOST_TENANT,
    action: `${target.scope}.${verb}`,
    subject: nameOf(target) || 'all',
  };
}

function nameOf(target: PauseTarget): string {
  return target.scope === 'all' ? '' : target.name;
}
