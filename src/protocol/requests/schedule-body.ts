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
import {
  closed,
  definitionKey,
  exampleBody,
  flag,
  instant,
  oneOf,
  text,
  whole,
} from '../fields.ts';
import { VERSION_MAX } from './job-body.ts';

const { catchUpWindowMs, catchUpMax } = SCHEDULE_DEFAULTS;

export const cron = () =>
  text(CRON_LENGTH_MAX).meta({
    description: 'Five fields, six with seconds first, or a nickname like @daily.',
    examples: ['30 2 * * *'],
  });

export const timezone = () =>
  text(64)
    .optional()
    .meta({ description: 'An IANA time zone. Default UTC.', examples: ['Europe/Berlin'] });

const fields = {
  name: text(SCHEDULE_NAME_MAX)
    .nullable()
    .optional()
    .describe('Name, unique among the schedules of a definition.'),
  definitionVersion: whole(1, VERSION_MAX)
    .nullable()
    .optional()
    .describe('Version of its jobs. Default null: the highest published version at each slot.'),
  timezone: timezone(),
  params: z.unknown().optional().describe('Params of its jobs: any JSON. Default {}.'),
  priority: whole(-PRIORITY_MAX, PRIORITY_MAX)
    .optional()
    .describe('The priority of its jobs. Default 0.'),
  enabled: flag().optional().describe('False: paused. Default true.'),
  startAt: instant().nullable().optional().describe('No slot before this time.'),
  endAt: instant().nullable().optional().describe('No slot at this time or later.'),
  jitterMs: whole(0, JITTER_MS_MAX)
    .optional()
    .describe('Random delay of jobs up to this. Default 0.'),
  dstGap: oneOf('policy', DST_GAPS)
    .optional()
    .describe('A local time skipped by DST: shift runs right after it, skip does not run.'),
  dstRepeat: oneOf('policy', DST_REPEATS)
    .optional()
    .describe('A local time repeated by DST: run once (the first time) or twice.'),
  catchUp: oneOf('policy', CATCH_UPS)
    .optional()
    .describe('Slots missed while no scheduler ran: catch up none, latest (the default) or all.'),
  catchUpWindowMs: whole(0, CATCH_UP_WINDOW_MS_MAX)
    .optional()
    .describe(
      `Maximum age of slots to catch up. Default ${catchUpWindowMs} (${catchUpWindowMs / DAY_MS} days).`,
    ),
  catchUpMax: whole(1, CATCH_UP_MAX_MAX)
    .optional()
    .describe(`With all: maximum number of slots. Default ${catchUpMax}.`),
  overlap: oneOf('policy', OVERLAPS)
    .optional()
    .describe('While an earlier job is unfinished: allow (the default), skip, or queue-one.'),
};

/** Body of `POST /v1/schedules`. */
export const ScheduleBody = closed({
  definitionKey: definitionKey().meta({
    description: 'Key of the definition.',
    examples: ['report.build'],
  }),
  cron: cron(),
  ...fields,
  requireRegistered: flag()
    .optional()
    .describe(
      'Refuse the schedule with UNREGISTERED when no worker has registered its definition, instead ' +
        'of a warning. Default: the setting LONGSHORE_UNREGISTERED of the server.',
    ),
}).meta(exampleBody({ definitionKey: 'hello', cron: '30 2 * * *', timezone: 'Europe/Berlin' }));

/** Body of `PATCH /v1/schedules/{id}`; omitted fields stay unchanged. */
export const SchedulePatch = closed({ cron: cron().optional(), ...fields }).meta(
  exampleBody({ cron: '0 6 * * 1' }),
);

export type ScheduleBody = z.infer<typeof ScheduleBody>;
export type SchedulePatch = z.infer<typeof SchedulePatch>;
