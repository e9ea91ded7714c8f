import { PRIORITY_MAX } from '../../core/definition/definition.ts';
import type { Left, WaitingSchedule } from '../source.ts';

/** A row of pg-boss's table `schedule`. Columns of newer versions are missing in older ones. */
export interface PgBossSchedule {
  name: string;
  key?: string;
  kind?: string;
  cron: string;
  timezone: string | null;
  data: unknown;
  options: { priority?: number } | null;
}

export function mapSchedule(
  row: PgBossSchedule,
  remove: () => Promise<void>,
): WaitingSchedule | Left {
  const { name: queue, key = '', kind = 'cron', cron, timezone, data, options } = row;
  const name = key === '' ? `pg-boss:${queue}` : `pg-boss:${queue}:${key}`;
  if (kind !== 'cron') {
    const reason = 'a schedule by a recurrence rule (RRULE): Longshore has cron only';
    return { queue, reason, count: 1, examples: [name] };
  }
  const { priority = 0 } = options ?? {};
  return {
    name,
    queue,
    definitionName: queue,
    cron,
    options: {
      timezone: timezone ?? 'UTC',
      params: data ?? {},
      priority: Math.min(PRIORITY_MAX, Math.max(-PRIORITY_MAX, priority)),
    },
    remove,
  };
}
