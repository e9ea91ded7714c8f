import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { DEFAULT_TENANT } from '../../core/access/scope.ts';
import {
  DefinitionKeyParams,
  PausedAnswer,
  PausesAnswer,
  ResumedAnswer,
  TenantParams,
} from '../../protocol/answers/limit-answer.ts';
import { PauseBody } from '../../protocol/requests/limit-body.ts';
import { parseBody } from '../../protocol/requests/parse-body.ts';
import { parseNothing } from '../../protocol/requests/parse-nothing.ts';
import { requireDefinition } from '../../store/limits/limits.ts';
import {
  listPauses,
  pause,
  type PauseTarget,
  pauseView,
  resume,
} from '../../store/limits/pauses.ts';
import { tenantExists } from '../../store/access/tenants.ts';
import { actorOf, callerOf } from '../access/caller.ts';
import type { HttpDeps } from '../deps.ts';
import { answer, bodyRefusals, refusals } from '../openapi.ts';
import { unknownTenant } from './tenants.ts';

const changing = bodyRefusals('NOT_FOUND');

const pauses = (what: string, name: string) => ({
  operationId: `pause${name}`,
  tags: ['flow'],
  summary: `Pause ${what}`,
  description:
    'No more jobs start. Running jobs continue; new jobs are accepted and wait. Repeating it with ' +
    'another reason changes the reason.',
  body: PauseBody,
  response: { 200: answer('The pause.', PausedAnswer), ...changing },
});

const resumes = (what: string, name: string) => ({
  operationId: `resume${name}`,
  tags: ['flow'],
  summary: `Resume ${what}`,
  description: 'Jobs start again unless another pause applies.',
  response: { 200: answer('The removed pause.', ResumedAnswer), ...changing },
});

const LIST = {
  operationId: 'listPauses',
  tags: ['flow'],
  summary: 'List pauses',
  description:
    'Pauses of everything, of definitions and of your tenant; the default tenant sees all.',
  response: { 200: answer('The pauses.', PausesAnswer), ...refusals('UNAVAILABLE') },
};

/** Definitions are shared by all tenants, so only keys of the default tenant may pause them. */
const OPERATES = { access: 'operate', ofDefaultTenant: true } as const;
const ADMINISTERS = { access: 'admin', ofDefaultTenant: true } as const;
const EVERYTHING = { scope: 'all' } as const;

export function pausesRoutes(app: FastifyInstance, { db }: HttpDeps): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();

  const stop = async (request: FastifyRequest, target: PauseTarget) => {
    const { reason = null } = parseBody(PauseBody, request.body);
    const { pause: made, before } = await pause(db, target, actorOf(request), reason);
    return { ...pauseView(made, true), before: before && pauseView(before, true) };
  };
  const goOn = async (request: FastifyRequest, target: PauseTarget) => {
    parseNothing(request.body);
    const over = await resume(db, target, actorOf(request));
    return { resumed: over && pauseView(over, true) };
  };

  app.get('/v1/pauses', { schema: LIST, config: { access: 'jobs:read' } }, async (request) => {
    const { home, tenant } = callerOf(request);
    const seesAll = home === DEFAULT_TENANT;
    const found = (await listPauses(db)).filter(
      ({ scope, name }) => seesAll || scope !== 'tenant' || name === tenant,
    );
    return { pauses: found.map((one) => pauseView(one, seesAll)) };
  });

  const all = ['everything', 'Everything'] as const;
  app.post('/v1/pause', { schema: pauses(...all), config: ADMINISTERS }, async (request) =>
    stop(request, EVERYTHING),
  );
  app.post('/v1/resume', { schema: resumes(...all), config: ADMINISTERS }, async (request) =>
    goOn(request, EVERYTHING),
  );

  const tenants = { params: TenantParams };
  typed.post(
    '/v1/tenants/:tenant/pause',
    { schema: { ...pauses('a tenant', 'Tenant'), ...tenants }, config: ADMINISTERS },
    async (request) => {
      const { tenant: name } = request.params;
      if (!(await tenantExists(db, name))) await unknownTenant(db, name);
      return await stop(request, { scope: 'tenant', name });
    },
  );
  typed.post(
    '/v1/tenants/:tenant/resume',
    { schema: { ...resumes('a tenant', 'Tenant'), ...tenants }, config: ADMINISTERS },
    async (request) => {
      const { tenant: name } = request.params;
      if (!(await tenantExists(db, name))) await unknownTenant(db, name);
      return await goOn(request, { scope: 'tenant', name });
    },
  );

  const definitions = { params: DefinitionKeyParams };
  typed.post(
    '/v1/definitions/:key/pause',
    { schema: { ...pauses('a definition', 'Definition'), ...definitions }, config: OPERATES },
    async (request) => {
      const { key: name } = request.params;
      await requireDefinition(db, name);
      return await stop(request, { scope: 'definition', name });
    },
  );
  typed.post(
    '/v1/definitions/:key/resume',
    { schema: { ...resumes('a definition', 'Definition'), ...definitions }, config: OPERATES },
    async (request) => {
      const { key: name } = request.params;
      await requireDefinition(db, name);
      return await goOn(request, { scope: 'definition', name });
    },
  );
}
