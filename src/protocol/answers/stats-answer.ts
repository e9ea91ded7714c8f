import { z } from 'zod';
import { JOB_STATES } from '../../core/job/job.ts';
import type { StatsView } from '../../core/views/stats.ts';
import { closed, wholeInQuery } from '../fields.ts';

/** A day is what is kept by the minute. */
const STATS_MINUTES_MAX = 1_440;
const STATS_WINDOW_DEFAULT = 60;

/** What `GET /v1/stats` can be asked. */
export const StatsQuery = closed({
  windowMinutes: wholeInQuery(15, STATS_MINUTES_MAX)
    .default(STATS_WINDOW_DEFAULT)
    .describe(
      'What rates, times and retries look back on, and up to a quarter of an hour more. ' +
        `Default ${STATS_WINDOW_DEFAULT}.`,
    ),
  seriesMinutes: wholeInQuery(1, STATS_MINUTES_MAX)
    .default(STATS_MINUTES_MAX)
    .describe(`How many minutes the throughput has. Default ${STATS_MINUTES_MAX}, a day.`),
});

const count = z.int().describe('How many.');
const rate = z.number().min(0).max(1).nullable();
const range = z
  .looseObject({
    from: z.number().describe('More than this.'),
    to: z.number().nullable().describe('Up to this; null: longer than all that is told apart.'),
  })
  .nullable();

const States = z
  .looseObject(Object.fromEntries(JOB_STATES.map((state) => [state, count])) as States)
  .meta({ id: 'JobCounts', description: 'How many jobs are in each state.' });
type States = Record<(typeof JOB_STATES)[number], typeof count>;

const Times = z.looseObject({ p50: range, p95: range, p99: range }).meta({
  id: 'Times',
  description:
    'Between which milliseconds each percentile lies: times are counted in buckets, and more is not ' +
    'known. Null if there were none.',
});

const Series = z.array(z.int());

export const StatsAnswer = z.looseObject({
  at: z.iso.datetime(),
  windowMinutes: z.int(),
  windowFrom: z.iso
    .datetime()
    .describe('Since when rates, times and retries are counted: a full quarter of an hour.'),
  totals: States,
  definitions: z.array(
    z.looseObject({
      key: z.string(),
      depth: z.int().describe('Jobs that wait in line: the state queued.'),
      running: z.int().describe('Jobs that a worker holds: running and cancelling.'),
      states: States,
      oldestAgeMs: z
        .int()
        .nullable()
        .describe('How long the oldest queued job has waited; null when none is queued.'),
      oldestJobId: z.string().nullable().describe('Which it is.'),
      unserved: z
        .looseObject({
          depth: z.int().describe('How many of them are queued.'),
          oldestAgeMs: z.int(),
          oldestJobId: z.string(),
        })
        .nullable()
        .describe(
          'Queued jobs of versions that no live worker has loaded, once one has waited for ' +
            'LONGSHORE_UNHANDLED_AFTER_MS; null when there are none.',
        ),
      successRate: rate.describe('Of the jobs that succeeded or failed in the window.'),
      failureRate: rate.describe('The rest of them.'),
      waitMs: Times.describe('From being in line to the start of an attempt.'),
      runMs: Times.describe('From the start of an attempt to its end, whatever that was.'),
      retries: z.int().describe('Attempts of the window that failed and are tried again.'),
    }),
  ),
  throughput: z
    .looseObject({
      from: z.iso.datetime().describe('When the first minute begins.'),
      stepMs: z.int().describe('60000.'),
      enqueued: Series,
      started: Series.describe('Attempts.'),
      succeeded: Series,
      failed: Series.describe('Dead letters.'),
      cancelled: Series,
      retried: Series,
    })
    .describe('A number for each minute, the oldest first; the last one is not over yet.'),
}) satisfies z.ZodType<StatsView>;
