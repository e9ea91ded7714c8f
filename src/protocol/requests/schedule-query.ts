import type { z } from 'zod';
import { DST_GAPS, DST_REPEATS, SCHEDULE_NAME_MAX } from '../../core/schedule/schedule.ts';
import { closed, definitionKey, instant, oneOf, text, wholeInQuery } from '../fields.ts';
import { PAGE_DEFAULT, PAGE_MAX } from './job-query.ts';
import { cron, timezone } from './schedule-body.ts';

const UPCOMING_MAX = 100;
const UPCOMING_DEFAULT = 5;

const paging = {
  cursor: text(200).optional().describe('The nextCursor of the previous page.'),
  limit: wholeInQuery(1, PAGE_MAX)
    .default(PAGE_DEFAULT)
    .describe(`Page size. Default ${PAGE_DEFAULT}.`),
};

/** Query of `GET /v1/schedules`. */
export const ScheduleQuery = closed({
  definitionKey: definitionKey().optional().describe('Only schedules of this definition.'),
  name: text(SCHEDULE_NAME_MAX).optional().describe('Only schedules with this name.'),
  enabled: oneOf('value', ['true', 'false'])
    .optional()
    .describe('Only enabled (true) or only paused (false) schedules.'),
  ...paging,
});

export const SlotQuery = closed(paging);

export const UpcomingQuery = closed({
  count: wholeInQuery(1, UPCOMING_MAX)
    .default(UPCOMING_DEFAULT)
    .describe(`Number of runs. Default ${UPCOMING_DEFAULT}.`),
});

/** Query of `GET /v1/schedules/preview`: what determines the slots of a schedule. */
export const PreviewQuery = closed({
  cron: cron(),
  timezone: timezone(),
  startAt: instant().optional().describe('No slot before this time.'),
  endAt: instant().optional().describe('No slot at this time or later.'),
  dstGap: oneOf('policy', DST_GAPS).optional().describe('Default shift.'),
  dstRepeat: oneOf('policy', DST_REPEATS).optional().describe('Default once.'),
  ...UpcomingQuery.shape,
});

export type ScheduleQuery = z.infer<typeof ScheduleQuery>;
