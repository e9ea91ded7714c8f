import type { Cluster } from './cluster-folder.ts';
import { EmbeddedPostgresError } from './error.ts';
import { holderOf, readPostmasterFile } from './postmaster-file.ts';

/** Why a server did not start, as far as it matters for the next step. */
export type Obstacle =
  /** The port is in use. */
  | 'port'
  /** `postmaster.pid`, or the lock file of the socket, names a live process. */
  | 'locked'
  /** Processes of a killed server are still ending. */
  | 'lingering'
  /** It was killed or stopped before it was ready. */
  | 'interrupted'
  | 'other';

export class StartFailure extends Error {
  override name = 'StartFailure';
  readonly obstacle: Obstacle;

  constructor(message: string, obstacle: Obstacle) {
    super(message);
    this.obstacle = obstacle;
  }
}

/** Derives the obstacle from the exit and the server's log. */
export function obstacleIn(serverLog: string, signal: NodeJS.Signals | null): Obstacle {
  if (/could not bind|could not create any TCP\/IP sockets/.test(serverLog)) return 'port';
  if (/lock file "[^"]+" (already exists|is empty)/.test(serverLog)) return 'locked';
  if (/pre-existing shared memory block/.test(serverLog)) return 'lingering';
  // One of its processes may have been killed instead of the postmaster.
  if (signal !== null || /terminated by signal|received \w+ shutdown request/.test(serverLog)) {
    return 'interrupted';
  }
  return 'other';
}

/** Most obstacles go away by waiting. Throws when this one does not, or when it is `late`. */
export async function refuseIfHopeless(
  failure: StartFailure,
  cluster: Cluster,
  late: boolean,
): Promise<void> {
  const { obstacle, message } = failure;
  if (obstacle === 'locked') {
    const file = await readPostmasterFile(cluster.folder);
    const unclear = file && (await holderOf(file.pid, cluster.folder)) === 'unclear';
    if (!late && !unclear) return;
    throw new EmbeddedPostgresError(
      `${cluster.folder}/postmaster.pid names a PostgreSQL that is not of this Longshore ` +
        `(process ${file?.pid ?? 'unknown'}): stop it, choose another folder with LONGSHORE_DATA ` +
        'or set DATABASE_URL; remove that file only if no PostgreSQL runs on this folder.',
    );
  }
  if (obstacle === 'interrupted' || (!late && obstacle !== 'other')) return;
  const advice =
    obstacle === 'lingering'
      ? 'end the processes of the old server that still run, then start again'
      : 'fix that, choose another folder with LONGSHORE_DATA, or set DATABASE_URL';
  throw new EmbeddedPostgresError(
    `PostgreSQL does not start on ${cluster.folder} (${message}): ${advice}.`,
  );
}
