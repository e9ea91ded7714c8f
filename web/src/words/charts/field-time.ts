import { inZone } from '../zone.ts';

/** What a `datetime-local` field shows and what is typed into it, in the time zone of the dashboard. */
const PARTS = inZone({
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
});

/** The value of the field, in full minutes. */
export function fieldTime(at: Date): string {
  return new Date(clockMs(at.getTime())).toISOString().slice(0, 16);
}

/**
 * The time that a value of the field means; null if it is none. A time that a clock change repeats
 * is the first of both, and one that it skips is as long after the change.
 */
export function timeOfField(text: string): Date | null {
  const clock = Date.parse(`${text}Z`);
  if (Number.isNaN(clock)) return null;
  const offsets = [clock - DAY_MS, clock + DAY_MS].map((ms) => clockMs(ms) - ms);
  const times = offsets.map((offset) => clock - offset).toSorted((one, other) => one - other);
  const found = times.find((ms) => clockMs(ms) === clock) ?? times.at(-1) ?? Number.NaN;
  return Number.isNaN(found) ? null : new Date(found);
}

const DAY_MS = 86_400_000;

/** The clock of the zone, read as if it were UTC. */
function clockMs(ms: number): number {
  const [date = '', time = ''] = PARTS(new Date(ms)).split(', ');
  const [day, month, year = ''] = date.split('/');
  return Date.parse(`${year.padStart(4, '0')}-${month}-${day}T${time}Z`);
}
