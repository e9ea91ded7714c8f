import { shellWord } from '../../core/views/shell-word.ts';

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
  return ['npx longshore', command, ...flags].join(' ');
}
