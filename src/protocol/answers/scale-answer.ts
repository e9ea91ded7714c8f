import { z } from 'zod';
import { TARGET_SECONDS_DEFAULT } from '../../core/queue/wanted-slots.ts';
import type { ScaleView } from '../../core/views/scale.ts';
import { closed, wholeInQuery } from '../fields.ts';

const TARGET_SECONDS_MAX = 3_600;

/** Query of `GET /v1/scale`. */
export const ScaleQuery = closed({
  targetSeconds: wholeInQuery(1, TARGET_SECONDS_MAX)
    .default(TARGET_SECONDS_DEFAULT)
    .describe(`In which time the backlog should drain. Default ${TARGET_SECONDS_DEFAULT}.`),
});

const numbers = {
  waiting: z.int().describe('Number of queued jobs.'),
  running: z.int().describe('Number of running and cancelling jobs.'),
  oldestAgeMs: z.int().nullable().describe('Age of the oldest queued job; null if none is queued.'),
  arrivalsPerSecond: z.number().describe('Jobs that became due per second, retries included.'),
  wantedSlots: z
    .int()
    .describe(
      'Slots that the load needs: arrivals times run time, and as many as drain the backlog in ' +
        'targetSeconds; no more than the limits of definitions and tenants allow. At least the ' +
        'running jobs.',
    ),
  slots: z.int().describe('Slots of active workers that have it loaded.'),
};

export const ScaleAnswer = z.looseObject({
  at: z.iso.datetime(),
  allTenants: z.boolean().describe('Whether the jobs of all tenants count, or only yours.'),
  targetSeconds: z.int(),
  windowSeconds: z.int().describe('Time over which arrivals are counted.'),
  ...numbers,
  definitions: z
    .array(
      z.looseObject({
        key: z.string(),
        ...numbers,
        runMs: z
          .number()
          .nullable()
          .describe('Mean time of an attempt; null if none has ended yet.'),
      }),
    )
    .describe('By key. Definitions share slots, so the total is not their sum.'),
  limited: z
    .array(
      z.looseObject({
        of: z.enum(['tenant', 'definition']),
        name: z.string(),
        concurrencyLimit: z.int(),
        waiting: z.int().describe('Number of its queued jobs.'),
      }),
    )
    .describe('Concurrency limits that hold jobs back: more slots do not help them.'),
}) satisfies z.ZodType<ScaleView>;
