import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { versionOf } from './cluster-folder.ts';
import { database, urlOf, withConnection } from './connection.ts';
import { readPassword } from './password-file.ts';
import { addressIn, readPostmasterFile } from './postmaster-file.ts';
import { clusterName } from './settings.ts';

/**
 * The URL of the cluster that another process runs on this folder, or undefined when none answers.
 * `longshore worker` and other commands use it to join a running `longshore start`. A folder that
 * we may not read is an error, because "none is running" would mislead.
 */
export async function findRunningCluster(dataDir: string): Promise<string | undefined> {
  const home = await realpath(path.resolve(dataDir)).catch(() => undefined);
  if (home === undefined) return undefined;
  const folder = path.join(home, 'pg');
  if ((await versionOf(folder)) === undefined) return undefined;
  const password = await readPassword(folder);
  const file = await readPostmasterFile(folder);
  if (file?.status !== 'ready') return undefined;
  const address = addressIn(file, folder, password);
  try {
    // A stale file may name a port that now belongs to another server.
    const found = await withConnection(address, database, async (client) => {
      const { rows } = await client.query<{ cluster_name: string }>('show cluster_name');
      return rows[0]?.cluster_name;
    });
    return found === clusterName(folder) ? urlOf(address) : undefined;
  } catch {
    return undefined;
  }
}
