import { lchown, lstat, readdir } from 'node:fs/promises';
import path from 'node:path';
import { codeOf, EmbeddedPostgresError } from './error.ts';
import type { ServerUser } from './server-user.ts';

/**
 * Gives a folder and everything below it to a user, as root. The old owner may be active and try to
 * make root give away something else, so each folder changes owner before its contents: from then
 * on the old owner cannot replace them. Links are not followed, and a file with a second hard link,
 * which may be outside, is refused.
 */
export async function giveTree(top: string, user: ServerUser): Promise<void> {
  const found = await lstat(top);
  if (found.isFile() && found.nlink > 1) {
    throw new EmbeddedPostgresError(
      `${top} has a second name elsewhere and is not given to another user: remove it first.`,
    );
  }
  await give(top, user);
  if (!found.isDirectory()) return;
  for (const name of await readdir(top)) await giveTree(path.join(top, name), user);
}

async function give(file: string, user: ServerUser): Promise<void> {
  await lchown(file, user.uid, user.gid).catch((error: unknown) => {
    throw new EmbeddedPostgresError(
      `${file} cannot be given to uid ${user.uid}, as whom PostgreSQL runs when started by root ` +
        `(${codeOf(error)}): run Longshore as an ordinary user, or set DATABASE_URL.`,
      { cause: error },
    );
  });
}

/** Gives a cluster that an earlier version made for another user to this user. */
export async function takeOwnership(folder: string, user: ServerUser | undefined): Promise<void> {
  if (user && (await lstat(folder)).uid !== user.uid) await giveTree(folder, user);
}
