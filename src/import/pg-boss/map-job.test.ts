import { describe, expect, it } from 'vitest';
import { YEAR_MS } from '../../core/values/duration.ts';
import { mapRow, type PgBossRow } from './map-job.ts';

const NOW_MS = Date.parse('2030-01-01T00:00:00Z');

const row = (changes: Partial<PgBossRow> = {}): PgBossRow => ({
  id: 'f6d2',
  name: 'mail',
  priority: 0,
  data: { to: 'ada' },
  state: 'created',
  retry_limit: 2,
  retry_count: 0,
  retry_delay: 0,
  retry_backoff: false,
  singleton_key: null,
  start_after: new Date(NOW_MS),
  started_on: null,
  policy: 'standard',
  ...changes,
});
const optionsOf = (changes: Partial<PgBossRow>) => mapRow(row(changes), NOW_MS).options;
const started = { started_on: new Date(NOW_MS), state: 'retry' } as const;

describe('a job of pg-boss', () => {
  it('becomes a plain job', () => {
    expect(mapRow(row(), NOW_MS)).toEqual({
      id: 'f6d2',
      identity: 'pg-boss:f6d2',
      queue: 'mail',
      name: 'mail',
      kind: 'waiting',
      params: { to: 'ada' },
      options: { maxAttempts: 3, retry: { delaysMs: [0], jitter: 0 } },
    });
  });

  it.each<[Partial<PgBossRow>, object]>([
    [{ priority: 5 }, { priority: 5 }],
    [{ priority: 2_000_000 }, { priority: 1_000_000 }],
    [{ expire_seconds: 60 }, { timeoutSeconds: 60 }],
    [{ start_after: new Date(NOW_MS + 1) }, { runAt: new Date(NOW_MS + 1) }],
    // Attempts left: the first one and two retries, of which some are used.
    [{ ...started }, { maxAttempts: 2 }],
    [{ ...started, retry_count: 1 }, { maxAttempts: 1 }],
    [{ ...started, retry_count: 2 }, { maxAttempts: 1 }],
    [{ retry_delay: 30 }, { retry: { delaysMs: [30_000], jitter: 0 } }],
    [{ retry_delay: 30, retry_backoff: true }, { retry: { baseMs: 30_000, maxMs: YEAR_MS } }],
    [
      { ...started, retry_delay: 30, retry_backoff: true, retry_delay_max: 100 },
      { retry: { baseMs: 60_000, maxMs: 100_000 } },
    ],
    [{ policy: 'short', singleton_key: 'a' }, { unique: { key: 'a', while: 'queued' } }],
    [{ policy: 'exclusive' }, { unique: { key: 'mail', while: 'active' } }],
    [{ policy: 'singleton', singleton_key: 'a' }, { concurrencyKey: 'a' }],
    [{ group_id: 'tenant-1' }, { concurrencyKey: 'tenant-1' }],
  ])('%o has %o', (changes, expected) => {
    expect(optionsOf(changes)).toMatchObject(expected);
  });

  it('is unique only where pg-boss allows no second one', () => {
    const key = { singleton_key: 'a' };
    expect(optionsOf({ ...key, policy: 'standard' })).not.toHaveProperty('unique');
    expect(optionsOf({ ...key, ...started, policy: 'stately' })).not.toHaveProperty('unique');
  });

  it.each([
    [{ ...started }, 'retrying'],
    [{ start_after: new Date(NOW_MS + 1) }, 'delayed'],
  ])('%o is %s', (changes, kind) => expect(mapRow(row(changes), NOW_MS).kind).toBe(kind));
});
