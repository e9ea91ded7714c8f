import { type Check, ok, problem, warning } from './check.ts';

export interface RunnerUserFacts {
  uid: number | null;
  gid: number | null;
  /** Who we are; null on a system without such numbers. */
  ownUid: number | null;
}

const SETTINGS = 'LONGSHORE_RUNNER_UID and LONGSHORE_RUNNER_GID';

export function judgeRunnerUser({ uid, gid, ownUid }: RunnerUserFacts): Check {
  const named = uid !== null || gid !== null;
  if (named && ownUid !== 0) {
    return problem(
      'runner-user',
      'only a worker that is root may run jobs as another user',
      `unset ${SETTINGS}, or run the worker as root`,
    );
  }
  if (named) {
    return ok('runner-user', `jobs run as user ${uid ?? ownUid}, group ${gid ?? "the worker's"}`);
  }
  if (ownUid === 0) {
    return warning(
      'runner-user',
      'jobs run as root, like their worker',
      `set ${SETTINGS} to a user of their own, or run the worker as an ordinary user`,
    );
  }
  return ok(
    'runner-user',
    `jobs run as the worker does${ownUid === null ? '' : `, user ${ownUid}`}`,
  );
}
