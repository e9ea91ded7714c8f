import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { installGuard } from '../../checks/guard.ts';
import { hasCitus } from '../../checks/extras.ts';
import { type Node15, startNode15, type TestServer } from '../postgres-15.ts';

const NODES = 3;

/** Each database has a process of its own on every node. The nodes do not wait for the disk. */
const CITUS_SETTINGS = {
  shared_preload_libraries: 'citus',
  max_worker_processes: '100',
  max_prepared_transactions: '400',
  max_connections: '400',
  max_wal_size: '256MB',
  'citus.node_conninfo': 'sslmode=disable',
  // Migrating sets these for the role in one database; tests use clones of it.
  enable_seqscan: 'off',
  jit: 'off',
  // Tests that write past the guard set session_replication_role within a transaction.
  'citus.propagate_set_commands': 'local',
};

export interface CitusCluster extends TestServer {
  /** The coordinator first. `url` is its database `postgres`, which has no Citus. */
  nodes: readonly Node15[];
}

/**
 * A Citus cluster: a coordinator and two nodes, of Debian's PostgreSQL 15 with the extension. Null on
 * a machine without it. A database takes part after `joinNodes`.
 */
export async function startCitus(): Promise<CitusCluster | null> {
  if (!hasCitus()) return null;
  const password = randomBytes(24).toString('base64url');
  const starts = await Promise.allSettled(
    Array.from({ length: NODES }, async () => await startNode15(CITUS_SETTINGS, password)),
  );
  const nodes = starts.flatMap((start) => (start.status === 'fulfilled' ? [start.value] : []));
  const stop = async () => void (await Promise.all(nodes.map(async (node) => await node.stop())));
  const failed = starts.find((start) => start.status === 'rejected');
  if (failed) {
    await stop();
    throw failed.reason;
  }
  return { url: nodes[0]?.url ?? '', nodes, stop };
}

/** Makes one cluster of the databases of one name, which exist on all nodes. */
export async function joinNodes(urls: readonly string[]): Promise<void> {
  const [coordinator = '', ...others] = urls;
  const { username, password } = new URL(coordinator);
  for (const url of urls) {
    await withClient(url, async (client) => {
      await client.query('create extension if not exists citus');
      await client.query(
        `insert into pg_dist_authinfo (nodeid, rolename, authinfo)
         values (0, $1, $2) on conflict do nothing`,
        [username, `password=${password}`],
      );
    });
  }
  await withClient(coordinator, async (client) => {
    await client.query('select citus_set_coordinator_host($1, $2)', hostOf(coordinator));
    for (const url of others) await client.query('select citus_add_node($1, $2)', hostOf(url));
  });
}

/**
 * The guard on Citus: triggers on the tables of each shard, on its node. Only tests may use the names
 * of these tables. The database has one Citus shard.
 */
export async function guardShard(urls: readonly string[]): Promise<void> {
  let port = 0;
  const names: Record<string, string> = {};
  await withClient(urls[0] ?? '', async (client) => {
    const { rows } = await client.query<{ table: string; name: string; port: number }>(
      `select c.relname as table, s.shard_name as name, s.nodeport as port
       from citus_shards s join pg_class c on c.oid = s.table_name
       where c.relname in ('job', 'waiting', 'running', 'done')`,
    );
    for (const row of rows) names[row.table] = row.name;
    port = rows[0]?.port ?? 0;
  });
  const { job = '', waiting = '', running = '', done = '' } = names;
  const node = urls.find((url) => Number(new URL(url).port) === port) ?? '';
  await withClient(node, async (client) => {
    await client.query('set citus.enable_manual_changes_to_shards = on');
    await client.query('set citus.enable_ddl_propagation = off');
    await installGuard(client, { job, waiting, running, done });
  });
}

function hostOf(url: string): [string, number] {
  const { hostname, port } = new URL(url);
  return [hostname, Number(port)];
}

async function withClient(url: string, work: (client: Client) => Promise<void>): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}
