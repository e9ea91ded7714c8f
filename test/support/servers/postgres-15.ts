import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chown, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { findFreePort, homePort } from '../../../src/postgres/free-port.ts';
import { Postmaster } from '../../../src/postgres/postmaster.ts';
import { chooseLauncher, isRoot, nobodyUser } from '../../../src/postgres/server-user.ts';
import { commandLineSettings } from '../../../src/postgres/settings.ts';
import { createLog } from '../../../src/runtime/log.ts';
import { EXTRAS, isInstalled } from '../checks/extras.ts';
import { quickFolder } from '../quick-folder.ts';

const HOME = path.resolve(EXTRAS['postgresql-15'], '../..');

export interface TestServer {
  url: string;
  stop(): Promise<void>;
}

/** One server of a test cluster. */
export interface Node15 extends TestServer {
  port: number;
  postmaster: Postmaster;
}

/**
 * The oldest PostgreSQL that Longshore supports, from Debian's package. A machine without it tests
 * on the newest only.
 */
export async function startPostgres15(
  settings: Record<string, string>,
): Promise<TestServer | null> {
  return isInstalled('postgresql-15') ? await startNode15(settings) : null;
}

export async function startNode15(
  settings: Record<string, string>,
  password = randomBytes(24).toString('base64url'),
): Promise<Node15> {
  const binaries = {
    folder: HOME,
    initdb: path.join(HOME, 'bin', 'initdb'),
    postgres: path.join(HOME, 'bin', 'postgres'),
    version: '15',
    major: 15,
  };
  const parent = await quickFolder('longshore-test-postgres-15-');
  const passwordFile = path.join(parent, 'password');
  await writeFile(passwordFile, password, { mode: 0o600 });
  // As root, the server runs as another user, which must own its files.
  const user = isRoot() ? nobodyUser : undefined;
  if (user) for (const file of [parent, passwordFile]) await chown(file, user.uid, user.gid);
  const launch = await chooseLauncher(user, binaries);
  const folder = path.join(parent, 'pg');
  const initdb = await launch({
    program: 'initdb',
    folder,
    args: () => [
      `--pgdata=${folder}`,
      '--username=longshore',
      `--pwfile=${passwordFile}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      '--no-locale',
      '--no-sync',
    ],
  });
  await promisify(execFile)(initdb.command, initdb.args, initdb.options);
  const port = await findFreePort(homePort(folder));
  const flags = { ...commandLineSettings(folder, { host: '127.0.0.1', port }, true), ...settings };
  const postmaster = await Postmaster.launch(
    { folder, launch },
    flags,
    createLog('error'),
    undefined,
  );
  await postmaster.ready(AbortSignal.timeout(60_000));
  return {
    port,
    postmaster,
    url: `postgres://longshore:${password}@127.0.0.1:${port}/postgres`,
    stop: async () => {
      await postmaster.stop();
      await rm(parent, { recursive: true, force: true });
    },
  };
}
