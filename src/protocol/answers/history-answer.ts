import { z } from 'zod';
import { JOB_STATES } from '../../core/job/job.ts';
import {
  type AttemptView,
  EVENT_TYPES,
  type EventView,
  LEVELS,
  LOG_STREAMS,
  type LogView,
  type StepsView,
  type StreamView,
} from '../../core/views/history.ts';
import { JobErrorAnswer } from './job-answer.ts';

/** History of a job. Open objects, like all responses. */
const Moment = z.iso.datetime();
const nextCursor = z
  .string()
  .nullable()
  .describe('Cursor of the next page; null if there is none yet.');

const AttemptAnswer = z
  .looseObject({
    number: z.int().describe('The first attempt is 1.'),
    claim: z.int().describe('Increases with every claim, also of returned ones.'),
    definitionVersion: z.int().describe('Version of the code that it ran.'),
    workerId: z.string().nullable(),
    pid: z.int().nullable().describe('Process id on the host of the worker.'),
    startedAt: Moment,
    finishedAt: Moment.nullable().describe('Null while it runs.'),
    durationMs: z.number().nullable().describe('From startedAt to finishedAt of the attempt.'),
    exitCode: z.int().nullable(),
    signal: z.string().nullable().describe('Signal that ended the process, like SIGKILL.'),
    peakRssBytes: z.number().nullable().describe('Peak memory.'),
    cpuMs: z.number().nullable(),
    error: JobErrorAnswer.nullable(),
    outcome: z
      .enum(JOB_STATES)
      .nullable()
      .describe(
        'State of the job after the attempt: succeeded, failed, cancelled, retrying, queued ' +
          '(interrupted, or the worker was lost) or scheduled (snoozed). Null while it runs.',
      ),
  })
  .meta({
    id: 'Attempt',
    description: 'One run of a job by one worker.',
  }) satisfies z.ZodType<AttemptView>;

const EventAnswer = z
  .looseObject({
    id: z.string().describe('Increasing; as a cursor it continues after this event.'),
    type: z.enum(EVENT_TYPES),
    at: Moment,
    attempt: z.int().nullable().describe('Null if it belongs to no attempt.'),
    payload: z.unknown().describe('Details, depending on the type.'),
  })
  .meta({
    id: 'JobEvent',
    description: 'An event of a job.',
  }) satisfies z.ZodType<EventView>;

const LogAnswer = z
  .looseObject({
    id: z.string().describe('Increasing; as a cursor it continues after this line.'),
    attempt: z.int(),
    at: Moment,
    level: z.enum(LEVELS),
    stream: z.enum(LOG_STREAMS).describe('Source; system is Longshore itself.'),
    message: z.string(),
  })
  .meta({ id: 'LogLine', description: 'A log line of a job.' }) satisfies z.ZodType<LogView>;

const StepAnswer = z
  .looseObject({
    name: z.string(),
    claim: z.int().describe('Claim of the attempt that ran it.'),
    at: Moment.describe('When it was stored, right after its end.'),
    durationMs: z.int().nullable().describe('How long it ran; null if it was not measured.'),
    value: z.unknown(),
  })
  .meta({ id: 'Step', description: 'A value that a step of a job stored.' });

export const DefinitionLogsAnswer = z.looseObject({
  logs: z.array(LogAnswer.extend({ jobId: z.string() })),
});

export const StepsAnswer = z.looseObject({
  steps: z.array(StepAnswer).describe('In the order in which they were stored.'),
  checkpoint: z
    .looseObject({ at: Moment, value: z.unknown() })
    .nullable()
    .describe('The latest checkpoint.'),
  complete: z.boolean().describe('False after 1,000 steps or 4 MB.'),
}) satisfies z.ZodType<StepsView>;

const StreamEntryAnswer = z.looseObject({
  id: z.string().describe('For Last-Event-ID and cursor.'),
  attempt: z.int(),
  text: z
    .string()
    .nullable()
    .describe('Null: the code of the job begins, or begins again, and the stream starts over.'),
}) satisfies z.ZodType<StreamView>;

export const AttemptsAnswer = z.looseObject({
  attempts: z.array(AttemptAnswer).describe('In the order of their start.'),
});
export const EventPageAnswer = z.looseObject({ events: z.array(EventAnswer), nextCursor });
export const StreamPageAnswer = z.looseObject({ stream: z.array(StreamEntryAnswer), nextCursor });
export const LogPageAnswer = z.looseObject({ logs: z.array(LogAnswer), nextCursor });
