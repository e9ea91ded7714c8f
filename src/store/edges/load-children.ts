import type { TerminalState } from '../../core/job/job.ts';
import { type Queryable, statement } from '../connection/db.ts';
import { loadOutcomes, type StoredOutcome } from './load-outcomes.ts';

/** A child of a job; the outcome is null until the resolver has seen its end. */
export interface StoredChild {
  id: string;
  name: string;
  asked: string;
  outcome: Omit<StoredOutcome, 'id'> | null;
}

export interface ChildEdge {
  id: string;
  name: string;
  asked: string;
  ended: TerminalState | null;
}

const CHILDREN_OF = statement<ChildEdge>(
  'children_of_job',
  `select on_id as id, name, asked, ended from longshore.edge
   where shard = $1 and job_id = $2 and kind = 'child' order by position`,
);

/** The children of a job, in the order in which they were stored. */
export async function loadChildren(
  db: Queryable,
  shard: number,
  id: string,
): Promise<StoredChild[]> {
  const children = await childEdges(db, shard, id);
  const ended = children.flatMap(({ id: child, ended: state }) =>
    state === null ? [] : [{ id: child, state }],
  );
  const outcomes = new Map((await loadOutcomes(db, ended)).map((one) => [one.id, one]));
  return children.map(({ id: child, name, asked }) => {
    return { id: child, name, asked, outcome: outcomes.get(child) ?? null };
  });
}

export async function childEdges(db: Queryable, shard: number, id: string): Promise<ChildEdge[]> {
  return await db.run(CHILDREN_OF, [shard, id]);
}
