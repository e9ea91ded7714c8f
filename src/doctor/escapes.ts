import { type Attempt, ESCAPES } from '../worker/probe/escape.ts';
import { type Check, ok, problem, warning } from './check.ts';

export interface EscapeFacts {
  attempts: readonly Attempt[];
  /** Whether job processes have their own users: then every escape must fail. */
  hasUsers: boolean;
}

/** Escapes that a probe job really tried. */
export function judgeEscapes({ attempts, hasUsers }: EscapeFacts): Check {
  const those = (result: Attempt['result']) =>
    attempts.filter((attempt) => attempt.result === result);
  const escaped = those('escaped');
  const untried = those('untried');
  const rest =
    untried.length === 0
      ? ''
      : `; not tested: ${untried.map(({ escape, detail }) => `${escape} (${detail})`).join(', ')}`;
  const held = `${those('held').length} of ${attempts.length - untried.length} escapes of a probe job were blocked`;
  if (escaped.length === 0) return ok('escapes', `${held}${rest}`);
  const can = escaped.map(({ escape }) => ESCAPES[escape]).join('; ');
  const detail = `${held}; a job can: ${can}${rest}`;
  if (hasUsers) {
    const how = escaped.map((one) => `${one.escape}: ${one.detail}`).join(', ');
    return problem(
      'escapes',
      detail,
      `find the cause (${how}); docs/isolation.md describes how each is blocked`,
    );
  }
  return warning(
    'escapes',
    detail,
    'run the worker as root, so that each job process gets its own user (docs/isolation.md), or run trusted code only',
  );
}
