import type { z } from 'zod';
import { SCHEDULE_NAME_MAX } from '../../core/schedule/schedule.ts';
import { closed, definitionKey, oneOf, text, wholeInQuery } from '../fields.ts';
import { PAGE_DEFAULT, PAGE_MAX } from './job-query.ts';

const UPCOMING_MAX = 100;
const UPCOMING_DEFAULT = 5;

const paging = {
  cursor: text(200).optional().describe('The nextCursor of the page before.'),
  limit: wholeInQuery(1, PAGE_MAX)
    .default(PAGE_DEFAULT)
    .describe(`How many a page holds at most. Default ${PAGE_DEFAULT}.`),
};

/** What `GET /v1/schedules` can be asked. */
export const ScheduleQuery = closed({
  definitionKey: definitionKey().optional().describe('Only schedules of this definition.'),
  name: text(SCHEDULE_NAME_MAX).optional().describe('Only schedules of this name.'),
  enabled: oneOf('value', ['true', 'false'])
    .optional()
    .describe('Only those that run, or only those that are paused.'),
  ...paging,
});

export const SlotQuery = closed(paging);

export const UpcomingQuery = closed({
  count: wholeInQuery(1, UPCOMING_MAX)
    .default(UPCOMING_DEFAULT)
    .describe(`How many instants. Default ${UPCOMING_DEFAULT}.`),
});

export type ScheduleQuery = z.infer<typeof ScheduleQuery>;
