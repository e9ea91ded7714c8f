import { constants } from 'node:fs';
import { access, chmod, chown, mkdir, readFile, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Log } from '../runtime/log.ts';
import { findBinaries, type Binaries } from './binaries.ts';
import { createCluster, removeLeftovers } from './create-cluster.ts';
import { codeOf, EmbeddedPostgresError } from './error.ts';
import { readPassword } from './password-file.ts';
import {
  chooseLauncher,
  isRoot,
  type Launcher,
  nobodyUser,
  postgresUser,
  type ServerUser,
} from './server-user.ts';

/** A data folder of our version whose password we know. */
export interface Cluster {
  /** LONGSHORE_DATA as an absolute path without symbolic links, for messages. */
  dataDir: string;
  /** PostgreSQL's own folder: `<dataDir>/pg`. */
  folder: string;
  password: string;
  binaries: Binaries;
  launch: Launcher;
  /** The user of the server; undefined for the current user. */
  user: ServerUser | undefined;
}

export interface OpenOptions {
  dataDir: string;
  log: Log;
  signal: AbortSignal;
  /** Skips the flush to disk after initdb. */
  unsafeForTests: boolean;
}

/** Opens the cluster below `dataDir`, and creates it first when there is none. */
export async function openCluster(options: OpenOptions): Promise<Cluster> {
  const binaries = await findBinaries();
  const dataDir = await makeDataDir(options.dataDir);
  const folder = path.join(dataDir, 'pg');
  const user = await serverUser(folder);
  const launch = await chooseLauncher(user, binaries);
  await removeLeftovers(dataDir, options.log);
  if ((await versionOf(folder)) === undefined) {
    options.log.info({ folder }, 'creating a PostgreSQL cluster');
    await createCluster({ ...options, dataDir, folder, launch, user });
  }
  refuseOtherVersion(folder, await versionOf(folder), binaries);
  return { dataDir, folder, password: await readPassword(folder), binaries, launch, user };
}

/** The major version of the cluster in the folder; undefined when there is none. */
export async function versionOf(folder: string): Promise<number | undefined> {
  try {
    return Number((await readFile(path.join(folder, 'PG_VERSION'), 'utf8')).trim());
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    if (codeOf(error) === 'EACCES') throw foreignFolder(folder);
    throw error;
  }
}

/** Whether there is a cluster below this data folder. */
export async function clusterExists(dataDir: string): Promise<boolean> {
  return (await versionOf(path.join(path.resolve(dataDir), 'pg'))) !== undefined;
}

export function refuseOtherVersion(
  folder: string,
  version: number | undefined,
  { major }: Binaries,
): void {
  if (version === major) return;
  throw new EmbeddedPostgresError(
    version === undefined
      ? `${folder} is in the way: it is not empty and no PostgreSQL cluster. Move it elsewhere.`
      : `${folder} was made by PostgreSQL ${version}, this is ${major}: move its data with ` +
          'pg_dump, choose another folder with LONGSHORE_DATA, or set DATABASE_URL.',
  );
}

function foreignFolder(folder: string): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    `${folder} belongs to another user: run Longshore as that user (root, if root created it), ` +
      'choose another folder with LONGSHORE_DATA, or set DATABASE_URL.',
  );
}

/**
 * Creates the folder without access for others. As root, the group of the server's user may pass
 * through it. The mode of an existing folder is left as it is.
 */
async function makeDataDir(wanted: string): Promise<string> {
  const absolute = path.resolve(wanted);
  try {
    await mkdir(path.dirname(absolute), { recursive: true });
    const isNew = await makeFolder(absolute);
    if (isRoot() && (isNew || (await isOfEarlierVersion(absolute)))) {
      await chown(absolute, 0, postgresUser.gid);
      await chmod(absolute, 0o710);
    }
    await access(absolute, constants.R_OK | constants.W_OK | constants.X_OK);
    return await realpath(absolute);
  } catch (error) {
    throw new EmbeddedPostgresError(
      `${absolute} cannot be used as data folder (${codeOf(error)}): ` +
        'set LONGSHORE_DATA to one that can, or set DATABASE_URL.',
      { cause: error },
    );
  }
}

/** Created by a version that ran the server as uid 65534. */
async function isOfEarlierVersion(folder: string): Promise<boolean> {
  const { uid, gid, mode } = await stat(folder);
  return uid === 0 && gid === nobodyUser.gid && (mode & 0o777) === 0o710;
}

/** False when it existed before. */
async function makeFolder(folder: string): Promise<boolean> {
  try {
    await mkdir(folder, { mode: 0o700 });
    return true;
  } catch (error) {
    if (codeOf(error) !== 'EEXIST' || !(await stat(folder)).isDirectory()) throw error;
    return false;
  }
}

/**
 * As root: the owner of the cluster, so that a user's folder stays the user's. Clusters of uid
 * 65534, which earlier versions made, are taken over (`cluster-owner.ts`), because many programs
 * run as that user.
 */
export async function serverUser(folder: string): Promise<ServerUser | undefined> {
  if (!isRoot()) return undefined;
  const found = await stat(folder).catch(() => undefined);
  if (!found || (await versionOf(folder)) === undefined) return postgresUser;
  if (found.uid === nobodyUser.uid) return postgresUser;
  if (found.uid !== 0) return { uid: found.uid, gid: found.gid };
  throw new EmbeddedPostgresError(
    `${folder} belongs to root, as whom PostgreSQL does not run: ` +
      `\`chown -R ${postgresUser.uid}:${postgresUser.gid} ${folder}\` mends that.`,
  );
}
