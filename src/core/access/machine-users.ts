/**
 * The user ids that Longshore, when it runs as root, gives to its processes. They are in one file
 * so that jobs and the database never share a user: the uid of the database can read its password
 * and its files.
 */
export interface UidRange {
  first: number;
  last: number;
}

/**
 * The embedded PostgreSQL. No distribution hands this number out: systemd's dynamic users end at
 * 65519, and 65534 is a system user. Below 65536, it also exists in containers with mapped users.
 */
export const POSTGRES_UID = 65_525;
export const POSTGRES_GID = 65_525;

/** A system user on practically every Linux: many programs run as it. */
export const NOBODY_UID = 65_534;
export const NOBODY_GID = 65_534;

/** Where runners get their uids from by default, one for each slot. */
export const RUNNER_UIDS: UidRange = { first: 70_000, last: 79_999 };

/**
 * Whether the process at the other end of a connection may belong to a job. `users` is null where
 * the system cannot say, and empty when the process has already exited, which a job could do on
 * purpose.
 */
export function maybeRunner(users: readonly number[] | null, ranges: readonly UidRange[]): boolean {
  if (users === null || ranges.length === 0) return false;
  const isRunner = (uid: number) => ranges.some(({ first, last }) => uid >= first && uid <= last);
  return users.length === 0 || users.some(isRunner);
}

/**
 * Why runners must not use these uids; null when they may. `databaseUid` owns the database files.
 */
export function runnerUidProblem(
  { first, last }: UidRange,
  databaseUid: number = POSTGRES_UID,
): string | null {
  for (const uid of new Set([databaseUid, POSTGRES_UID])) {
    if (uid < first || uid > last) continue;
    const named = first === last ? `uid ${uid}` : `uid ${uid} of ${first}-${last}`;
    return (
      `jobs must not run as ${named}, the user of the embedded PostgreSQL: ` +
      'a job could read the password of the database. Choose other uids for runners'
    );
  }
  return null;
}
