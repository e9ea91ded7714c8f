import { describe, expect, it } from 'vitest';
import { YEAR_MS } from '../../core/values/duration.ts';
import { type BullFacts, type BullJob, mapJob } from './map-job.ts';
import { cronOfInterval, mapScheduler } from './map-scheduler.ts';

const job = (changes: Partial<BullJob> = {}): BullJob => ({
  id: '17',
  name: 'welcome',
  data: { to: 'ada' },
  timestamp: 1_900_000_000_000,
  priority: 0,
  attemptsMade: 0,
  opts: {},
  ...changes,
});
const facts: BullFacts = { queue: 'mail', dueMs: null, holdsDeduplication: false };
const optionsOf = (changes: Partial<BullJob>, more: Partial<BullFacts> = {}) =>
  mapJob(job(changes), { ...facts, ...more }).options;

describe('a job of BullMQ', () => {
  it('becomes a job that is known by queue, id and time', () => {
    expect(mapJob(job(), facts)).toEqual({
      id: '17',
      identity: 'bullmq:mail:17:1900000000000',
      queue: 'mail',
      name: 'welcome',
      kind: 'waiting',
      params: { to: 'ada' },
      options: { maxAttempts: 1, retry: { delaysMs: [0], jitter: 0 } },
    });
  });

  it.each<[Partial<BullJob>, object]>([
    [{ priority: 7 }, { priority: -7 }],
    [{ priority: 2_097_152 }, { priority: -1_000_000 }],
    [{ attemptsMade: 2, opts: { attempts: 5 } }, { maxAttempts: 3 }],
    [{ attemptsMade: 9, opts: { attempts: 5 } }, { maxAttempts: 1 }],
    [{ opts: { backoff: 500 } }, { retry: { delaysMs: [500], jitter: 0 } }],
    [
      { attemptsMade: 2, opts: { backoff: { type: 'exponential', delay: 500, jitter: 0.5 } } },
      { retry: { baseMs: 2_000, maxMs: YEAR_MS, jitter: 0.5 } },
    ],
  ])('%o has %o', (changes, expected) => {
    expect(optionsOf(changes)).toMatchObject(expected);
  });

  it('leaves a backoff that is code to the definition', () => {
    expect(optionsOf({ opts: { backoff: { type: 'mine' } } })).not.toHaveProperty('retry');
  });

  it('is unique while BullMQ itself refuses a second one', () => {
    const opts = { deduplication: { id: 'a' } };
    const unique = { key: 'a', while: 'active' };
    expect(optionsOf({ opts }, { holdsDeduplication: true })).toMatchObject({ unique });
    expect(optionsOf({ opts })).not.toHaveProperty('unique');
    const ttl = { deduplication: { id: 'a', ttl: 5 } };
    expect(optionsOf({ opts: ttl }, { holdsDeduplication: true })).not.toHaveProperty('unique');
  });
});

describe('a scheduler of BullMQ', () => {
  it.each([
    [1_000, '* * * * * *'],
    [15_000, '*/15 * * * * *'],
    [60_000, '* * * * *'],
    [300_000, '*/5 * * * *'],
    [3_600_000, '0 * * * *'],
    [6 * 3_600_000, '0 */6 * * *'],
    [86_400_000, '0 0 * * *'],
    [2 * 86_400_000, null],
    [7 * 60_000, null],
    [90_000, null],
    [500, null],
    [NaN, null],
  ])('every %d ms is %s', (ms, cron) => expect(cronOfInterval(ms)).toBe(cron));

  it('with a limit of runs stays where it is', () => {
    const found = mapScheduler(
      { key: 'k', name: 'n', every: 60_000, limit: 3 },
      'q',
      async () => {},
    );
    expect(found).toMatchObject({ queue: 'q', examples: ['k'] });
    expect(found).not.toHaveProperty('cron');
  });
});
