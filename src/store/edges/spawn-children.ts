import { createHash } from 'node:crypto';
import { CHILDREN_MAX, CHILDREN_STEP, type SpawnedChild } from '../../core/dependency/children.ts';
import { shardOfJobId } from '../../core/job/job-id.ts';
import { type Queryable, statement } from '../connection/db.ts';
import { enqueueWithin } from '../enqueue/enqueue.ts';
import type { EnqueuedJob, Entry } from '../enqueue/enqueue-entry.ts';

/**
 * Stores the children of a running job: their rows, their edges, and the step that tells later
 * attempts of them, in one transaction. The row of the job is locked, so a claim that was lost stores
 * nothing, and two calls of one job come one after the other. Children are watched from the
 * beginning: the statement that ends one tells the resolver (`resolve-ended.ts`).
 */

/** A claim of a running job. */
export interface ParentClaim {
  shard: number;
  id: string;
  claim: number;
}

/** A child to store, unless the job has one of this name. */
export interface NewChild {
  name: string;
  /** The hash of its definition and params. */
  asked: string;
  /** Undefined when the caller has seen the child. */
  entry: Entry | undefined;
}

export class TooManyChildren extends Error {
  override name = 'TooManyChildren';
}

const FENCE = statement<{ id: string }>(
  'fence_parent',
  `select id from longshore.running
   where shard = $1 and id = $2 and claim_no = $3 and state = 'running' for update`,
);

const KNOWN = statement<{ name: string; id: string; position: number; asked: string }>(
  'known_children',
  `select e.name, e.on_id as id, e.position, e.asked from unnest($3::text[]) as u(name)
   cross join lateral (
     select name, on_id, position, asked from longshore.edge
     where shard = $1 and job_id = $2 and name = u.name limit 1
   ) e`,
);

const NEXT_POSITION = statement<{ next: number }>(
  'next_child_position',
  `select position + 1 as next from longshore.edge
   where shard = $1 and job_id = $2 and kind = 'child' order by position desc limit 1`,
);

const ADD = statement<{ id: string }>(
  'add_children',
  `with marked as (
     insert into longshore.step (shard, job_id, claim_no, name, at, value)
     values ($1, $2, $3, '${CHILDREN_STEP}', clock_timestamp(), 'true')
     on conflict (shard, job_id, name) do nothing
   )
   insert into longshore.edge
     (shard, job_id, kind, position, on_shard, on_id, on_failure, name, asked)
   select $1, $2, 'child', c.position, c.shard, c.id, 'run', c.name, c.asked
   from json_to_recordset($4::json) as c(position int, shard smallint, id uuid, name text, asked text)
   returning on_id as id`,
);

/** The hash by which a child is compared. */
export function childHash(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** The children of these names that exist. */
export async function knownChildren(
  db: Queryable,
  { shard, id }: ParentClaim,
  names: readonly string[],
): Promise<Map<string, Known>> {
  const rows = await db.run(KNOWN, [shard, id, names]);
  return new Map(rows.map(({ name, ...known }) => [name, known]));
}

interface Known {
  id: string;
  position: number;
  asked: string;
}

export interface Spawned {
  children: SpawnedChild[];
  /** What was stored now, with its entries. */
  entries: Entry[];
  answers: EnqueuedJob[];
}

/** Null when the claim no longer owns the job. Children that exist stay as they are. */
export async function spawnChildren(
  tx: Queryable,
  parent: ParentClaim,
  children: readonly NewChild[],
): Promise<Spawned | null> {
  const { shard, id, claim } = parent;
  const [owned] = await tx.run(FENCE, [shard, id, claim]);
  if (!owned) return null;
  const names = children.map(({ name }) => name);
  const known = await knownChildren(tx, parent, names);
  const fresh = children.filter(({ name }) => !known.has(name));
  const entries = fresh.flatMap(({ entry }) => (entry ? { ...entry, watched: true as const } : []));
  if (entries.length < fresh.length) throw new Error('a child of the job has disappeared');
  if (fresh.length === 0) return { children: answersOf(children, known), entries, answers: [] };
  const [last] = await tx.run(NEXT_POSITION, [shard, id]);
  const first = last?.next ?? 0;
  if (first + fresh.length > CHILDREN_MAX) {
    throw new TooManyChildren(
      `a job can have ${CHILDREN_MAX} children: let a child spawn the others`,
    );
  }
  const answers = await enqueueWithin(tx, entries);
  const rows = fresh.map(({ name, asked }, index) => {
    const child = answers[index]?.jobId ?? '';
    return { id: child, shard: shardOfJobId(child), position: first + index, name, asked };
  });
  await tx.run(ADD, [shard, id, claim, JSON.stringify(rows)]);
  for (const { name, ...row } of rows) known.set(name, row);
  return { children: answersOf(children, known), entries, answers };
}

function answersOf(
  children: readonly Pick<NewChild, 'name' | 'asked'>[],
  known: ReadonlyMap<string, Known>,
): SpawnedChild[] {
  return children.flatMap(({ name, asked }) => {
    const found = known.get(name);
    if (!found) return [];
    const { id, position } = found;
    return [{ id, position, ...(found.asked !== asked && { differs: true as const }) }];
  });
}
