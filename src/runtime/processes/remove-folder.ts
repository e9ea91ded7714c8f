import { lstatSync, readdirSync, rmdirSync } from 'node:fs';
import { rm, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { runAs, type User } from './run-as.ts';

/** Makes unreadable folders readable first. `rm` follows no symlinks. */
const REMOVE =
  'rm -rf -- "$1" 2>/dev/null; test -e "$1" && ' +
  'chmod -R u+rwx -- "$1" 2>/dev/null; rm -rf -- "$1" 2>/dev/null; true';

/**
 * Removes a folder of another user with the rights of that user, so that code that swaps folders
 * for symlinks can only harm its own files. The folder itself is in a folder of ours, so its name
 * cannot be swapped. An empty folder, the common case, is removed at once. Throws when something is
 * left.
 */
export async function removeFolder(folder: string, owner: User | null): Promise<void> {
  if (owner === null) return await rm(folder, { recursive: true, force: true });
  if (tryRemove(folder)) return;
  await runAs(owner, REMOVE, [folder]);
  rmdirSync(folder);
}

function tryRemove(folder: string): boolean {
  try {
    rmdirSync(folder);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
}

/**
 * Removes a folder of ours and the folders of other users directly in it, each with the rights of
 * its owner. Never throws; what cannot be removed stays.
 */
export async function removeFolderOfFolders(folder: string): Promise<void> {
  const own = process.getuid?.() ?? null;
  try {
    for (const name of readdirSync(folder)) {
      const path = join(folder, name);
      const { uid, gid } = lstatSync(path);
      const isFolder = lstatSync(path).isDirectory();
      if (!isFolder) await unlink(path);
      else await removeFolder(path, uid === own ? null : { uid, gid }).catch(() => undefined);
    }
    rmdirSync(folder);
  } catch {
    // It is gone, or a part of it stays.
  }
}
