import { access, readFile, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Binaries } from './binaries.ts';
import { EmbeddedPostgresError } from './error.ts';

/**
 * PostgreSQL refuses to run as root, rightly. For an ordinary user there is nothing to do; as root
 * the programs run under another user. The danger is that root's own files are often below a folder
 * that only root may enter (`/root`, `mktemp -d`, an install under umask 077), so that this user
 * reaches neither the data nor the programs.
 *
 * The choice: where everything is reachable, a plain change of user. Otherwise util-linux `setpriv`
 * changes the user and leaves it one capability, the one to read and enter any folder. (Docker does
 * not hand that one out by default, but the wider CAP_DAC_OVERRIDE.) Two traps: the capability must
 * be ambient to survive the exec, and access(2), by which initdb looks for its sibling programs,
 * ignores capabilities of ordinary users unless the secure bit `no_setuid_fixup` is set.
 */
export interface ServerUser {
  uid: number;
  gid: number;
}

/** `nobody`, on practically every Linux. */
export const nobody: ServerUser = { uid: 65_534, gid: 65_534 };

/** What to hand to `spawn` so that a program runs as the server's user. */
export interface Launch {
  command: string;
  args: string[];
  options: { cwd: string; env: NodeJS.ProcessEnv; uid?: number; gid?: number };
}

export type Launcher = (command: string, args: string[]) => Launch;

export function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/**
 * The environment is our own: neither PGPORT and its kin nor the host's locale may leak in, nor our
 * secrets out. The working folder is one that every user may enter.
 */
const surroundings = { cwd: '/', env: { LC_ALL: 'C', TZ: 'UTC', PATH: '/usr/bin:/bin' } };

/** `user` is undefined when we are not root: then the server runs as we do. */
export async function chooseLauncher(
  user: ServerUser | undefined,
  binaries: Binaries,
  dataDir: string,
): Promise<Launcher> {
  if (!user) return (command, args) => ({ command, args, options: surroundings });
  // One file of each kind stands for all: an install is readable as a whole or not at all.
  const needed = [
    dataDir,
    binaries.postgres,
    path.join(binaries.folder, 'lib', 'libpq.so.5'),
    path.join(binaries.folder, 'share', 'postgresql', 'postgres.bki'),
  ];
  const obstacle = await firstObstacle(needed, user);
  if (obstacle === undefined) {
    return (command, args) => ({ command, args, options: { ...surroundings, ...user } });
  }
  const setpriv = await findSetpriv();
  const capability = await traversalCapability();
  if (!setpriv || !capability) {
    throw new EmbeddedPostgresError(
      `PostgreSQL does not run as root, and the user it runs as (uid ${user.uid}) cannot enter ` +
        `${obstacle}: set LONGSHORE_DATA to a folder that others may enter (and install ` +
        'Longshore in one), run Longshore as an ordinary user, or set DATABASE_URL.',
    );
  }
  const change = [
    `--reuid=${user.uid}`,
    `--regid=${user.gid}`,
    '--clear-groups',
    `--inh-caps=+${capability}`,
    `--ambient-caps=+${capability}`,
    '--securebits=+no_setuid_fixup',
    '--',
  ];
  return (command, args) => ({
    command: setpriv,
    args: [...change, command, ...args],
    options: surroundings,
  });
}

/** The first folder on the way that the user may not enter, or file that it may not read. */
export async function firstObstacle(
  paths: string[],
  user: ServerUser,
): Promise<string | undefined> {
  for (const wanted of paths) {
    const real = await realpath(wanted).catch(() => undefined);
    if (real === undefined) continue;
    const steps = real.split(path.sep).map((_, i, parts) => parts.slice(0, i + 1).join(path.sep));
    for (const step of steps) {
      const found = await stat(step || path.sep);
      const right = found.isDirectory() ? 0o1 : 0o4;
      const shift = found.uid === user.uid ? 6 : found.gid === user.gid ? 3 : 0;
      if ((found.mode & (right << shift)) === 0) return step;
    }
  }
  return undefined;
}

async function findSetpriv(): Promise<string | undefined> {
  for (const candidate of ['/usr/bin/setpriv', '/bin/setpriv']) {
    const found = await access(candidate).then(
      () => true,
      () => false,
    );
    if (found) return candidate;
  }
  return undefined;
}

/** The narrowest capability we hold ourselves that opens every folder (bits of capability.h). */
async function traversalCapability(): Promise<string | undefined> {
  const status = await readFile('/proc/self/status', 'utf8').catch(() => '');
  const bits = (field: string) =>
    BigInt(`0x${new RegExp(`^${field}:\\s*([0-9a-f]+)$`, 'm').exec(status)?.[1] ?? '0'}`);
  const held = bits('CapEff') & bits('CapBnd');
  if (held & (1n << 2n)) return 'dac_read_search';
  if (held & (1n << 1n)) return 'dac_override';
  return undefined;
}
