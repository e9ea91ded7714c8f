import { piece } from './backend.ts';

/**
 * SQL fragments for the planner; they change no result. Plans must not depend on statistics
 * (`SESSION` in db.ts), so each fragment excludes a plan that is slow on a full queue.
 *
 * `materialized` stays in the statements: a CTE that locks rows, reads the clock or is read
 * several times must run once, whatever the planner prefers.
 */

/**
 * A condition that the planner uses only as a filter, not for a join or an index scan. Otherwise
 * it may join two batches by estimates of their size, or read a whole index for a list of ids. Citus
 * must see the shard in it.
 */
export const filterOnly = (condition: string) => piece(`(${condition}) is true`, `(${condition})`);

/** Ends a LATERAL subquery: it runs once per outer row and does not become a join. */
export const ONCE_PER_ROW = 'offset 0';

/**
 * The physical position of a row. Valid within one statement, for rows that it has locked or
 * found. Citus refuses it in a statement that also inserts; there, `key` is the column that finds the
 * rows, or rows that belong to them, instead.
 */
export const ctidOf = (row: string, key = 'ctid') => piece(`${row}.ctid`, `${row}.${key}`);

/**
 * The rows at these ctids. PostgreSQL 15 and 16 read the whole index of a partitioned table to
 * find a list of ids (sql/migrations/0001_schema.sql). So rows are found by key, one lookup each,
 * and changed by ctid. Add `filterOnly` with the key: a row that moved there meanwhile is skipped.
 */
export const atCtids = (query: string, row = '', key = 'ctid') =>
  `${row && `${row}.`}${piece('ctid', key)} = any (array(${query}))`;
