import type { AlertView } from '../../../src/core/views/alert.ts';
import type { DeadLetterGroup } from '../../../src/core/failure/dead-letter.ts';
import type { JobView } from '../../../src/core/job/job.ts';
import type { ScheduleView } from '../../../src/core/schedule/schedule.ts';
import type { DefinitionStats } from '../../../src/core/views/stats.ts';
import type { Target } from './target.ts';
import type { World } from './jobs/why-not-running.ts';

/** One problem on the overview. */
export interface Trouble {
  text: string;
  owner: string | null;
  target: Target;
  /** The alert rule that reports the same problem; such an alert is not listed again. */
  alert?: { rule: AlertView['rule']; about: string };
}

export interface Seen extends World {
  /** Of the last 24 hours, by error. */
  failures: readonly DeadLetterGroup[];
  /** The longest running ones. */
  running: readonly JobView[];
  schedules: readonly ScheduleView[];
  /** Job counts and oldest job per definition, as of `at`. */
  stats: { at: string; definitions: readonly DefinitionStats[] };
  /** Firing alerts. */
  alerts: readonly AlertView[];
}

/** Definitions with waiting or scheduled jobs. */
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

/** When the oldest queued job was queued; null if none is. */
export function oldestSince(
  at: string,
  { oldestAgeMs }: Pick<DefinitionStats, 'oldestAgeMs'>,
): string | null {
  return oldestAgeMs === null ? null : new Date(Date.parse(at) - oldestAgeMs).toISOString();
}

export function msSince(at: string, now: Date): number {
  return now.getTime() - Date.parse(at);
}
