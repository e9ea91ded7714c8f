import { lchown, lstat, readdir } from 'node:fs/promises';
import path from 'node:path';
import { codeOf, EmbeddedPostgresError } from './error.ts';
import type { ServerUser } from './server-user.ts';

/**
 * Gives a folder and all below it to a user, as root. The old owner may be at work there and want
 * root to give away something else, so each folder changes hands before anything in it: from then on
 * the old owner cannot exchange what is in it. Links are not followed, and a file that has a second
 * name, which may be outside, is refused.
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

/** A cluster that an earlier version made for another user becomes the user's. */
export async function takeOwnership(folder: string, user: ServerUser | undefined): Promise<void> {
  if (user && (await lstat(folder)).uid !== user.uid) await giveTree(folder, user);
}
