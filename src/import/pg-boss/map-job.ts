import type { EnqueueOptions } from '../../client/index.ts';
import {
  MAX_ATTEMPTS_MAX,
  PRIORITY_MAX,
  TIMEOUT_SECONDS_MAX,
} from '../../core/definition/definition.ts';
import { YEAR_MS } from '../../core/values/duration.ts';
import type { WaitingJob } from '../source.ts';

/** A row of pg-boss's table `job`. Columns of newer versions are missing in older ones. */
export interface PgBossRow {
  id: string;
  name: string;
  priority: number;
  data: unknown;
  state: 'created' | 'retry';
  retry_limit: number;
  retry_count: number;
  retry_delay: number;
  retry_backoff: boolean;
  retry_delay_max?: number | null;
  expire_seconds?: number | null;
  singleton_key: string | null;
  group_id?: string | null;
  start_after: Date;
  started_on: Date | null;
  policy: string | null;
  blocked?: boolean;
}

export function mapRow(row: PgBossRow, nowMs: number): WaitingJob {
  const isRetry = row.state === 'retry';
  const isDue = row.start_after.getTime() <= nowMs;
  const options: EnqueueOptions = {
    ...(row.priority !== 0 && { priority: bounded(row.priority, -PRIORITY_MAX, PRIORITY_MAX) }),
    ...(!isDue && { runAt: row.start_after }),
    maxAttempts: bounded(row.retry_limit + 1 - attemptsMade(row), 1, MAX_ATTEMPTS_MAX),
    retry: retryOf(row),
    ...uniqueOf(row),
    ...concurrencyOf(row),
  };
  const { expire_seconds: seconds } = row;
  if (seconds) options.timeoutSeconds = Math.min(seconds, TIMEOUT_SECONDS_MAX);
  return {
    id: row.id,
    identity: `pg-boss:${row.id}`,
    queue: row.name,
    name: row.name,
    kind: isRetry ? 'retrying' : isDue ? 'waiting' : 'delayed',
    params: row.data ?? {},
    options,
  };
}

/** pg-boss counts retries, and only when one begins. */
function attemptsMade({ started_on: startedOn, retry_count: retries }: PgBossRow): number {
  return startedOn === null ? 0 : retries + 1;
}

function retryOf(row: PgBossRow): EnqueueOptions['retry'] {
  const { retry_backoff: doubles, retry_delay: seconds, retry_delay_max: maxSeconds } = row;
  if (!doubles) return { delaysMs: [bounded(seconds * 1_000, 0, YEAR_MS)], jitter: 0 };
  // The attempts here begin at 1 again, so the first delay is the next one there.
  const nextMs = Math.max(seconds, 1) * 1_000 * 2 ** Math.min(16, attemptsMade(row));
  const maxMs = maxSeconds ? bounded(maxSeconds * 1_000, 0, YEAR_MS) : YEAR_MS;
  return { baseMs: Math.min(nextMs, maxMs), maxMs };
}

/** Only where pg-boss itself allows no second one, so that no two jobs become one. */
function uniqueOf({ policy, state, singleton_key, name }: PgBossRow): EnqueueOptions {
  const key = singleton_key ?? name;
  if (policy === 'exclusive') return { unique: { key, while: 'active' } };
  const isLoneCreated = (policy === 'short' || policy === 'stately') && state === 'created';
  return isLoneCreated ? { unique: { key, while: 'queued' } } : {};
}

/** Policies that let one job of a key run at a time; the definition says how many. */
function concurrencyOf({ policy, singleton_key, group_id, name }: PgBossRow): EnqueueOptions {
  const isOneAtATime = ['singleton', 'stately', 'key_strict_fifo'].includes(policy ?? '');
  const key = isOneAtATime ? (singleton_key ?? name) : group_id;
  return key ? { concurrencyKey: key } : {};
}

function bounded(value: number, min: number, max: number): number {
  return Math.min(max, Math.max(min, value));
}
