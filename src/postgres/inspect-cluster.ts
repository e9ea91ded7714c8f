import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { findBinaries } from './binaries.ts';
import { refuseOtherVersion, serverUser, versionOf } from './cluster-folder.ts';
import { holderOf, readPostmasterFile } from './postmaster-file.ts';
import { findRunningCluster } from './running-cluster.ts';
import { chooseLauncher } from './server-user.ts';

export type ClusterState =
  | { state: 'running'; url: string }
  /** Its process lives but accepts no connections: it is starting, or in trouble. */
  | { state: 'silent'; pid: number }
  | { state: 'stopped' | 'absent' };

/**
 * What a start on this folder would find, without creating or starting anything. Throws the refusal
 * of such a start.
 */
export async function inspectCluster(dataDir: string): Promise<ClusterState> {
  const url = await findRunningCluster(dataDir);
  if (url !== undefined) return { state: 'running', url };
  const absolute = path.resolve(dataDir);
  const home = await realpath(absolute).catch(() => absolute);
  const folder = path.join(home, 'pg');
  const binaries = await findBinaries();
  await chooseLauncher(await serverUser(folder), binaries);
  const version = await versionOf(folder);
  if (version === undefined) return { state: 'absent' };
  refuseOtherVersion(folder, version, binaries);
  const file = await readPostmasterFile(folder);
  if (file && (await holderOf(file.pid, folder)) === 'ours') {
    return { state: 'silent', pid: file.pid };
  }
  return { state: 'stopped' };
}
