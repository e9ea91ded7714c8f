import { type Check, ok, warning } from './check.ts';

export interface IsolationFacts {
  /** Sets umask, limits and the name tag of a process before the job begins. */
  shell: boolean;
  /** Whether a process was found by the name tag that it was given. */
  found: boolean;
}

export function judgeIsolation({ shell, found }: IsolationFacts): Check {
  if (!shell) {
    return warning(
      'isolation',
      'no /bin/sh: jobs run with fewer limits, and what they leave behind is not found',
      'use an image that has a shell at /bin/sh',
    );
  }
  if (!found) {
    return warning(
      'isolation',
      'what jobs leave behind is found only in their process group: /proc does not show limits',
      'run workers on Linux with /proc mounted',
    );
  }
  return ok('isolation', 'what jobs leave behind is found and ended');
}
