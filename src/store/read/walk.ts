import type { JobView } from '../../core/job/job.ts';
import type { Db } from '../connection/db.ts';
import { viewPage } from './view-page.ts';

/**
 * A bounded walk reads a limited number of rows in one order, whether or not they match, and
 * returns how far it came. All lists of jobs are made of such walks, one per shard or table,
 * merged into a page.
 */
export interface Walk<Entry extends Cursor, Cursor> {
  entries: Entry[];
  /** Everything up to here was read; null when nothing follows. */
  reached: Cursor | null;
}

/** A walk of one statement: the matching rows, and the last row that was read if too few match. */
export function walkOf<Row extends { fits: boolean }>(
  rows: readonly Row[],
  size: number,
): Walk<Row, Row> {
  const entries = rows.filter(({ fits }) => fits);
  const isLast = rows.length < size && rows.length === entries.length;
  return { entries, reached: isLast ? null : (rows.at(-1) ?? null) };
}

/** The first entries of a walk that found more. */
export function firstOf<Entry>(entries: readonly Entry[], size: number): Walk<Entry, Entry> {
  const first = entries.slice(0, size);
  return { entries: first, reached: first.at(-1) ?? null };
}

/**
 * Merges parallel walks into a page. Entries behind the cursor of the slowest walk are left for a
 * later page. A job that moves meanwhile may be found twice.
 */
export function mergeWalks<Entry extends Cursor, Cursor>(
  walks: readonly Walk<Entry, Cursor>[],
  inOrder: (a: Cursor, b: Cursor) => number,
  size: number,
): Walk<Entry, Cursor> {
  const [nearest = null] = walks.flatMap(({ reached }) => reached ?? []).sort(inOrder);
  const entries = [...new Set(walks.flatMap((one) => one.entries))]
    .filter((entry) => nearest === null || inOrder(entry, nearest) <= 0)
    .sort(inOrder);
  return entries.length > size ? firstOf(entries, size) : { entries, reached: nearest };
}

/** The jobs of a page, and the cursor of the next one. A page of large jobs ends early. */
export async function viewWalk<Entry extends Cursor & { id: string }, Cursor>(
  db: Db,
  tenant: string,
  { entries, reached }: Walk<Entry, Cursor>,
  unservedAfterMs?: number,
): Promise<{ views: JobView[]; next: Cursor | null }> {
  const ids = entries.map(({ id }) => id);
  const { views, lastId } = await viewPage(db, tenant, ids, unservedAfterMs);
  return { views, next: entries.find(({ id }) => id === lastId) ?? reached };
}
