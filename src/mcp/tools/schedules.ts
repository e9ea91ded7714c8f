import type { Schedule } from '../../client/index.ts';
import { closed, definitionKey, text, whole } from '../../protocol/fields.ts';
import { findSchedule } from '../find.ts';
import { tool } from '../tool.ts';
import { type Facts, facts } from '../text/facts.ts';

const LIMIT_DEFAULT = 20;
const one = closed({ schedule: text(200).describe('The id or the name of the schedule.') });

export const listSchedules = tool({
  name: 'list_schedules',
  title: 'Schedules',
  description: 'Lists schedules: cron, time zone, next run, and what became of the last run.',
  scope: 'jobs:read',
  effect: 'reads',
  idempotent: true,
  input: closed({
    definition: definitionKey().optional().describe('Only schedules of this definition.'),
    limit: whole(1, 100).default(LIMIT_DEFAULT).describe(`Default ${LIMIT_DEFAULT}.`),
    cursor: text(200).optional().describe('nextCursor of the previous answer.'),
  }),
  run: async ({ definition: key, limit, cursor }, { client }) => {
    const filter = { definitionKey: key, limit, cursor };
    const { schedules, nextCursor } = await client.schedules.list(filter);
    const none = schedules.length === 0 ? 'No schedules.' : null;
    return facts({ none, schedules: schedules.map(rowOf), nextCursor });
  },
});

export const runSchedule = tool({
  name: 'run_schedule',
  title: 'Run a schedule now',
  description: 'Starts a job of a schedule now, also while the schedule is paused.',
  scope: 'operate',
  effect: 'adds',
  idempotent: false,
  input: one,
  run: async ({ schedule }, { client }) => {
    const { id, name, definitionKey: key } = await findSchedule(client, schedule);
    const { jobId } = await client.schedules.trigger(id);
    return facts({
      done: 'A job was started; explain_job shows it.',
      jobId,
      id,
      name,
      definition: key,
    });
  },
});

export const pauseSchedule = tool({
  name: 'pause_schedule',
  title: 'Pause a schedule',
  description: 'Pauses a schedule: it makes no jobs until it is resumed. Its running jobs go on.',
  scope: 'operate',
  effect: 'ends',
  idempotent: true,
  input: one.extend({
    reason: text(500).optional().describe('Why, for those who find it paused.'),
  }),
  run: async ({ schedule, reason }, { client }) => {
    const { id } = await findSchedule(client, schedule);
    return { done: 'It is paused.', ...rowOf(await client.schedules.pause(id, reason)) };
  },
});

export const resumeSchedule = tool({
  name: 'resume_schedule',
  title: 'Resume a schedule',
  description: 'Resumes a paused schedule with its next slot; missed slots are not made up.',
  scope: 'operate',
  effect: 'adds',
  idempotent: true,
  input: one,
  run: async ({ schedule }, { client }) => {
    const { id } = await findSchedule(client, schedule);
    return { done: 'It runs again.', ...rowOf(await client.schedules.resume(id)) };
  },
});

function rowOf({ id, name, definitionKey: key, cron, timezone, ...rest }: Schedule): Facts {
  const { enabled, paused, note, nextAt, lastSlot: last } = rest;
  return facts({
    id,
    name,
    definition: key,
    cron,
    timezone,
    paused: enabled ? null : (paused?.reason ?? true),
    note,
    nextAt,
    last:
      last &&
      facts({
        at: last.slot,
        result: last.reason === null ? last.status : `${last.status} (${last.reason})`,
        jobId: last.jobId,
        jobStatus: last.jobStatus,
      }),
  });
}
