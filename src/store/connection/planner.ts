/**
 * Fragments of SQL that change no result and are there for the planner only. Plans must not depend on
 * statistics (`SESSION` in db.ts), so each keeps PostgreSQL from a plan that is slow on a full queue.
 *
 * `materialized` stays in the statements: a CTE that locks rows, reads the clock or is read several times
 * must run once, whatever the planner prefers.
 */

/**
 * A condition that is only a filter. The planner makes neither a join nor an index scan of it: it would
 * join two batches by estimates of their size, or read a whole index for a list of ids.
 */
export const filterOnly = (condition: string) => `(${condition}) is true`;

/** Ends a LATERAL subquery: the planner runs it once per outer row and does not turn it into a join. */
export const ONCE_PER_ROW = 'offset 0';

/** The physical position of a row. Valid within one statement, for rows that it has locked or found. */
export const placeOf = (row: string) => `${row}.ctid`;

/**
 * The rows at the positions of a query. PostgreSQL 15 and 16 read the whole index of a partitioned table
 * to find a list of ids in it (sql/migrations/0001_schema.sql). So rows are found by key, one probe each,
 * and changed by position. Add `filterOnly` with the key: a row that moved there meanwhile is left alone.
 */
export const atPlaces = (query: string, row = '') =>
  `${row && `${row}.`}ctid = any (array(${query}))`;
