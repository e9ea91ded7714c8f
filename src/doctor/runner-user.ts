import { type Check, ok, problem, warning } from './check.ts';

export interface RunnerUserFacts {
  /** `LONGSHORE_RUNNER_UIDS`. */
  setting: string;
  /** Who we are; null on a system without such numbers. */
  ownUid: number | null;
  /** Whether a process of a job had a user of its own; null when none could be started. */
  hasUsers: boolean | null;
  /** Why jobs run as root although nobody asked for it. */
  warning: string | null;
}

export function judgeRunnerUser(facts: RunnerUserFacts): Check {
  const { setting, ownUid, hasUsers } = facts;
  if (ownUid !== 0 && setting !== 'auto' && setting !== 'none') {
    return problem(
      'runner-user',
      'only a worker that is root may run jobs as other users',
      'unset LONGSHORE_RUNNER_UIDS, or run the worker as root',
    );
  }
  if (facts.warning !== null) {
    return problem(
      'runner-user',
      facts.warning,
      'run the worker as an ordinary user, or mend that',
    );
  }
  if (hasUsers) return ok('runner-user', 'each process of a job has a user of its own');
  if (ownUid === 0 && setting === 'none') {
    return warning(
      'runner-user',
      'jobs run as root, like their worker',
      'unset LONGSHORE_RUNNER_UIDS, or run the worker as an ordinary user',
    );
  }
  if (ownUid === 0) return ok('runner-user', 'each process of a job gets a user of its own');
  return ok(
    'runner-user',
    `jobs run as the worker does${ownUid === null ? '' : `, user ${ownUid}`}`,
  );
}
