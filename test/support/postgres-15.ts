import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { access, chown, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { findFreePort, homePort } from '../../src/postgres/free-port.ts';
import { Postmaster } from '../../src/postgres/postmaster.ts';
import { chooseLauncher, isRoot, nobody } from '../../src/postgres/server-user.ts';
import { commandLineSettings } from '../../src/postgres/settings.ts';
import { createLog } from '../../src/runtime/log.ts';
import { quickFolder } from './quick-folder.ts';

const HOME = '/usr/lib/postgresql/15';

export interface TestServer {
  url: string;
  stop(): Promise<void>;
}

/**
 * The oldest PostgreSQL that Longshore supports, from Debian's package. A machine without it tests
 * on the newest only; CI may not, because there nobody would notice.
 */
export async function startPostgres15(
  settings: Record<string, string>,
): Promise<TestServer | null> {
  const binaries = {
    folder: HOME,
    initdb: path.join(HOME, 'bin', 'initdb'),
    postgres: path.join(HOME, 'bin', 'postgres'),
    version: '15',
    major: 15,
  };
  const installed = await access(binaries.postgres).then(
    () => true,
    () => false,
  );
  if (!installed) {
    if (process.env['CI'] !== 'true') return null;
    throw new Error(`CI tests on PostgreSQL 15 as well: install Debian's postgresql-15 (${HOME})`);
  }
  const parent = await quickFolder('longshore-test-postgres-15-');
  const password = randomBytes(24).toString('base64url');
  const passwordFile = path.join(parent, 'password');
  await writeFile(passwordFile, password, { mode: 0o600 });
  // As root, the server runs as somebody else, to whom its files must belong.
  const user = isRoot() ? nobody : undefined;
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
  const flags = { ...commandLineSettings(folder, port, true), ...settings };
  const postmaster = await Postmaster.launch(
    { folder, launch },
    flags,
    createLog('error'),
    undefined,
  );
  await postmaster.ready(AbortSignal.timeout(60_000));
  return {
    url: `postgres://longshore:${password}@127.0.0.1:${port}/postgres`,
    stop: async () => {
      await postmaster.stop();
      await rm(parent, { recursive: true, force: true });
    },
  };
}
