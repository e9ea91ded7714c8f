import cronstrue from 'cronstrue';

const NICKNAMES: Record<string, string> = {
  '@yearly': 'Every year, at 00:00 on 1 January',
  '@annually': 'Every year, at 00:00 on 1 January',
  '@monthly': 'Every month, at 00:00 on the 1st',
  '@weekly': 'Every week, at 00:00 on Sunday',
  '@daily': 'Every day, at 00:00',
  '@midnight': 'Every day, at 00:00',
  '@hourly': 'Every hour, on the hour',
};

/** A cron expression in words, or unchanged if it cannot be described. */
export function cronWords(cron: string): string {
  const nickname = NICKNAMES[cron.trim().toLowerCase()];
  if (nickname !== undefined) return nickname;
  try {
    return cronstrue.toString(cron, { use24HourTimeFormat: true, verbose: false });
  } catch {
    return cron;
  }
}

/** A cron expression and its time zone as a sentence. */
export function cronSentence(cron: string, timezone: string): string {
  const words = cronWords(cron);
  const daily = /^At (\d\d:\d\d)$/.exec(words)?.[1];
  if (daily !== undefined) return `Every day at ${daily} ${timezone}.`;
  return words === cron ? `${cron} (${timezone}).` : `${words} (${timezone}).`;
}
