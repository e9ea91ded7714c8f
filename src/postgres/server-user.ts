import { platform } from 'node:os';
import {
  NOBODY_GID,
  NOBODY_UID,
  POSTGRES_GID,
  POSTGRES_UID,
} from '../core/access/machine-users.ts';
import type { Binaries } from './binaries.ts';
import { reachablePrograms } from './programs.ts';
import { firstObstacle, type ServerUser } from './reach.ts';

export { firstObstacle, type ServerUser } from './reach.ts';

/**
 * PostgreSQL refuses to run as root, rightly. For an ordinary user there is nothing to do; as root
 * the programs run as a user of their own, without any capability. The difficulty is that root's own
 * files are often below a folder that only root may enter (`/root`, `mktemp -d`, an install under
 * umask 077), so that this user reaches neither the data nor the programs by their paths.
 *
 * The data: the process is started inside its folder, while it is still root, and calls that folder
 * `/proc/self/cwd`. Whoever stands in a folder needs no right to the folders above it, and PostgreSQL
 * never leaves its data folder. The programs: a copy where everybody may read (`programs.ts`).
 */
/** As whom PostgreSQL runs when we are root. */
export const postgresUser: ServerUser = { uid: POSTGRES_UID, gid: POSTGRES_GID };

/** Who makes a new cluster: initdb insists on a user that has a name. */
export const nobody: ServerUser = { uid: NOBODY_UID, gid: NOBODY_GID };

/** What to hand to `spawn` so that a program runs as the server's user. */
export interface Launch {
  command: string;
  args: string[];
  options: { cwd: string; env: NodeJS.ProcessEnv; uid?: number; gid?: number };
}

export interface LaunchRequest {
  program: 'initdb' | 'postgres';
  /** The data folder. */
  folder: string;
  /** Its arguments, given the path by which the program reaches that folder. */
  args: (folder: string) => string[];
  /** Another user than the server's. */
  as?: ServerUser | undefined;
}

export type Launcher = (request: LaunchRequest) => Promise<Launch>;

/** The path of the folder that a process was started in, whether or not it may enter those above. */
const STANDING_IN = '/proc/self/cwd';

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
): Promise<Launcher> {
  if (!user) {
    return async ({ program, folder, args }) =>
      await Promise.resolve({
        command: binaries[program],
        args: args(folder),
        options: surroundings,
      });
  }
  const programs = await reachablePrograms(binaries, user);
  return async ({ program, folder, args, as = user }) => {
    const enters = platform() === 'linux' && (await firstObstacle([folder], as)) !== undefined;
    return {
      command: programs[program],
      args: args(enters ? STANDING_IN : folder),
      options: { ...surroundings, ...as, ...(enters && { cwd: folder }) },
    };
  };
}
