import { type Attempt, ESCAPES } from '../worker/probe/escape.ts';
import { type Check, ok, problem, warning } from './check.ts';

export interface EscapeFacts {
  attempts: readonly Attempt[];
  /** Whether jobs have users of their own: then every escape must have been held. */
  hasUsers: boolean;
}

/** What a job tried for real, and what came of it. */
export function judgeEscapes({ attempts, hasUsers }: EscapeFacts): Check {
  const those = (result: Attempt['result']) =>
    attempts.filter((attempt) => attempt.result === result);
  const escaped = those('escaped');
  const untried = those('untried');
  const rest =
    untried.length === 0
      ? ''
      : `; not tried: ${untried.map(({ escape, detail }) => `${escape} (${detail})`).join(', ')}`;
  const held = `${those('held').length} of ${attempts.length - untried.length} escapes of a probe job were held`;
  if (escaped.length === 0) return ok('escapes', `${held}${rest}`);
  const can = escaped.map(({ escape }) => ESCAPES[escape]).join('; ');
  const detail = `${held}; a job can: ${can}${rest}`;
  if (hasUsers) {
    const how = escaped.map((one) => `${one.escape}: ${one.detail}`).join(', ');
    return problem(
      'escapes',
      detail,
      `look at what let it (${how}); docs/isolation.md says how each is held`,
    );
  }
  return warning(
    'escapes',
    detail,
    'run the worker as root, so that each job gets a user of its own (docs/isolation.md), or let it run only code that you trust',
  );
}
