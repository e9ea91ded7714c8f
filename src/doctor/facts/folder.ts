import { constants } from 'node:fs';
import { access, stat, statfs } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { FolderFacts } from '../folder.ts';
import { troubleOf } from './trouble.ts';

/** The folder, or the nearest existing parent in which it would be created. */
export async function inspectFolder(path: string): Promise<FolderFacts> {
  try {
    const folder = await nearestFolder(resolve(path));
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    const { bavail, bsize } = await statfs(folder);
    return { path, trouble: null, freeBytes: bavail * bsize };
  } catch (error) {
    const { code, reason } = troubleOf(error);
    return { path, trouble: code ?? reason, freeBytes: null };
  }
}

async function nearestFolder(path: string): Promise<string> {
  try {
    if ((await stat(path)).isDirectory()) return path;
  } catch (error) {
    const above = dirname(path);
    if (troubleOf(error).code === 'ENOENT' && above !== path) return await nearestFolder(above);
    throw error;
  }
  throw new Error('not a folder');
}
