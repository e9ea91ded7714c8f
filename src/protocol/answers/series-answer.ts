import { z } from 'zod';
import type { SeriesView } from '../../core/series/series.ts';
import { SERIES_DAYS_MAX } from '../../core/series/series-plan.ts';
import { closed, definitionKey, instant, oneOf, wholeInQuery } from '../fields.ts';

export const SERIES_MINUTES_DEFAULT = 60;

/** Query of `GET /v1/series`. */
export const SeriesQuery = closed({
  definitionKey: definitionKey().optional().describe('One definition. Default: all together.'),
  minutes: wholeInQuery(1, SERIES_DAYS_MAX * 1_440)
    .optional()
    .describe(`How far back from \`to\`, instead of \`from\`. Default ${SERIES_MINUTES_DEFAULT}.`),
  from: instant().optional().describe(`Start, at most ${SERIES_DAYS_MAX} days ago.`),
  to: instant().optional().describe('End. Default now.'),
  histograms: oneOf('value', ['true', 'false'])
    .optional()
    .describe('Include the counts of wait and run times by bucket.'),
}).refine(({ minutes, from }) => minutes === undefined || from === undefined, {
  path: ['minutes'],
  error: 'cannot be combined with from',
});

const Counts = z.array(z.int());

const Percentiles = z
  .looseObject({
    p50: z.array(z.number().nullable()),
    p95: z.array(z.number().nullable()),
    p99: z.array(z.number().nullable()),
  })
  .meta({
    id: 'Percentiles',
    description:
      'Estimates in milliseconds, off by at most 10 % from 5 ms to 24 h; null for a step without ' +
      'values. Times below 5 ms are given as 2.5, times above 24 h as 24 h.',
  });

const WholePercentiles = z
  .looseObject({
    p50: z.number().nullable(),
    p95: z.number().nullable(),
    p99: z.number().nullable(),
  })
  .meta({
    id: 'WholePercentiles',
    description: 'The same estimates over all steps; null without values.',
  });

const Histogram = z
  .looseObject({
    buckets: z
      .array(z.looseObject({ from: z.number(), to: z.number().nullable() }))
      .describe('In milliseconds; `to` is null above the last edge.'),
    counts: z.array(Counts).describe('One list per step, one number per bucket.'),
  })
  .meta({ id: 'SeriesHistogram', description: 'Counts of times by step and bucket.' });

export const SeriesAnswer = z.looseObject({
  at: z.iso.datetime(),
  definitionKey: z.string().nullable().describe('Null: all definitions.'),
  from: z.iso.datetime().describe('Start of the first step.'),
  to: z.iso.datetime().describe('End of the last step, which may be incomplete.'),
  stepMs: z.int().describe('One minute to one day: at most about 120 steps.'),
  enqueued: Counts,
  started: Counts.describe('Attempts.'),
  succeeded: Counts,
  failed: Counts.describe('Dead letters.'),
  cancelled: Counts,
  retried: Counts.describe('Failed attempts that are retried.'),
  depth: Counts.describe(
    'Number of queued jobs: the largest at the end of a stored slot of the step (one minute for a ' +
      'day, 15 minutes for eight days, then one hour); in the last step, the number at its end or now.',
  ),
  waitMs: Percentiles.describe('From queued to the start of an attempt.'),
  runMs: Percentiles.describe('From the start to the end of an attempt.'),
  whole: z
    .looseObject({
      waitMs: WholePercentiles,
      runMs: WholePercentiles,
      depthMax: z.int().describe('The largest number of queued jobs at the end of a stored slot.'),
    })
    .describe('Of the whole range.'),
  histograms: z
    .looseObject({ wait: Histogram, run: Histogram })
    .nullable()
    .describe('Null unless asked for.'),
}) satisfies z.ZodType<SeriesView>;
