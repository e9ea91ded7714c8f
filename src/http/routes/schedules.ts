import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { SCHEDULE_DEFAULTS } from '../../core/schedule/schedule.ts';
import { RevealQuery } from '../../protocol/requests/job-query.ts';
import { parseSchedule } from '../../protocol/requests/parse-schedule.ts';
import {
  NewScheduleAnswer,
  ScheduleAnswer,
  ScheduleIdParams,
  SchedulePageAnswer,
  SlotPageAnswer,
  UpcomingAnswer,
} from '../../protocol/answers/schedule-answer.ts';
import { ScheduleBody } from '../../protocol/requests/schedule-body.ts';
import {
  PreviewQuery,
  ScheduleQuery,
  SlotQuery,
  UpcomingQuery,
} from '../../protocol/requests/schedule-query.ts';
import { firstSlot } from '../../schedule/first-slot.ts';
import { upcoming } from '../../schedule/preview.ts';
import { sendDueHint } from '../../store/connection/due-hint.ts';
import {
  createSchedule,
  databaseNow,
  getSchedule,
  listSchedules,
} from '../../store/schedules/schedules.ts';
import { listSlots } from '../../store/schedules/slots.ts';
import { actorOf } from '../access/caller.ts';
import { nextLink } from '../cursors/cursor.ts';
import type { HttpDeps } from '../deps.ts';
import { answer, bodyRefusals, refusals } from '../openapi.ts';
import type { Redaction } from '../access/redaction.ts';
import { readIdCursor, readSlotCursor, encodeCursor } from '../cursors/schedule-cursor.ts';
import { noSuchSchedule, refusing, scheduleIdOf } from '../cursors/schedule-path.ts';
import { refuseMisfit, refusing as refusingJobs } from '../../enqueue/start-jobs.ts';
import { tenantOf } from '../access/tenant.ts';

const reading = refusals('NOT_FOUND', 'UNAVAILABLE');

const CREATE = {
  operationId: 'createSchedule',
  tags: ['schedules'],
  summary: 'Create a schedule',
  description:
    'Enqueues a job for each slot from now on. A schedule that can never run is rejected. A name ' +
    'that another schedule of the definition has returns 409. When no worker has registered the ' +
    'definition, the answer has a warning.',
  body: ScheduleBody,
  response: {
    201: answer('The schedule.', NewScheduleAnswer),
    ...bodyRefusals('PAYLOAD_INVALID', 'CONFLICT', 'QUOTA_EXCEEDED', 'UNREGISTERED'),
  },
};

const GET = {
  operationId: 'getSchedule',
  tags: ['schedules'],
  summary: 'Get a schedule',
  params: ScheduleIdParams,
  querystring: RevealQuery,
  response: { 200: answer('The schedule.', ScheduleAnswer), ...reading },
};

const LIST = {
  operationId: 'listSchedules',
  tags: ['schedules'],
  summary: 'List schedules',
  description: 'Newest first, page by page.',
  querystring: ScheduleQuery,
  response: { 200: answer('A page of schedules.', SchedulePageAnswer), ...refusals('UNAVAILABLE') },
};

const NEXT = {
  operationId: 'nextOfSchedule',
  tags: ['schedules'],
  summary: 'Preview the next runs of a schedule',
  description:
    'Computed from the cron expression and policies, even while paused. The note describes the ' +
    'effect of DST changes.',
  params: ScheduleIdParams,
  querystring: UpcomingQuery,
  response: { 200: answer('The next runs.', UpcomingAnswer), ...reading },
};

const PREVIEW = {
  operationId: 'previewSchedule',
  tags: ['schedules'],
  summary: 'Preview the runs of a cron expression',
  description:
    'What a schedule with this timing would do; nothing is stored. An expression that can never ' +
    'run is rejected.',
  querystring: PreviewQuery,
  response: {
    200: answer('The next runs.', UpcomingAnswer),
    ...refusals('VALIDATION_FAILED', 'UNAVAILABLE'),
  },
};

const SLOTS = {
  operationId: 'slotsOfSchedule',
  tags: ['schedules'],
  summary: 'List the slots of a schedule',
  description: 'Newest first, page by page. At least the newest 1,000 are kept.',
  params: ScheduleIdParams,
  querystring: SlotQuery,
  response: { 200: answer('A page of slots.', SlotPageAnswer), ...reading },
};

const READS = { access: 'jobs:read' } as const;

