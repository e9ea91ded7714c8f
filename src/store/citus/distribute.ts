import type { Client } from 'pg';
import { DISTRIBUTED_MARK, IS_DISTRIBUTED } from '../connection/backend.ts';
import { allFunctions } from './functions.ts';

/**
 * Distributes the schema over the nodes of a Citus cluster: the tables with a `shard` by it, all
 * colocated, so that a statement about one shard runs on one node. Small tables that statements about
 * jobs read become reference tables, with a copy on each node; the others stay on the coordinator.
 *
 * It runs in the transaction of the migration and under its lock, at every start of a server. So it
 * happens once and as a whole, and does what a newer version adds.
 */

/** In the order of their foreign keys. */
const REFERENCE_TABLES = [
  'setting',
  'tenant',
  'definition',
  'webhook',
  'pause',
  'limit_override',
  'alert_rule',
  'secret',
  'artifact',
  'deployment',
  'release',
] as const;

/** The table that all others are colocated with. */
const FIRST_TABLE = 'waiting';

/** How the number of Citus shards grows with that of Longshore's; few are cheap anyway. */
const CITUS_SHARDS = { perShard: 2, min: 9 } as const;

/** What a node needs to plan as the sessions of the store do (`SESSION` in connection/db.ts). */
const NODE_SETTINGS = ['enable_seqscan = off', 'jit = off'];

export interface CitusState {
  /** The extension is installed in this database. */
  installed: boolean;
  distributed: boolean;
  coordinator: boolean;
}

export async function citusState(client: Client): Promise<CitusState> {
  const { rows } = await client.query<Omit<CitusState, 'coordinator'>>(
    `select exists (select from pg_extension where extname = 'citus') as installed,
       ${IS_DISTRIBUTED} as distributed`,
  );
  const { installed = false, distributed = false } = rows[0] ?? {};
  if (!installed) return { installed, distributed, coordinator: true };
  const group = await client.query<{ coordinator: boolean }>(
    'select groupid = 0 as coordinator from pg_dist_local_group',
  );
  return { installed, distributed, coordinator: group.rows[0]?.coordinator ?? true };
}

/** Statements of one transaction that create objects and tables on all nodes use one connection each. */
export async function beginDistribution(client: Client): Promise<void> {
  await client.query(`set local citus.multi_shard_modify_mode = 'sequential'`);
  await client.query(`set local client_min_messages = 'warning'`);
}

export async function distribute(client: Client, shards: number): Promise<void> {
  await distributeTables(client, shards);
  for (const table of REFERENCE_TABLES) {
    if (await isReference(client, table)) continue;
    await client.query('select create_reference_table($1)', [`longshore.${table}`]);
  }
  await createFunctions(client);
  const { rows } = await client.query<{ there: boolean }>(`select ${IS_DISTRIBUTED} as there`);
  if (rows[0]?.there) return;
  await client.query(`do $$ begin
    ${NODE_SETTINGS.map(
      (setting) =>
        `execute format('alter role %I in database %I set ${setting}', current_user, current_database());`,
    ).join('\n')}
  end $$`);
  await client.query(
    `create function ${DISTRIBUTED_MARK} returns boolean language sql immutable as 'select true'`,
  );
}

async function distributeTables(client: Client, shards: number): Promise<void> {
  const { rows } = await client.query<{ name: string; keyed: boolean }>(
    `select c.relname as name,
       exists (select from pg_index i where i.indrelid = c.oid and i.indisprimary) as keyed
     from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'shard'
     where c.relnamespace = 'longshore'::regnamespace and c.relkind in ('r', 'p')
       and not c.relispartition
       and not exists (select from pg_dist_partition p where p.logicalrelid = c.oid)
     order by c.relname <> '${FIRST_TABLE}', c.relname`,
  );
  for (const { name, keyed } of rows) {
    const table = `longshore.${name}`;
    // A shard of a table without a key moves only if the changes can name whole rows.
    if (!keyed) await client.query(`alter table ${table} replica identity full`);
    if (name === FIRST_TABLE) {
      const count = await citusShards(client, shards);
      await client.query(
        `select create_distributed_table($1, 'shard', shard_count => $2, colocate_with => 'none')`,
        [table, count],
      );
    } else {
      await client.query(
        `select create_distributed_table($1, 'shard', colocate_with => 'longshore.${FIRST_TABLE}')`,
        [table],
      );
    }
  }
}

/**
 * Citus puts a Longshore shard into one of its own by the hash of the number. It moves its shards
 * between nodes, not ours; so it has as many as let most of ours be alone in one, within a bound,
 * because each has all tables. `isolate_tenant_to_new_shard` separates two that share one.
 */
async function citusShards(client: Client, shards: number): Promise<number> {
  if (shards === 1) return 1;
  const { rows } = await client.query<{ count: number }>(
    `select p as count
     from generate_series(1, greatest($2::int, $3::int * $1::int)) p, generate_series(0, $1 - 1) k
     group by p
     order by count(distinct least(p - 1,
       (hashint2(k::smallint) + 2147483648) / (4294967296 / p))) desc, p
     limit 1`,
    [shards, CITUS_SHARDS.min, CITUS_SHARDS.perShard],
  );
  return rows[0]?.count ?? shards;
}

async function isReference(client: Client, table: string): Promise<boolean> {
  const { rows } = await client.query(
    `select from citus_tables where table_name = $1::regclass and citus_table_type = 'reference'`,
    [`longshore.${table}`],
  );
  return rows.length > 0;
}

async function createFunctions(client: Client): Promise<void> {
  for (const { name, sql } of allFunctions) {
    const { rows } = await client.query('select from pg_proc where oid = to_regproc($1)', [name]);
    if (rows.length > 0) continue;
    await client.query(sql);
    await client.query(
      `select create_distributed_function($1::regproc::regprocedure, 'p_shard',
         colocate_with => 'longshore.${FIRST_TABLE}', force_delegation => true)`,
      [name],
    );
  }
}
