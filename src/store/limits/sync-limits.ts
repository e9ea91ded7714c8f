import {
  effectiveLimits,
  type Limits,
  type LimitsOverride,
  NO_LIMITS,
  requireDivisible,
  shareOf,
} from '../../core/queue/limits.ts';
import { type Db, type Queryable, statement } from '../connection/db.ts';
import { installLimits, type LimitScope, lockQueues } from './install-limits.ts';
import { adopt } from './sweep-limiters.ts';
import { QUEUES_CHANGED, sendWakeHint } from '../connection/wake.ts';

/** What code and people say about something, as it is stored. */
export interface LimitWords {
  name: string;
  code: Limits;
  override: LimitsOverride;
  changedBy: string | null;
  changedAt: Date | null;
}

interface WordsRow {
  name: string;
  code: Partial<Limits> | null;
  override: LimitsOverride | null;
  changed_by: string | null;
  changed_at: Date | null;
}

/**
 * Of a definition the highest version counts, since its limits are those of all of them. In the order
 * in which limiters are locked.
 */
const READ_WORDS = statement<WordsRow>(
  'read_limit_words',
  `select n.name, d.code, o.limits as override, o.changed_by, o.changed_at
   from unnest($2::text[]) as n(name)
   left join lateral (
     select info -> 'limits' as code from longshore.definition
     where $1 = 'definition' and key = n.name order by version desc limit 1
   ) d on true
   left join longshore.limit_override o on o.scope = $1 and o.name = n.name
   order by longshore.limiter_of($1, n.name)`,
);

export async function readLimitWords(
  db: Queryable,
  scope: LimitScope,
  names: readonly string[],
): Promise<LimitWords[]> {
  const rows = await db.run(READ_WORDS, [scope, names]);
  return rows.map(({ name, code, override, changed_by: by, changed_at: at }) => ({
    name,
    code: { ...NO_LIMITS, ...code },
    override: override ?? {},
    changedBy: by,
    changedAt: at,
  }));
}

const HAVE_LIMITERS = statement<{ name: string }>(
  'have_limiters',
  `select n.name from unnest($3::text[]) as n(name)
   cross join lateral (
     select 1 from longshore.limiter
     where shard = $1 and limiter = longshore.limiter_of($2, n.name) limit 1
   ) g`,
);

/** Puts what a worker has just published into force. Definitions without limits cost two looks. */
export async function syncLimits(db: Db, keys: readonly string[]): Promise<void> {
  const known = new Set<string>();
  for (let shard = 0; shard < db.shards; shard += 1) {
    for (const { name } of await db.run(HAVE_LIMITERS, [shard, 'definition', keys]))
      known.add(name);
  }
  const limited = (await readLimitWords(db, 'definition', keys)).filter(
    ({ name, code, override }) =>
      known.has(name) || Object.values(effectiveLimits(code, override)).some(Boolean),
  );
  if (limited.length === 0) return;
  const names = limited.map(({ name }) => name);
  await enforce(db, async (tx) => await readLimitWords(tx, 'definition', names), 'definition');
}

/**
 * Puts into force what `read` finds inside the transaction, where nobody else changes limits. Then
 * workers are told to look at their queues again.
 */
export async function enforce(
  db: Db,
  read: (tx: Queryable) => Promise<readonly LimitWords[]>,
  scope: LimitScope,
): Promise<void> {
  const shards = Array.from({ length: db.shards }, (_, shard) => shard);
  const changed = await db.transaction(async (tx) => {
    await lockQueues(tx);
    let news = false;
    for (const { name, code, override } of await read(tx)) {
      const limits = effectiveLimits(code, override);
      requireDivisible(limits, db.shards);
      for (const shard of shards) {
        const share = shareOf(limits, shard, db.shards);
        if (await installLimits(tx, shard, scope, name, share)) news = true;
      }
    }
    if (news) for (const shard of shards) await adopt(tx, shard);
    return news;
  });
  if (changed) await tellWorkers(db);
}

/** A hint, so it may be lost: each worker looks at its queues now and then anyway. */
export async function tellWorkers(db: Db): Promise<void> {
  const hints = Array.from({ length: db.shards }, (_, shard) => ({
    shard,
    queue: QUEUES_CHANGED,
    rank: 0,
  }));
  await sendWakeHint(db, hints).catch(() => undefined);
}
