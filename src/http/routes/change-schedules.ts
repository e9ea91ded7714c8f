import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import {
  REMOVED_FROM_CODE,
  type ScheduleSpec,
  type ScheduleView,
} from '../../core/schedule/schedule.ts';
import { PauseBody } from '../../protocol/requests/limit-body.ts';
import { parseBody } from '../../protocol/requests/parse-body.ts';
import { parseNothing } from '../../protocol/requests/parse-nothing.ts';
import { parseSchedulePatch } from '../../protocol/requests/parse-schedule.ts';
import { Refusal } from '../../protocol/refusal.ts';
import {
  ScheduleAnswer,
  ScheduleIdParams,
  TriggerAnswer,
} from '../../protocol/answers/schedule-answer.ts';
import { SchedulePatch } from '../../protocol/requests/schedule-body.ts';
import { changeSchedule } from '../../store/schedules/change-schedule.ts';
import { deleteSchedule } from '../../store/schedules/delete-schedule.ts';
import { sendDueHint } from '../../store/connection/due-hint.ts';
import { readScheduleRow } from '../../store/schedules/lock-schedule.ts';
import { type ScheduleRow, specOf } from '../../store/schedules/schedule-row.ts';
import { getSchedule } from '../../store/schedules/schedules.ts';
import { triggerSchedule } from '../../enqueue/trigger-schedule.ts';
import { actorOf } from '../access/caller.ts';
import type { HttpDeps } from '../deps.ts';
import { answer, bodyRefusals } from '../openapi.ts';
import type { Redaction } from '../access/redaction.ts';
import { noSuchSchedule, refusing, scheduleIdOf } from '../cursors/schedule-path.ts';
import { refuseMisfit } from '../../enqueue/start-jobs.ts';
import { tenantOf } from '../access/tenant.ts';

const changing = bodyRefusals('PAYLOAD_INVALID', 'NOT_FOUND', 'CONFLICT');

const operation = (operationId: string, summary: string, description: string) => ({
  operationId,
  tags: ['schedules'],
  summary,
  description,
  params: ScheduleIdParams,
});

const PATCH = {
  ...operation(
    'changeSchedule',
    'Change a schedule',
    'Omitted fields stay unchanged. A change never fires past slots: if the timing changes, the ' +
      'next slot is the first one from now on. A schedule from code can only be paused and resumed ' +
      'here.',
  ),
  body: SchedulePatch,
  response: { 200: answer('The schedule.', ScheduleAnswer), ...changing },
};

const PAUSE = {
  ...operation(
    'pauseSchedule',
    'Pause a schedule',
    'No slot fires until it is resumed. Repeating it changes the reason.',
  ),
  body: PauseBody,
  response: { 200: answer('The schedule.', ScheduleAnswer), ...changing },
};

const RESUME = {
  ...operation(
    'resumeSchedule',
    'Resume a schedule',
    'Continues with the next slot; slots missed while paused do not fire.',
  ),
  response: { 200: answer('The schedule.', ScheduleAnswer), ...changing },
};

const TRIGGER = {
  ...operation(
    'triggerSchedule',
    'Trigger a schedule',
    'Enqueues a job of the schedule now, regardless of its policies and even while it is paused. ' +
      'Its slots are unaffected.',
  ),
  response: { 202: answer('The job is stored.', TriggerAnswer), ...changing },
};

const DELETE = {
  ...operation(
    'deleteSchedule',
    'Delete a schedule',
    'Deletes its slots too; its jobs are kept. A schedule from code returns 409, because it would ' +
      'be created again: pause it, or remove it from the code first.',
  ),
  response: { 204: z.null().describe('The schedule was deleted.'), ...changing },
};

