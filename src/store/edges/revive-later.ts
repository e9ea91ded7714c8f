import { retryFollowers } from '../change/retry-jobs.ts';
import { inTransaction, type Queryable, statement } from '../connection/db.ts';
import { withPartitions } from '../connection/partitions.ts';
import { filterOnly } from '../connection/planner.ts';
import {
  limitStatements,
  resolveEnded,
  type Resolved,
  type ResolveOptions,
} from './resolve-ended.ts';
import { REVIVED_AT_ONCE, reviveThese, revivalBudget } from './revive-followers.ts';
import { tellEnded, watchParent } from './watch-parents.ts';

/**
 * Revives the followers of a retried job that has very many: one transaction revives those with the next
 * ids and notes how far it came. The retry of the job has written the row, so a process that dies leaves
 * the rest to another one.
 *
 * The job goes on between these transactions. If it succeeds, the followers that are revived after its end
 * get that end, too. If it does not, the others stay failed, because of the same job. It is locked first, so
 * that its end comes before or after this transaction. Nothing else waits for a lock of the row: no deadlock.
 *
 * Claims skip a locked row, so a queued job cannot be claimed meanwhile. While it is queued, few followers are
 * revived at a time, with a pause in which it can be claimed.
 */

/** Of a queued job. */
const AT_ONCE_OF_QUEUED = 100;
export const REVIVAL_PAUSE_MS = 100;

export interface Revived extends Resolved {
  /** More followers of a queued job are left: the next call comes after `REVIVAL_PAUSE_MS`. */
  pauses: boolean;
}

const TAKE = statement<{ id: string; revivedTo: string }>(
  'take_revival',
  `select e.id, e.revived_to as "revivedTo" from longshore.ended_watched e
   where e.shard = $1 and e.state is null and ${filterOnly('e.id <> all ($2::uuid[])')}
   order by e.id limit 1 for update skip locked`,
);

const NEXT = statement<{ shard: number; id: string }>(
  'next_followers',
  `select e.shard, e.id from (
     select e.shard, e.job_id as id from longshore.edge e
     where e.on_shard = $1 and e.on_id = $2 and e.job_id > $3
       and ${filterOnly("e.kind = 'after' and e.ended is not null")}
   ) e
   order by e.id limit $4`,
);

const NOTE = statement<{ id: string }>(
  'note_revival',
  `update longshore.ended_watched set revived_to = $4
   where shard = $1 and id = $2 and revived_to = $3 and state is null
   returning id`,
);

const END = statement<{ id: string }>(
  'end_revival',
  `delete from longshore.ended_watched
   where shard = $1 and id = $2 and revived_to = $3 and state is null
   returning id`,
);

/** Takes ends of this shard, and revives a part of the followers of a retried job. */
export async function resolveAndRevive(
  db: Queryable & { shards?: number },
  shard: number,
  limit: number,
  options: ResolveOptions = {},
): Promise<Revived> {
  const resolved = await resolveEnded(db, shard, limit, options);
  if (!resolved.revival) return { ...resolved, pauses: false };
  // The ends that were taken are done with: a failure from here on is not theirs.
  options.onTaken?.([]);
  const { more, pauses } = await withPartitions(db, async () =>
    inTransaction(db, async (tx) => {
      await limitStatements(db, tx);
      return await reviveNext(tx, shard, options);
    }),
  );
  return { ...resolved, more: resolved.more || more, pauses };
}

/** There is nothing to do when another process does it. */
async function reviveNext(
  tx: Queryable,
  shard: number,
  { skipped = [], onTaken }: ResolveOptions,
): Promise<{ more: boolean; pauses: boolean }> {
  const [taken] = await tx.run(TAKE, [shard, skipped]);
  if (!taken) return { more: false, pauses: false };
  const { id, revivedTo } = taken;
  onTaken?.([id]);
  const state = await watchParent(tx, id);
  const over = state === null || state === 'failed' || state === 'cancelled';
  const isQueued = state === 'queued';
  const atOnce = isQueued ? AT_ONCE_OF_QUEUED : REVIVED_AT_ONCE;
  const followers = over ? [] : await tx.run(NEXT, [shard, id, revivedTo, atOnce]);
  await reviveThese(tx, [id], followers, revivalBudget(), retryFollowers);
  if (state === 'succeeded') await tellEnded(tx, shard, [{ id, state }]);
  const last = followers.at(-1);
  const isLast = !last || followers.length < atOnce;
  if (isLast) await tx.run(END, [shard, id, revivedTo]);
  else await tx.run(NOTE, [shard, id, revivedTo, last.id]);
  const pauses = isQueued && !isLast;
  return { more: !pauses, pauses };
}
