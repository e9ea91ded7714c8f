import type { AlertView } from '../../../src/core/views/alert.ts';
import type { DeadLetterGroup } from '../../../src/core/failure/dead-letter.ts';
import type { JobView } from '../../../src/core/job/job.ts';
import type { ScheduleView } from '../../../src/core/schedule/schedule.ts';
import type { DefinitionStats } from '../../../src/core/views/stats.ts';
import type { Place } from './place.ts';
import type { World } from './jobs/why-not-running.ts';

/** What the overview looks at, and what it finds there. */
export interface Trouble {
  text: string;
  owner: string | null;
  place: Place;
  /** The rule of an alert that would say the same about this definition or schedule. */
  told?: { rule: AlertView['rule']; about: string };
}

export interface Seen extends World {
  /** Of the last day, by what went wrong. */
  failures: readonly DeadLetterGroup[];
  /** A page of those that began first. */
  running: readonly JobView[];
  schedules: readonly ScheduleView[];
  /** How many jobs of each definition there are, and which has waited longest, as of `at`. */
  stats: { at: string; definitions: readonly DefinitionStats[] };
  /** Those that fire. */
  alerts: readonly AlertView[];
}

/** Definitions that have something to do, now or later. */
export function pendingOf({ stats, schedules }: Pick<Seen, 'stats' | 'schedules'>): Set<string> {
  const waiting = stats.definitions.filter(
    ({ states }) => states.queued + states.scheduled + states.retrying > 0,
  );
  const scheduled = schedules.filter(({ enabled }) => enabled);
  return new Set([
    ...waiting.map(({ key }) => key),
    ...scheduled.map(({ definitionKey }) => definitionKey),
  ]);
}

/** When the oldest queued job was queued; null when none is. */
export function oldestSince(
  at: string,
  { oldestAgeMs }: Pick<DefinitionStats, 'oldestAgeMs'>,
): string | null {
  return oldestAgeMs === null ? null : new Date(Date.parse(at) - oldestAgeMs).toISOString();
}

export function msSince(at: string, now: Date): number {
  return now.getTime() - Date.parse(at);
}
