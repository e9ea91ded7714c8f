import { z } from 'zod';
import {
  CATCH_UPS,
  DST_GAPS,
  DST_REPEATS,
  OVERLAPS,
  type ScheduleView,
  SLOT_REASONS,
  SLOT_STATUSES,
  type SlotView,
} from '../../core/schedule/schedule.ts';

import { warnings } from './job-answer.ts';

/** Schedules as the API returns them: open objects, checked against the types of `core`. */
const Moment = z.iso.datetime();

export const ScheduleIdParams = z.object({
  scheduleId: z
    .string()
    .describe('The id returned by POST /v1/schedules.')
    .meta({ examples: ['0199f0a1-7c3e-7000-9b1d-5a4f3c2e1400'] }),
});

export const SlotAnswer = z
  .looseObject({
    slot: Moment.describe('When it was due.'),
    local: z.string().describe('Local time of the cron expression.'),
    status: z.enum(SLOT_STATUSES),
    reason: z.enum(SLOT_REASONS).nullable().describe('Reason; null if it fired on time.'),
    through: Moment.nullable().describe('If set, the entry covers all slots up to this one.'),
    jobId: z.string().nullable(),
    jobStatus: z.string().nullable().describe('Current state of the job, as long as it is kept.'),
  })
  .meta({ id: 'Slot', description: 'A slot of a schedule and its outcome.' });
SlotAnswer satisfies z.ZodType<SlotView>;

export const ScheduleAnswer = z
  .looseObject({
    id: z.string(),
    tenant: z.string(),
    name: z.string().nullable(),
    definitionKey: z.string(),
    definitionVersion: z.int().nullable(),
    cron: z.string(),
    timezone: z.string(),
    params: z.unknown(),
    paramsShape: z.int().describe('Shape of the params, which the code may upgrade.'),
    priority: z.int(),
    enabled: z.boolean().describe('False: paused.'),
    startAt: Moment.nullable(),
    endAt: Moment.nullable(),
    jitterMs: z.int(),
    dstGap: z.enum(DST_GAPS),
    dstRepeat: z.enum(DST_REPEATS),
    catchUp: z.enum(CATCH_UPS),
    catchUpWindowMs: z.int(),
    catchUpMax: z.int(),
    overlap: z.enum(OVERLAPS),
    source: z.enum(['api', 'code']).describe('Created through the API or by defineJob.'),
    note: z
      .string()
      .nullable()
      .describe('That the code no longer has it, or why it could not run.'),
    paused: z
      .looseObject({
        since: Moment,
        by: z.string().nullable().describe('The actor, as in the audit log.'),
        reason: z.string().nullable(),
      })
      .nullable()
      .describe('Since when, by whom and why it is paused; null while it is enabled.'),
    createdAt: Moment,
    updatedAt: Moment,
    lastEnqueuedAt: Moment.nullable().describe('When it last enqueued a job.'),
    nextAt: Moment.nullable().describe('Its next slot; null while paused, and at its end.'),
    lastSlot: SlotAnswer.nullable().describe('Its newest slot, with the state of its job.'),
  })
  .meta({
    id: 'Schedule',
    description: 'A schedule.',
  }) satisfies z.ZodType<ScheduleView>;

export const NewScheduleAnswer = ScheduleAnswer.extend({ warnings }).meta({
  id: 'NewSchedule',
  description: 'A schedule that was just created, with warnings.',
});

const nextCursor = z.string().nullable().describe('Cursor of the next page; null at the end.');

export const SchedulePageAnswer = z.looseObject({ schedules: z.array(ScheduleAnswer), nextCursor });
export const SlotPageAnswer = z.looseObject({ slots: z.array(SlotAnswer), nextCursor });

export const UpcomingAnswer = z.looseObject({
  next: z.array(
    z.looseObject({
      at: Moment,
      offset: z.string().describe('Offset of the local time from UTC.'),
      note: z.string().nullable().describe('Effect of a DST change.'),
    }),
  ),
});

export const TriggerAnswer = z.looseObject({
  jobId: z.string().describe('The id of the enqueued job.'),
});
