import { actorWords } from '../identity/actor.ts';
import { timeSince } from '../values/duration.ts';
import { printable } from '../values/printable.ts';
import type { ScheduleView } from '../schedule/schedule.ts';
import type { PauseView } from './limit-view.ts';

export function pauseWords({ scope, name, by, reason, since }: PauseView, now: Date): string {
  const what = name === null ? 'Everything' : scope === 'tenant' ? `Tenant ${name}` : name;
  const who = by === null ? '' : ` by ${printable(actorWords(by))}`;
  const why = reason === null ? '.' : `: ${printable(reason)}`;
  return `${what} was paused ${timeSince(since, now)} ago${who}${why}`;
}

/** The pause of a schedule, like that of a definition. */
export function pauseOf({ name, definitionKey, paused }: ScheduleView): PauseView {
  const { since, by, reason } = paused ?? { since: '', by: null, reason: null };
  return { scope: 'definition', name: `Schedule ${name ?? definitionKey}`, since, by, reason };
}

/** What a resume does. Null: the number of waiting jobs is not known. */
export function resumeWords(waiting: number | null): string {
  if (waiting === null) return 'Its waiting jobs start.';
  if (waiting === 0) return 'No job waits. New jobs start at once.';
  if (waiting === 1) return '1 waiting job starts.';
  return `${waiting.toLocaleString('en')} waiting jobs start.`;
}
