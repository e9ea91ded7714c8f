import type { NameTag } from '../../runtime/processes/name-tag.ts';

export const SHELL = '/bin/sh';

export interface LaunchRules {
  tag: NameTag;
  /** A limit on reserved memory; null when something better limits it. */
  dataLimitKb: number | null;
  /** A limit on the processes of the user; null when the user is not exclusive to jobs. */
  processesMax: number | null;
  /** Whether it waits for a line on file descriptor 3 while it is moved into its control group. */
  waits: boolean;
  /** The folder to change to first; null: already there. */
  cwd: string | null;
  /** A program that prevents gaining privileges, such as by `sudo`; null: none. */
  setpriv: string | null;
}

/**
 * Limits for a process and its children can only be set by the process itself, before exec. Node
 * has no calls for that, so a shell does it and is then replaced, which takes a millisecond. A
 * limit that cannot be set is skipped: a stricter one is in force already.
 */
export function launchLine(rules: LaunchRules, argv: readonly string[]): string[] {
  const { tag, dataLimitKb, processesMax, waits, cwd, setpriv } = rules;
  const script = [
    'umask 077',
    limit('c', 0),
    limit('m', tag),
    ...(dataLimitKb === null ? [] : [limit('d', dataLimitKb)]),
    // Shells differ in the letter.
    ...(processesMax === null
      ? []
      : [`${limit('u', processesMax)} || ${limit('p', processesMax)}`]),
    ...(waits ? ['read -r go <&3 || exit 1'] : []),
    ...(cwd === null ? [] : ['cd -- "$1" || exit 1', 'shift']),
    'exec "$@"',
  ];
  const program = setpriv === null ? argv : [setpriv, '--no-new-privs', ...argv];
  return [SHELL, '-c', script.join('; '), 'sh', ...(cwd === null ? [] : [cwd]), ...program];
}

function limit(letter: string, value: number): string {
  return `ulimit -${letter} ${value} 2>/dev/null`;
}