export function changeSchedulesRoutes(
  app: FastifyInstance,
  { db, enqueuer }: HttpDeps,
  redaction: Redaction,
): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();
  const config = { access: 'operate' } as const;

  const change = async (
    request: FastifyRequest<{ Params: { scheduleId: string } }>,
    wanted: (row: ScheduleRow) => Partial<ScheduleSpec>,
    reason: string | null = null,
  ): Promise<ScheduleView> => {
    const tenant = tenantOf(request);
    const id = scheduleIdOf(request.params.scheduleId);
    const by = actorOf(request);
    const decide = (row: ScheduleRow) => {
      const fields = wanted(row);
      const spec = { ...specOf(row), ...fields };
      const note = spec.enabled ? null : row.note;
      const isNew = specOf(row).enabled || reason !== null;
      const pause = fields.enabled === false && isNew && { pause: { by: by.name, reason } };
      return { spec, note, ...pause };
    };
    const changed = await refusing(async () => changeSchedule(db, tenant, id, decide, by));
    if (!changed) noSuchSchedule(id);
    await sendDueHint(db, { kind: 'schedules', inMs: 0 }).catch(() => undefined);
    return await redaction.schedule((await getSchedule(db, tenant, id)) ?? noSuchSchedule(id));
  };

  typed.patch('/v1/schedules/:scheduleId', { schema: PATCH, config }, async (request) => {
    const patch = parseSchedulePatch(request.body);
    if (patch.paramsJson !== undefined || patch.definitionVersion !== undefined) {
      const tenant = tenantOf(request);
      const row = await readScheduleRow(db, tenant, request.params.scheduleId);
      if (row) {
        const spec = { ...specOf(row), ...patch };
        // New params have the current shape; unchanged ones keep theirs.
        if (patch.paramsJson !== undefined) {
          spec.paramsShape = await enqueuer.currentShape({ ...spec, tenant });
          patch.paramsShape = spec.paramsShape;
        }
        await refuseMisfit(enqueuer, tenant, spec);
      }
    }
    return await change(request, (row) => {
      const others = Object.keys(patch).filter((name) => name !== 'enabled');
      if (row.source === 'code' && others.length > 0) throw fromCode('change it in the code');
      return patch;
    });
  });

  typed.post('/v1/schedules/:scheduleId/pause', { schema: PAUSE, config }, async (request) => {
    const { reason = null } = parseBody(PauseBody, request.body);
    return await change(request, () => ({ enabled: false }), reason);
  });

  typed.post('/v1/schedules/:scheduleId/resume', { schema: RESUME, config }, async (request) => {
    parseNothing(request.body);
    return await change(request, () => ({ enabled: true }));
  });

  typed.post(
    '/v1/schedules/:scheduleId/trigger',
    { schema: TRIGGER, config },
    async (request, reply) => {
      parseNothing(request.body);
      const tenant = tenantOf(request);
      const id = scheduleIdOf(request.params.scheduleId);
      const row = await readScheduleRow(db, tenant, id);
      if (row) await refuseMisfit(enqueuer, tenant, specOf(row));
      const by = actorOf(request);
      const jobId = (await triggerSchedule(db, enqueuer, tenant, id, by)) ?? noSuchSchedule(id);
      return reply.code(202).header('location', `/v1/jobs/${jobId}`).send({ jobId });
    },
  );

  typed.delete('/v1/schedules/:scheduleId', { schema: DELETE, config }, async (request, reply) => {
    parseNothing(request.body);
    const { scheduleId } = request.params;
    const deleted = await deleteSchedule(
      db,
      tenantOf(request),
      scheduleIdOf(scheduleId),
      ({ source, note }) => {
        if (source === 'code' && !note?.startsWith(REMOVED_FROM_CODE)) {
          throw fromCode('pause it, or remove it from the code first');
        }
      },
      actorOf(request),
    );
    if (!deleted) noSuchSchedule(scheduleId);
    return reply.code(204).send(null);
  });
}

function fromCode(advice: string): Refusal {
  return new Refusal('CONFLICT', `the schedule comes from the code of its definition: ${advice}`);
}
