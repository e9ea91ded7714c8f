const NAMES: Record<string, string> = {
  '/cron': 'The cron expression',
  '/timezone': 'The time zone',
  '/startAt': 'The start',
  '/endAt': 'The end',
};

/** Why the server refuses the times of a schedule, in sentences. */
export function violationWords({ pointer, detail }: { pointer: string; detail: string }): string {
  const [, typed, nearest] =
    /^unknown timezone (".*?")(?:: did you mean (".+")\?)?$/.exec(detail) ?? [];
  if (typed !== undefined) {
    return `Unknown time zone ${typed}.${nearest === undefined ? '' : ` Did you mean ${nearest}?`}`;
  }
  // The name of the field would say it twice.
  const said = detail.startsWith('is not a cron expression') ? 'This' : NAMES[pointer];
  return `${said ?? pointer} ${detail}${/[.?!]$/.test(detail) ? '' : '.'}`;
}
