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
