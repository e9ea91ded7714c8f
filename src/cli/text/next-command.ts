import { shellWord } from '../../core/views/shell-word.ts';

/** How the user calls this command. In a project it is no global program, so npx finds it. */
export function toCall(command: string): string {
  return `npx longshore ${command}`;
}

/** The flags of this call that say which server and tenant it means. */
export interface GivenFlags {
  url?: string | undefined;
  tenant?: string | undefined;
}

/** A command to run next. It repeats the flags, so that it reaches the same server and tenant. */
export function nextCommand(command: string, given: GivenFlags): string {
  const flags = [
    ['--url', given.url],
    ['--tenant', given.tenant],
  ].flatMap(([flag, value]) => {
    if (flag === undefined || value === undefined) return [];
    return command.includes(` ${flag} `) ? [] : [flag, shellWord(value)];
  });
  return toCall([command, ...flags].join(' '));
}
