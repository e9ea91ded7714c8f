/**
 * The time zone of all times in the dashboard. It is one setting of the page, like its theme, so
 * functions that format times read it here.
 */
export const BROWSER_ZONE = 'local';

let shown: string | undefined;
const listeners: (() => void)[] = [];

/** A name of the time zone database, or that of the browser. */
export function showZone(name: string): void {
  shown = name === BROWSER_ZONE ? undefined : name;
  for (const forget of listeners) forget();
}

/** Its name in the time zone database. */
export function shownZone(): string {
  return shown ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** A formatter in the time zone of the dashboard. */
export function inZone(options: Intl.DateTimeFormatOptions): (at: Date) => string {
  let made: Intl.DateTimeFormat | null = null;
  listeners.push(() => (made = null));
  return (at) => {
    made ??= new Intl.DateTimeFormat('en-GB', { timeZone: shown, ...options });
    return made.format(at);
  };
}
