/**
 * SQL fragments for the planner; they change no result. Plans must not depend on statistics
 * (`SESSION` in db.ts), so each fragment excludes a plan that is slow on a full queue.
 *
 * `materialized` stays in the statements: a CTE that locks rows, reads the clock or is read
 * several times must run once, whatever the planner prefers.
 */

/**
 * A condition that the planner uses only as a filter, not for a join or an index scan. Otherwise
 * it may join two batches by estimates of their size, or read a whole index for a list of ids.
 */
export const filterOnly = (condition: string) => `(${condition}) is true`;

/** Ends a LATERAL subquery: it runs once per outer row and does not become a join. */
export const ONCE_PER_ROW = 'offset 0';

/**
 * The physical position of a row. Valid within one statement, for rows that it has locked or
 * found.
 */
export const ctidOf = (row: string) => `${row}.ctid`;

/**
 * The rows at these ctids. PostgreSQL 15 and 16 read the whole index of a partitioned table to
 * find a list of ids (sql/migrations/0001_schema.sql). So rows are found by key, one lookup each,
 * and changed by ctid. Add `filterOnly` with the key: a row that moved there meanwhile is skipped.
 */
export const atCtids = (query: string, row = '') =>
  `${row && `${row}.`}ctid = any (array(${query}))`;
