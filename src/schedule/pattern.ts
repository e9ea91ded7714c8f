import { Cron } from 'croner';
import { CRON_LENGTH_MAX } from '../core/schedule/schedule.ts';
import { unknownName } from '../core/values/nearest.ts';
import { ScheduleError } from './error.ts';

/**
 * A cron expression. All arithmetic is croner's; it is asked about plain calendar time, as if the
 * local clock ran in UTC, so that what clocks do twice a year is decided in one place, by policy
 * (`calendar.ts`). Its searches are bounded: 400 years on, it gives up.
 */
export interface Pattern {
  /**
   * Whether the hours are named (`30 2 * * *`, `0 9-17 * * *`). Then people mean times of the day,
   * and what happens to a time that does not exist or comes twice is a question of policy. With any
   * hour (`*` or a step of it) they mean a rhythm, which goes on in real time.
   */
  readonly byClock: boolean;
  /** The first local time after this one that matches, or null. */
  next(localMs: number): number | null;
  /** The last local time before this one that matches, or null. */
  previous(localMs: number): number | null;
}

const NICKNAMES = [
  '@yearly',
  '@annually',
  '@monthly',
  '@weekly',
  '@daily',
  '@midnight',
  '@hourly',
] as const;

/** Each one takes 160 KB inside croner, so only a few are kept. */
const PATTERNS_REMEMBERED = 64;
const remembered = new Map<string, Pattern>();

export function patternOf(cron: string): Pattern {
  const known = remembered.get(cron);
  if (known) return known;
  const made = readPattern(cron);
  const [oldest] = remembered.keys();
  if (remembered.size >= PATTERNS_REMEMBERED && oldest !== undefined) remembered.delete(oldest);
  remembered.set(cron, made);
  return made;
}

function readPattern(text: string): Pattern {
  const cron = croner(text.trim());
  const fields = (cron.getPattern() ?? '').split(/\s+/);
  const hours = fields.at(-4) ?? '*';
  return {
    byClock: !/[*?]/.test(hours),
    next: (localMs) => cron.nextRun(new Date(localMs))?.getTime() ?? null,
    previous: (localMs) => {
      // Croner looks before the whole second that it is given.
      const before = new Date(Math.ceil(localMs / 1_000) * 1_000);
      return cron.previousRuns(1, before)[0]?.getTime() ?? null;
    },
  };
}

function croner(text: string): Cron {
  if (text.startsWith('@')) {
    const known: readonly string[] = NICKNAMES;
    if (!known.includes(text.toLowerCase())) throw wrong(unknownName('nickname', text, NICKNAMES));
  } else {
    const fields = text.split(/\s+/).length;
    // A text with a colon would be a date to croner; one that long is no expression at all.
    if (text.includes(':') || text.length > CRON_LENGTH_MAX || (fields !== 5 && fields !== 6)) {
      throw wrong('must be 5 fields (minute hour day month weekday), or 6 with seconds first');
    }
  }
  try {
    return new Cron(text, { utcOffset: 0, mode: '5-or-6-parts' });
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/^CronPattern: /, '') : '';
    throw wrong(`is not a cron expression: ${reason}`);
  }
}

function wrong(sentence: string): ScheduleError {
  return new ScheduleError('cron', sentence);
}
