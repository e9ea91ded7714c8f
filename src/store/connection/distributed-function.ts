import { createHash } from 'node:crypto';

/**
 * A PL/pgSQL function that exists on Citus only. Citus sends the whole call to the node of the shard
 * `p_shard`, where each of its statements is local. All of it is one transaction.
 *
 * The name has a hash of the content. So servers of two versions call their own functions during an
 * upgrade, and a function never changes while calls are running.
 */
export interface DistributedFunction {
  /** With the schema and the hash. */
  readonly name: string;
  readonly sql: string;
  /** The SQL of a call. The arguments must not be volatile, or Citus would not send the call. */
  call(args: string): string;
}

export interface FunctionParts {
  /** Without the schema. */
  name: string;
  /** The first one is `p_shard smallint`. */
  args: string;
  /** What follows `returns`. */
  returns: string;
  /** From `declare` or `begin` to `end`. */
  body: string;
}

export const allFunctions: DistributedFunction[] = [];

/** Registers a function. A file that calls this is listed in `src/store/citus/functions.ts`. */
export function distributedFunction({
  name,
  args,
  returns,
  body,
}: FunctionParts): DistributedFunction {
  if (!/^\s*p_shard smallint\b/.test(args)) {
    throw new Error(`the first argument of ${name} must be p_shard smallint`);
  }
  const rest = `(${args}) returns ${returns} language plpgsql as $function$
#variable_conflict use_column
${body}
$function$`;
  const hash = createHash('sha256').update(rest).digest('hex').slice(0, 8);
  const full = `longshore.${name}_${hash}`;
  const made: DistributedFunction = {
    name: full,
    sql: `create function ${full} ${rest}`,
    call: (values) => `${full}(${values})`,
  };
  allFunctions.push(made);
  return made;
}
