import { PRIORITY_MAX } from '../../core/definition/definition.ts';
import type { Left, WaitingSchedule } from '../source.ts';

/** What the import reads of a job scheduler of BullMQ. */
export interface BullScheduler {
  key: string;
  name: string;
  pattern?: string | undefined;
  every?: number | string | undefined;
  tz?: string | undefined;
  limit?: number | undefined;
  endDate?: number | undefined;
  template?: { data?: unknown; opts?: { priority?: number | undefined } | undefined } | undefined;
}

export function mapScheduler(
  scheduler: BullScheduler,
  queue: string,
  remove: () => Promise<void>,
): WaitingSchedule | Left {
  const { key, name, pattern, every, tz = 'UTC', limit, endDate, template } = scheduler;
  const left = (reason: string) => ({ queue, reason, count: 1, examples: [key] });
  if (limit !== undefined) return left('a schedule with a limit of runs, which Longshore has not');
  const cron = pattern ?? cronOfInterval(Number(every));
  if (cron === null) return left(`a schedule every ${every} ms, which is no cron expression`);
  const { priority = 0 } = template?.opts ?? {};
  return {
    name: `bullmq:${queue}:${key}`,
    queue,
    definitionName: name,
    cron,
    options: {
      timezone: tz,
      params: template?.data ?? {},
      priority: -Math.min(priority, PRIORITY_MAX),
      ...(endDate !== undefined && { endAt: new Date(Number(endDate)) }),
    },
    remove,
  };
}

/** The units of a cron expression: milliseconds, how many there are, and the expression. */
const UNITS: [ms: number, count: number, cron: (every: string) => string][] = [
  [24 * 3_600_000, 1, () => '0 0 * * *'],
  [3_600_000, 24, (every) => `0 ${every} * * *`],
  [60_000, 60, (every) => `${every} * * * *`],
  [1_000, 60, (every) => `${every} * * * * *`],
];

/** Null unless the interval divides a minute, an hour or a day. */
export function cronOfInterval(intervalMs: number): string | null {
  for (const [ms, count, cron] of UNITS) {
    const step = intervalMs / ms;
    if (step >= 1) {
      const fits = Number.isInteger(step) && count % step === 0 && (count === 1 || step < count);
      return fits ? cron(step === 1 ? '*' : `*/${step}`) : null;
    }
  }
  return null;
}
