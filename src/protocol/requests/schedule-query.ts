import type { z } from 'zod';
import { SCHEDULE_NAME_MAX } from '../../core/schedule/schedule.ts';
import { closed, definitionKey, oneOf, text, wholeInQuery } from '../fields.ts';
import { PAGE_DEFAULT, PAGE_MAX } from './job-query.ts';

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

export type ScheduleQuery = z.infer<typeof ScheduleQuery>;
