import { z } from 'zod';
import { PRIORITY_MAX } from '../../core/definition/definition.ts';
import { DAY_MS } from '../../core/values/duration.ts';
import {
  CATCH_UP_MAX_MAX,
  CATCH_UP_WINDOW_MS_MAX,
  CATCH_UPS,
  CRON_LENGTH_MAX,
  DST_GAPS,
  DST_REPEATS,
  JITTER_MS_MAX,
  OVERLAPS,
  SCHEDULE_DEFAULTS,
  SCHEDULE_NAME_MAX,
} from '../../core/schedule/schedule.ts';
import { closed, definitionKey, flag, instant, oneOf, text, whole } from '../fields.ts';
import { VERSION_MAX } from './job-body.ts';

const { catchUpWindowMs, catchUpMax } = SCHEDULE_DEFAULTS;

const fields = {
  name: text(SCHEDULE_NAME_MAX)
    .nullable()
    .optional()
    .describe('A word for people and programs, unique among the schedules of a definition.'),
  definitionVersion: whole(1, VERSION_MAX)
    .nullable()
    .optional()
    .describe('Which version its jobs are of. Default null: the highest published one each time.'),
  timezone: text(64)
    .optional()
    .meta({ description: 'An IANA time zone. Default UTC.', examples: ['Europe/Berlin'] }),
  params: z.unknown().optional().describe('The params of its jobs: any JSON. Default {}.'),
  priority: whole(-PRIORITY_MAX, PRIORITY_MAX)
    .optional()
    .describe('The priority of its jobs. Default 0.'),
  enabled: flag().optional().describe('False: paused. Default true.'),
  startAt: instant().nullable().optional().describe('No slot before this time.'),
  endAt: instant().nullable().optional().describe('No slot at this time or later.'),
  jitterMs: whole(0, JITTER_MS_MAX)
    .optional()
    .describe('Spreads jobs over so long after their slot. Default 0.'),
  dstGap: oneOf('policy', DST_GAPS)
    .optional()
    .describe('A local time that does not exist: shift runs right after, skip does not run.'),
  dstRepeat: oneOf('policy', DST_REPEATS)
    .optional()
    .describe('A local time that comes twice: run once, the first time, or twice.'),
  catchUp: oneOf('policy', CATCH_UPS)
    .optional()
    .describe('Slots that nobody saw: none, latest (the default) or all are made good for.'),
  catchUpWindowMs: whole(0, CATCH_UP_WINDOW_MS_MAX)
    .optional()
    .describe(
      `But none older than this. Default ${catchUpWindowMs} (${catchUpWindowMs / DAY_MS} days).`,
    ),
  catchUpMax: whole(1, CATCH_UP_MAX_MAX)
    .optional()
    .describe(`And with all, the newest so many at most. Default ${catchUpMax}.`),
  overlap: oneOf('policy', OVERLAPS)
    .optional()
    .describe('While an earlier job goes on: allow (the default), skip, or queue-one.'),
};

const cron = () =>
  text(CRON_LENGTH_MAX).meta({
    description: 'Five fields, six with seconds first, or a nickname like @daily.',
    examples: ['30 2 * * *'],
  });

/** What `POST /v1/schedules` takes. */
export const ScheduleBody = closed({
  definitionKey: definitionKey().meta({
    description: 'Which definition its jobs are of.',
    examples: ['report.build'],
  }),
  cron: cron(),
  ...fields,
});

/** What `PATCH /v1/schedules/{id}` takes: what is not named stays as it is. */
export const SchedulePatch = closed({ cron: cron().optional(), ...fields });

export type ScheduleBody = z.infer<typeof ScheduleBody>;
export type SchedulePatch = z.infer<typeof SchedulePatch>;
