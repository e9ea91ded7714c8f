import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { systemClock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import { giveTree } from './cluster-owner.ts';
import { role } from './connection.ts';
import { codeOf, EmbeddedPostgresError } from './error.ts';
import { passwordFile, writePassword } from './password-file.ts';
import { isAlive } from './process-table.ts';
import { type Launch, type Launcher, nobodyUser, type ServerUser } from './server-user.ts';
import { StartFailure } from './start-failure.ts';
import { initialSettings } from './settings.ts';

export interface CreateOptions {
  dataDir: string;
  folder: string;
  launch: Launcher;
  user: ServerUser | undefined;
  signal: AbortSignal;
  unsafeForTests: boolean;
}

/**
 * Creates a cluster with one rename. initdb works for about a second in a temporary folder,
 * `pg.init-<pid>-<random>`, and the finished folder, password included, is renamed. So kill -9 at
 * any moment leaves nothing or everything, and of two concurrent first starts one finds the name
 * taken, drops its own work and uses the other's.
 */
export async function createCluster(options: CreateOptions): Promise<void> {
  const { dataDir, folder, user } = options;
  const random = randomBytes(6).toString('hex');
  const workshop = path.join(dataDir, `pg.init-${process.pid}-${random}`);
  const password = path.join(workshop, 'password');
  const made = path.join(workshop, 'data');
  await mkdir(workshop, { mode: 0o700 });
  try {
    await writePassword(password, randomBytes(24).toString('base64url'));
    await mkdir(made, { mode: 0o700 });
    // Only root enters the temporary folder: the working directory of initdb is the folder that it
    // fills (`server-user.ts`).
    if (user) for (const name of [made, password]) await giveTree(name, nobodyUser);
    await initdb(options, made, password);
    await rename(password, path.join(made, passwordFile));
    if (user) await giveTree(made, user);
    if (!options.unsafeForTests) await flush(made);
    await rename(made, folder);
    if (!options.unsafeForTests) await flush(dataDir);
  } catch (error) {
    // The other start has won the race; the caller uses its cluster.
    const code = codeOf(error);
    if (code !== 'ENOTEMPTY' && code !== 'EEXIST') throw error;
  } finally {
    // The processes of a stopped initdb may still be writing.
    await rm(workshop, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }
}

/** Removes what killed first starts left behind. Folders of live processes stay. */
export async function removeLeftovers(dataDir: string, log: Log): Promise<void> {
  for (const name of await readdir(dataDir)) {
    const pid = Number(/^pg\.init-(\d+)-/.exec(name)?.[1]);
    if (!pid) continue;
    const workshop = path.join(dataDir, name);
    try {
      // The pid may have been reused; no initdb runs for an hour.
      const ageMs = systemClock.now().getTime() - (await stat(workshop)).mtimeMs;
      if (isAlive(pid) && ageMs < 3_600_000) continue;
      await rm(workshop, { recursive: true, force: true });
    } catch (error) {
      // An orphaned initdb may still be writing. The next start tries again.
      log.debug({ workshop, err: error }, 'cannot remove a left-over folder');
    }
  }
}

/**
 * UTF-8 with the builtin locale: then the order of text depends neither on the host's locales nor
 * on a library version, so indexes survive a move to another machine.
 */
async function initdb(options: CreateOptions, made: string, password: string): Promise<void> {
  const { launch, signal, unsafeForTests, user } = options;
  const args = (pgdata: string) => [
    `--pgdata=${pgdata}`,
    `--username=${role}`,
    '--pwfile=/dev/stdin',
    '--auth=scram-sha-256',
    '--data-checksums',
    '--encoding=UTF8',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--no-instructions',
    ...(unsafeForTests ? ['--no-sync'] : []),
    ...Object.entries(initialSettings()).map(([name, value]) => `--set=${name}=${value}`),
  ];
  const as = user && nobodyUser;
  const launched = await launch({ program: 'initdb', folder: made, args, as });
  const stdin = await open(password, 'r');
  try {
    await runToEnd(launched, stdin.fd, signal);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof StartFailure) throw error;
    const lines = String(error)
      .split('\n')
      .filter((line) => line.trim() !== '');
    const reason =
      codeOf(error) === 'ENOENT'
        ? 'this system cannot run it; it needs glibc, which Alpine does not have'
        : (lines.findLast((line) => /error:|FATAL:/.test(line)) ??
          lines.at(-1) ??
          'no reason given');
    throw new EmbeddedPostgresError(
      `initdb failed in ${options.dataDir} (${reason}): mend that, or set DATABASE_URL.`,
      { cause: error },
    );
  } finally {
    await stdin.close();
  }
}

/** Throws the program's stderr unless it exits with 0. A stop ends it and all its children. */
async function runToEnd(
  { command, args, options }: Launch,
  stdin: number,
  signal: AbortSignal,
): Promise<void> {
  const child = spawn(command, args, {
    ...options,
    stdio: [stdin, 'ignore', 'pipe'],
    detached: true,
  });
  const end = () => {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  };
  let output = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (output += text));
  signal.addEventListener('abort', end, { once: true });
  try {
    const [code, killedBy] = await new Promise<[number | null, string | null]>(
      (resolve, reject) => {
        child.once('error', reject);
        child.once('close', (...how) => resolve(how));
      },
    );
    signal.throwIfAborted();
    if (killedBy !== null) throw new StartFailure(`initdb was killed (${killedBy})`, 'interrupted');
    if (code !== 0) throw new Error(output);
  } finally {
    signal.removeEventListener('abort', end);
  }
}

/** Makes renames in a folder survive a power failure. */
async function flush(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
