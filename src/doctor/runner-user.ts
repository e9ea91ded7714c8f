import { type Check, ok, problem, warning } from './check.ts';

export interface RunnerUserFacts {
  /** `LONGSHORE_RUNNER_UIDS`. */
  setting: string;
  /** Own user id; null on systems without user ids. */
  ownUid: number | null;
  /** Whether a job process had its own user; null if none could be started. */
  hasUsers: boolean | null;
  /** Why jobs run as root although not configured. */
  warning: string | null;
}

export function judgeRunnerUser(facts: RunnerUserFacts): Check {
  const { setting, ownUid, hasUsers } = facts;
  if (ownUid !== 0 && setting !== 'auto' && setting !== 'none') {
    return problem(
      'runner-user',
      'only a root worker can run jobs as other users',
      'unset LONGSHORE_RUNNER_UIDS, or run the worker as root',
    );
  }
  if (facts.warning !== null) {
    return problem('runner-user', facts.warning, 'run the worker as an ordinary user, or fix this');
  }
  if (hasUsers) return ok('runner-user', 'each job process has its own user');
  if (ownUid === 0 && setting === 'none') {
    return warning(
      'runner-user',
      'jobs run as root, like their worker',
      'unset LONGSHORE_RUNNER_UIDS, or run the worker as an ordinary user',
    );
  }
  if (ownUid === 0) return ok('runner-user', 'each job process gets its own user');
  return ok(
    'runner-user',
    `jobs run as the user of the worker${ownUid === null ? '' : ` (${ownUid})`}`,
  );
}
