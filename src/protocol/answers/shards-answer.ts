import { z } from 'zod';
import { LIVE_STATES, type ShardsView } from '../../core/shards/shards.ts';

const perSecond = (what: string) =>
  z
    .number()
    .nullable()
    .describe(`${what} per second, without hooks and webhook deliveries; null if it failed.`);

type States = Record<(typeof LIVE_STATES)[number], z.ZodInt>;

export const ShardsAnswer = z.looseObject({
  at: z.iso.datetime(),
  windowSeconds: z.int().describe('Time over which the rates are counted.'),
  shards: z.array(
    z.looseObject({
      shard: z.int().describe('From 0; the ids of its jobs contain it.'),
      node: z
        .string()
        .nullable()
        .describe('Address, port and database of its PostgreSQL; null if it failed.'),
      problem: z.string().nullable().describe('Why it could not be read; null if it was.'),
      jobs: z
        .looseObject(Object.fromEntries(LIVE_STATES.map((state) => [state, z.int()])) as States)
        .nullable()
        .describe('Jobs that have not ended, hooks and webhook deliveries included, by state.'),
      oldestAgeMs: z.int().nullable().describe('Wait of the oldest queued job; null if none is.'),
      lateMs: z
        .int()
        .nullable()
        .describe('How late the most overdue scheduled, retrying or suspended job is.'),
      enqueuedPerSecond: perSecond('Enqueued jobs'),
      endedPerSecond: perSecond('Jobs that ended'),
      workers: z
        .looseObject({
          live: z.int().describe('Workers with a lease in this shard.'),
          dead: z.int().describe('Workers of the last day whose lease here has expired.'),
        })
        .nullable(),
    }),
  ),
}) satisfies z.ZodType<ShardsView>;
