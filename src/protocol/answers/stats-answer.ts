import { z } from 'zod';
import { JOB_STATES } from '../../core/job/job.ts';
import type { StatsView } from '../../core/views/stats.ts';
import { closed, wholeInQuery } from '../fields.ts';

/** Minutes are kept for one day. */
const STATS_MINUTES_MAX = 1_440;
const STATS_WINDOW_DEFAULT = 60;

/** Query of `GET /v1/stats`. */
export const StatsQuery = closed({
  windowMinutes: wholeInQuery(15, STATS_MINUTES_MAX)
    .default(STATS_WINDOW_DEFAULT)
    .describe(
      'Window of rates, times and retries, extended to a full quarter of an hour. ' +
        `Default ${STATS_WINDOW_DEFAULT}.`,
    ),
  seriesMinutes: wholeInQuery(1, STATS_MINUTES_MAX)
    .default(STATS_MINUTES_MAX)
    .describe(`Number of minutes of the throughput. Default ${STATS_MINUTES_MAX}, a day.`),
});

const count = z.int().describe('Count.');
const rate = z.number().min(0).max(1).nullable();
const range = z
  .looseObject({
    from: z.number().describe('Exclusive lower bound.'),
    to: z.number().nullable().describe('Inclusive upper bound; null: above the highest bucket.'),
  })
  .nullable();

const States = z
  .looseObject(Object.fromEntries(JOB_STATES.map((state) => [state, count])) as States)
  .meta({ id: 'JobCounts', description: 'Number of jobs per state.' });
type States = Record<(typeof JOB_STATES)[number], typeof count>;

const Times = z.looseObject({ p50: range, p95: range, p99: range }).meta({
  id: 'Times',
  description:
    'Range of each percentile in milliseconds: durations are counted in buckets. Null without ' +
    'values.',
});

const Series = z.array(z.int());

export const StatsAnswer = z.looseObject({
  at: z.iso.datetime(),
  windowMinutes: z.int(),
  windowFrom: z.iso.datetime().describe('Start of the window, on a quarter of an hour.'),
  totals: States,
  definitions: z.array(
    z.looseObject({
      key: z.string(),
      depth: z.int().describe('Number of queued jobs.'),
      running: z.int().describe('Number of running and cancelling jobs.'),
      states: States,
      oldestAgeMs: z
        .int()
        .nullable()
        .describe('Age of the oldest queued job; null if none is queued.'),
      oldestJobId: z.string().nullable().describe('The oldest queued job.'),
      unserved: z
        .looseObject({
          depth: z.int().describe('Number of such queued jobs.'),
          oldestAgeMs: z.int(),
          oldestJobId: z.string(),
        })
        .nullable()
        .describe(
          'Queued jobs of versions that no live worker has loaded, once one has waited for ' +
            'LONGSHORE_UNSERVED_AFTER_MS; null if there are none.',
        ),
      successRate: rate.describe(
        'Share of succeeded jobs among those succeeded or failed in the window.',
      ),
      failureRate: rate.describe('Share of failed jobs among them.'),
      waitMs: Times.describe('From queued to the start of an attempt.'),
      runMs: Times.describe('From the start to the end of an attempt.'),
      retries: z.int().describe('Failed attempts of the window that are retried.'),
    }),
  ),
  throughput: z
    .looseObject({
      from: z.iso.datetime().describe('Start of the first minute.'),
      stepMs: z.int().describe('60000.'),
      enqueued: Series,
      started: Series.describe('Attempts.'),
      succeeded: Series,
      failed: Series.describe('Dead letters.'),
      cancelled: Series,
      retried: Series,
    })
    .describe('One number per minute, oldest first; the last minute is incomplete.'),
}) satisfies z.ZodType<StatsView>;
