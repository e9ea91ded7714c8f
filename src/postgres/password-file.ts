import { open, readFile } from 'node:fs/promises';
import path from 'node:path';
import { codeOf, EmbeddedPostgresError } from './error.ts';

/**
 * The password is inside PostgreSQL's folder, so that it is created with the cluster by one rename
 * and cannot belong to another one. PostgreSQL ignores unknown files.
 */
export const passwordFile = 'longshore-password';

export async function readPassword(folder: string): Promise<string> {
  const file = path.join(folder, passwordFile);
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new EmbeddedPostgresError(
      `${file} cannot be read (${codeOf(error)}): restore it, or move ${folder} away to ` +
        'create a new cluster.',
      { cause: error },
    );
  }
}

export function wrongPassword(folder: string): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    `The PostgreSQL on ${folder} does not accept the password in ${passwordFile} there: restore ` +
      'that file, or move the folder away to create a new cluster.',
  );
}

/** Readable by its owner only, and flushed to disk: without it the cluster cannot be used. */
export async function writePassword(file: string, password: string): Promise<void> {
  const handle = await open(file, 'wx', 0o600);
  try {
    await handle.writeFile(password);
    await handle.sync();
  } finally {
    await handle.close();
  }
}
