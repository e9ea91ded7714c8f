import { z } from 'zod';
import { JOB_STATES } from '../../core/job/job.ts';
import {
  type AttemptView,
  EVENT_TYPES,
  type EventView,
  LEVELS,
  LOG_STREAMS,
  type LogView,
} from '../../core/views/history.ts';
import { JobErrorAnswer } from './job-answer.ts';

/** What a job did and what happened to it, as the API answers it. Open, like all answers. */
const Moment = z.iso.datetime();
const nextCursor = z
  .string()
  .nullable()
  .describe('Ask with it for the next page; null when there is none at the moment.');

const AttemptAnswer = z
  .looseObject({
    number: z.int().describe('The first attempt is 1.'),
    claim: z.int().describe('Grows with every claim; an attempt that was given back has its own.'),
    workerId: z.string().nullable(),
    pid: z.int().nullable().describe('The process that ran it, on the host of the worker.'),
    startedAt: Moment,
    finishedAt: Moment.nullable().describe('Null while it runs.'),
    durationMs: z.number().nullable(),
    exitCode: z.int().nullable(),
    signal: z.string().nullable().describe('What ended the process, like SIGKILL.'),
    peakRssBytes: z.number().nullable().describe('The most memory it had at once.'),
    cpuMs: z.number().nullable(),
    error: JobErrorAnswer.nullable(),
    outcome: z
      .enum(JOB_STATES)
      .nullable()
      .describe(
        'The state that its end brought the job into: succeeded, failed, cancelled, retrying, queued ' +
          '(it was interrupted, or lost its worker) or scheduled (it snoozed). Null while it runs.',
      ),
  })
  .meta({
    id: 'Attempt',
    description: 'One run of a job by one worker.',
  }) satisfies z.ZodType<AttemptView>;

const EventAnswer = z
  .looseObject({
    id: z.string().describe('Grows along the history; as a cursor it leads on after this event.'),
    type: z.enum(EVENT_TYPES),
    at: Moment,
    attempt: z.int().nullable().describe('Null for what belongs to no attempt.'),
    payload: z.unknown().describe('What there is to say about it; depends on the type.'),
  })
  .meta({
    id: 'JobEvent',
    description: 'Something that happened to a job.',
  }) satisfies z.ZodType<EventView>;

const LogAnswer = z
  .looseObject({
    id: z.string().describe('Grows line by line; as a cursor it leads on after this line.'),
    attempt: z.int(),
    at: Moment,
    level: z.enum(LEVELS),
    stream: z.enum(LOG_STREAMS).describe('Where it came from; system is Longshore itself.'),
    message: z.string(),
  })
  .meta({ id: 'LogLine', description: 'A line that a job wrote.' }) satisfies z.ZodType<LogView>;

export const AttemptsAnswer = z.looseObject({
  attempts: z.array(AttemptAnswer).describe('In the order in which they began.'),
});
export const EventPageAnswer = z.looseObject({ events: z.array(EventAnswer), nextCursor });
export const LogPageAnswer = z.looseObject({ logs: z.array(LogAnswer), nextCursor });
