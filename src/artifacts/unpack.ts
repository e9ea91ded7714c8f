import { constants } from 'node:fs';
import { chmod, lstat, mkdir, open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { ArchiveEntry } from './archive-walk.ts';
import { type ArchiveContent, readArchive, type ReadOptions } from './read-archive.ts';

export interface UnpackOptions extends ReadOptions {
  /** Called after each file. */
  onFile?: (path: string) => Promise<void> | void;
}

const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/**
 * Unpacks an archive into a folder that does not exist yet. When it resolves, everything is
 * readable to all, writable by no user, and on the disk. When it rejects, the folder is gone.
 */
export async function unpack(
  file: string,
  folder: string,
  { onFile, ...options }: UnpackOptions = {},
): Promise<ArchiveContent> {
  await mkdir(folder, { mode: 0o700 });
  const folders: string[] = [];
  try {
    const content = await readArchive(file, options, async (entry, chunks) => {
      for (const path of entry.folders) {
        await mkdir(join(folder, path), { mode: 0o700 });
        folders.push(path);
      }
      if (entry.kind === 'folder') return;
      await writeNew(join(folder, entry.path), entry, chunks);
      await onFile?.(entry.path);
    });
    // The innermost first: a closed folder takes no more changes.
    for (const path of [...folders.reverse(), '']) await closeFolder(join(folder, path));
    return content;
  } catch (error) {
    await removeTree(folder);
    throw error;
  }
}

async function writeNew(
  path: string,
  { executable }: ArchiveEntry,
  chunks: AsyncIterable<Uint8Array>,
): Promise<void> {
  const handle = await open(path, NEW_FILE, 0o600);
  try {
    for await (const chunk of chunks) await handle.writeFile(chunk);
    await handle.chmod(executable ? 0o555 : 0o444);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function closeFolder(path: string): Promise<void> {
  await chmod(path, 0o555);
  await syncFolder(path);
}

/** Makes the names in a folder durable. */
export async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Removes a folder, also one that is read-only. */
export async function removeTree(folder: string): Promise<void> {
  const stat = await lstat(folder).catch(() => null);
  if (stat?.isDirectory()) await openFolder(folder);
  await rm(folder, { recursive: true, force: true });
}

async function openFolder(folder: string): Promise<void> {
  await chmod(folder, 0o700);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) await openFolder(join(folder, entry.name));
  }
}
