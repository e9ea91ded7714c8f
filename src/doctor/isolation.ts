import { type Check, ok, warning } from './check.ts';

export interface IsolationFacts {
  /** /bin/sh sets umask, limits and the tag of a process before the job starts. */
  shell: boolean;
  /** Whether a process was found by its tag. */
  found: boolean;
}

export function judgeIsolation({ shell, found }: IsolationFacts): Check {
  if (!shell) {
    return warning(
      'isolation',
      'no /bin/sh: jobs run with fewer limits, and leftover processes are not found',
      'use an image with a shell at /bin/sh',
    );
  }
  if (!found) {
    return warning(
      'isolation',
      'leftover processes are found only in their process group: /proc does not show limits',
      'run workers on Linux with /proc mounted',
    );
  }
  return ok('isolation', 'leftover processes of jobs are found and killed');
}
