import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { chmod, cp, lstat, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Binaries } from './binaries.ts';
import { codeOf, EmbeddedPostgresError } from './error.ts';
import { firstObstacle, type ServerUser } from './reach.ts';

/** Folders for a copy that everyone can read; the first one that works is used. */
const FOLDERS = ['/var/lib', '/var/tmp', tmpdir()];

/**
 * The programs at a path that the server's user can reach. That is the install folder, unless only
 * root may enter it (below `/root`, for example): then they are copied, once per version, to a
 * folder that belongs to root and that everyone may read. The copy takes 60 MB. The alternative
 * would be a capability to read any file, and with it every secret of the machine.
 */
export async function reachablePrograms(binaries: Binaries, user: ServerUser): Promise<Binaries> {
  // One file of each kind is enough: an install is readable as a whole or not at all.
  const needed = [
    binaries.postgres,
    path.join(binaries.folder, 'lib', 'libpq.so.5'),
    path.join(binaries.folder, 'share', 'postgresql', 'postgres.bki'),
  ];
  const obstacle = await firstObstacle(needed, user);
  if (obstacle === undefined) return binaries;
  const refusals: string[] = [];
  for (const parent of new Set(FOLDERS)) {
    try {
      const folder = path.join(parent, `longshore-postgres-${binaries.version}`);
      await copyOnce(binaries.folder, folder);
      const bin = path.join(folder, 'bin');
      const copy = {
        ...binaries,
        folder,
        initdb: path.join(bin, 'initdb'),
        postgres: path.join(bin, 'postgres'),
      };
      await promisify(execFile)(copy.postgres, ['--version'], { cwd: '/', env: {}, ...user });
      return copy;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      refusals.push(`${parent}: ${codeOf(error) ?? reason}`);
    }
  }
  throw new EmbeddedPostgresError(
    `PostgreSQL does not run as root, the user it runs as (uid ${user.uid}) cannot enter ` +
      `${obstacle}, and its programs cannot be copied elsewhere (${refusals.join(', ')}): ` +
      'install Longshore in a folder that others may enter, run it as an ordinary user, or set ' +
      'DATABASE_URL.',
  );
}

/** The finished copy appears by one rename; a folder of another owner is not trusted. */
async function copyOnce(from: string, to: string): Promise<void> {
  if (await isOurs(to)) return;
  const draft = `${to}.${process.pid}-${randomBytes(6).toString('hex')}`;
  await mkdir(draft, { mode: 0o700 });
  try {
    for (const part of ['bin', 'lib', 'share']) {
      await cp(path.join(from, part), path.join(draft, part), {
        recursive: true,
        verbatimSymlinks: true,
        mode: constants.COPYFILE_FICLONE,
      });
    }
    await openToAll(draft);
    await rename(draft, to);
  } catch (error) {
    // Another start may have made the same copy in the meantime.
    if (!(await isOurs(to))) throw error;
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

async function isOurs(folder: string): Promise<boolean> {
  const found = await lstat(folder).catch(() => undefined);
  if (!found) return false;
  if (found.isDirectory() && found.uid === 0 && (found.mode & 0o022) === 0) return true;
  throw new Error(`${folder} belongs to another user`);
}

/** Under umask 077 every file of an install is closed. */
async function openToAll(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const name = path.join(folder, entry.name);
    if (entry.isDirectory()) await openToAll(name);
    else if (entry.isFile()) await chmod(name, 0o755);
  }
}