export function schedulesRoutes(
  app: FastifyInstance,
  { db, enqueuer, quotas }: HttpDeps,
  redaction: Redaction,
): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();

  const found = async (tenant: string, id: string) =>
    (await getSchedule(db, tenant, scheduleIdOf(id))) ?? noSuchSchedule(id);

  app.post(
    '/v1/schedules',
    { schema: CREATE, config: { access: 'operate' } },
    async (request, reply) => {
      const tenant = tenantOf(request);
      const { spec: parsed, requireRegistered } = parseSchedule(request.body);
      const asked = { ...parsed, tenant, requireRegistered };
      await refusingJobs(
        async () => await enqueuer.refuseUnregistered([asked]),
        () => '',
      );
      const spec = { ...parsed, paramsShape: await enqueuer.currentShape(asked) };
      await refuseMisfit(enqueuer, tenant, spec);
      const made = { tenant, source: 'api', spec } as const;
      const make = async () =>
        await refusing(async () => await createSchedule(db, db.ids, made, actorOf(request)));
      const id = quotas ? await quotas.schedule(tenant, make) : await make();
      await sendDueHint(db, { kind: 'schedules', inMs: 0 }).catch(() => undefined);
      const schedule = await redaction.schedule(await found(tenant, id));
      const [warnings = []] = await enqueuer.warnings([{ ...spec, tenant }]);
      const told = warnings.length === 0 ? schedule : { ...schedule, warnings };
      return reply.code(201).header('location', `/v1/schedules/${id}`).send(told);
    },
  );

  typed.get('/v1/schedules/:scheduleId', { schema: GET, config: READS }, async (request) => {
    const revealed = redaction.wantsAll(request);
    const schedule = await found(tenantOf(request), request.params.scheduleId);
    if (!revealed) return await redaction.schedule(schedule);
    await redaction.writeDown(request, 'schedule.reveal', schedule.id);
    return schedule;
  });

  typed.get('/v1/schedules', { schema: LIST, config: READS }, async (request, reply) => {
    const { definitionKey = null, name = null, enabled, cursor, limit } = request.query;
    const { schedules, nextId } = await listSchedules(db, {
      tenant: tenantOf(request),
      definitionKey,
      name,
      enabled: enabled === undefined ? null : enabled === 'true',
      afterId: cursor === undefined ? null : readIdCursor(cursor),
      limit,
    });
    const nextCursor = nextId === null ? null : encodeCursor(nextId);
    if (nextCursor !== null) void reply.header('link', nextLink(request.url, nextCursor));
    const shown = await Promise.all(schedules.map(async (one) => redaction.schedule(one)));
    return reply.send({ schedules: shown, nextCursor });
  });

  typed.get('/v1/schedules/preview', { schema: PREVIEW, config: READS }, async (request) => {
    const { cron, timezone, startAt, endAt, dstGap, dstRepeat, count } = request.query;
    const timing = {
      cron,
      timezone: timezone ?? SCHEDULE_DEFAULTS.timezone,
      startAt: startAt ?? null,
      endAt: endAt ?? null,
      dstGap: dstGap ?? SCHEDULE_DEFAULTS.dstGap,
      dstRepeat: dstRepeat ?? SCHEDULE_DEFAULTS.dstRepeat,
    };
    const nowMs = (await databaseNow(db)).getTime();
    return {
      next: await refusing(async () => {
        firstSlot(timing, nowMs);
        return upcoming(timing, nowMs, count);
      }),
    };
  });

  typed.get('/v1/schedules/:scheduleId/next', { schema: NEXT, config: READS }, async (request) => {
    const { startAt, endAt, ...timing } = await found(tenantOf(request), request.params.scheduleId);
    const bounds = { startAt: dateOf(startAt), endAt: dateOf(endAt) };
    const nowMs = (await databaseNow(db)).getTime();
    const { count } = request.query;
    return { next: await refusing(async () => upcoming({ ...timing, ...bounds }, nowMs, count)) };
  });

  typed.get(
    '/v1/schedules/:scheduleId/slots',
    { schema: SLOTS, config: READS },
    async (request, reply) => {
      const tenant = tenantOf(request);
      const { id } = await found(tenant, request.params.scheduleId);
      const { cursor, limit } = request.query;
      const after = cursor === undefined ? null : readSlotCursor(cursor);
      const { slots, last } = await listSlots(db, tenant, id, after, limit);
      const nextCursor = last === null ? null : encodeCursor(`${last.slot} ${last.local}`);
      if (nextCursor !== null) void reply.header('link', nextLink(request.url, nextCursor));
      return reply.send({ slots, nextCursor });
    },
  );
}

function dateOf(time: string | null): Date | null {
  return time === null ? null : new Date(time);
}
