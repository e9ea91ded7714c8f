import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { Client } from 'pg';
import { isInstalled } from '../checks/extras.ts';
import { type Node15, startNode15, type TestServer } from './postgres-15.ts';

const NODES = 3;

/** The extension of Debian's PostgreSQL 15, which is built from its sources. */
const CONTROL_FILE = '/usr/share/postgresql/15/extension/citus.control';

/** Each database has a process of its own on every node. The nodes do not wait for the disk. */
const CITUS_SETTINGS = {
  shared_preload_libraries: 'citus',
  max_worker_processes: '100',
  max_prepared_transactions: '400',
  max_connections: '400',
  max_wal_size: '256MB',
  'citus.node_conninfo': 'sslmode=disable',
  // Guard triggers.
  'citus.enable_unsafe_triggers': 'on',
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
  if (!isInstalled('postgresql-15')) return null;
  if (!existsSync(CONTROL_FILE)) {
    process.stderr.write('skipped: tests on Citus (build it into PostgreSQL 15 to run them)\n');
    return null;
  }
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
