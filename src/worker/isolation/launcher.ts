import type { NameTag } from '../../runtime/processes/name-tag.ts';

export const SHELL = '/bin/sh';

export interface LaunchRules {
  tag: NameTag;
  /** A limit on the memory a process may reserve; null when something better limits it. */
  dataLimitKb: number | null;
  /** A limit on how many processes the user may have; null when the user is not the jobs' own. */
  processesMax: number | null;
  /** Whether it waits for a line on file descriptor 3, while it is put where it belongs. */
  waits: boolean;
  /** A folder to go to first; null: it is there already. */
  cwd: string | null;
  /** A program that sees to it that nothing ever gains rights here, such as by `sudo`; null: none. */
  setpriv: string | null;
}

/**
 * What is set for a process and all its children can only be set by the process itself, before it
 * becomes the program. Node has no calls for that, so a shell does it and is then replaced, which
 * takes a millisecond. A limit that cannot be set is left: a stricter one is in force already.
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
