/**
 * The two databases that Longshore runs on: PostgreSQL, and Citus, which is PostgreSQL whose tables
 * are distributed over several nodes. They share the schema and the names, values and rows of all
 * statements. Citus plans statements of several tables differently and refuses some shapes, so a
 * statement may have a second text for it (`statement` in db.ts), and a hot one calls a function that
 * runs on the node of its shard (`distributed-function.ts`).
 */
export const BACKENDS = ['postgres', 'citus'] as const;
export type Backend = (typeof BACKENDS)[number];

/** The last step of the distribution creates it (src/store/citus/distribute.ts). */
export const DISTRIBUTED_MARK = 'longshore.is_distributed()';

/** Reads the catalog only, so it works before the first migration, and for a role without any right. */
export const IS_DISTRIBUTED = `exists (
    select from pg_proc p join pg_namespace n on n.oid = p.pronamespace
    where n.nspname = 'longshore' and p.proname = 'is_distributed')`;

export const DETECT_BACKEND = `select case when ${IS_DISTRIBUTED} then 'citus' else 'postgres' end as backend`;

/**
 * Citus finds the node of a statement by the values of its parameters, which a generic plan does not
 * have. What a plan may read is bounded by the settings of the role on the nodes, as on PostgreSQL.
 */
export const CITUS_SESSION = 'set plan_cache_mode = force_custom_plan';

/**
 * A piece of SQL that differs between the backends, as a mark within a text. `statement` replaces
 * it, so a cold statement needs no second text.
 */
export function piece(postgres: string, citus: string): string {
  return `\u27e6${postgres}\u27e7${citus}\u27e8`;
}

const PIECE = /\u27e6([^\u27e6\u27e8]*)\u27e7([^\u27e6\u27e8]*)\u27e8/;

/**
 * The text with the pieces of one backend; pieces may be within pieces.
 *
 * On Citus a statement that writes takes the time at which it began: Citus refuses volatile functions
 * there, because each node would call them again. It is earlier than `clock_timestamp()` by the time
 * that the statement waited for locks and for a node. That is safe everywhere: a lease is shorter by
 * it, and its worker counts from before it sent the statement; what is due or over is found later; a
 * fence is no time but a claim number. The clocks of the nodes must agree (NTP), because reads take
 * the time of the node.
 */
export function rendered(text: string, backend: Backend): string {
  let result =
    backend === 'citus' ? text.replaceAll('clock_timestamp()', 'statement_timestamp()') : text;
  while (PIECE.test(result)) {
    result = result.replace(PIECE, (_, postgres: string, citus: string) =>
      backend === 'citus' ? citus : postgres,
    );
  }
  return result;
}

/** The time within `case`, `coalesce` and `returning`, where Citus takes nothing but a subquery. */
export const NOW_WITHIN = piece('clock_timestamp()', '(select clock_timestamp())');
