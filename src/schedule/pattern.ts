import { Cron } from 'croner';
import { CRON_LENGTH_MAX } from '../core/schedule/schedule.ts';
import { unknownName } from '../core/values/nearest.ts';
import { ScheduleError } from './error.ts';

/**
 * A cron expression. Croner does all arithmetic, on plain calendar time as if the local clock were
 * UTC, so that `calendar.ts` alone decides about clock changes. Its searches end after 400 years.
 */
export interface Pattern {
  /**
   * Whether the hours are named (`30 2 * * *`, `0 9-17 * * *`). Then the expression means times of
   * day, and policy decides about times that do not exist or occur twice. With any hour (`*` or a
   * step) it means an interval, which continues in real time.
   */
  readonly byClock: boolean;
  /** The first matching local time after this one, or null. */
  next(localMs: number): number | null;
  /** The last matching local time before this one, or null. */
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

/** Each pattern takes 160 KB inside croner, so only a few are cached. */
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
      // Croner searches before the whole second it gets.
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
    // Croner reads a text with a colon as a date; a text that long is not an expression.
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
