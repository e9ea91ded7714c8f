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
 * PostgreSQL refuses to run as root. For an ordinary user there is nothing to do; as root, the
 * programs run as a user of their own, without any capability. The difficulty: root's files are
 * often below a folder that only root may enter (`/root`, `mktemp -d`, an install under umask 077),
 * so this user reaches neither the data nor the programs by path.
 *
 * The data: the process starts inside its folder while it is still root, and uses `/proc/self/cwd`
 * as the path. That needs no rights on the parent folders, and PostgreSQL never leaves its data
 * folder. The programs: a copy that everyone can read (`programs.ts`).
 */
/** The user of PostgreSQL when we are root. */
export const postgresUser: ServerUser = { uid: POSTGRES_UID, gid: POSTGRES_GID };

/** The user that creates a new cluster: initdb needs a user with a name. */
export const nobodyUser: ServerUser = { uid: NOBODY_UID, gid: NOBODY_GID };

/** The options of `spawn` to run a program as the server's user. */
export interface Launch {
  command: string;
  args: string[];
  options: { cwd: string; env: NodeJS.ProcessEnv; uid?: number; gid?: number };
}

export interface LaunchRequest {
  program: 'initdb' | 'postgres';
  /** The data folder. */
  folder: string;
  /** Builds the arguments from the path by which the program reaches the folder. */
  args: (folder: string) => string[];
  /** A user other than the server's. */
  as?: ServerUser | undefined;
}

export type Launcher = (request: LaunchRequest) => Promise<Launch>;

/** The path of a process's own working directory, usable without rights on its parents. */
const STANDING_IN = '/proc/self/cwd';

export function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/**
 * A clean environment: neither PGPORT etc. nor the host's locale leak in, and our secrets do not
 * leak out. Every user may enter the working directory.
 */
const surroundings = { cwd: '/', env: { LC_ALL: 'C', TZ: 'UTC', PATH: '/usr/bin:/bin' } };

/** `user` is undefined when we are not root: then the server runs as the current user. */
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
