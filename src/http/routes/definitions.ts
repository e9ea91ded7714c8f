import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { DefinitionLimitsView } from '../../core/queue/limit-view.ts';
import type { Release } from '../../core/deployment/release.ts';
import { isSystemKey } from '../../core/definition/hooks.ts';
import { DEFAULT_TENANT } from '../../core/access/scope.ts';
import { definitionAnswer, DefinitionsAnswer } from '../../protocol/answers/definition-answer.ts';
import {
  DefinitionKeyParams,
  DefinitionLimitsAnswer,
} from '../../protocol/answers/limit-answer.ts';
import { DefinitionLimitsBody } from '../../protocol/requests/limit-body.ts';
import { parseBody } from '../../protocol/requests/parse-body.ts';
import { listReleases } from '../../store/deployments/releases.ts';
import { listDefinitions, type PublishedDefinition } from '../../store/enqueue/definitions.ts';
import { changeLimits, type LimitsView, readLimits } from '../../store/limits/limits.ts';
import { listPauses, pauseView } from '../../store/limits/pauses.ts';
import { actorOf, callerOf } from '../access/caller.ts';
import { tenantOf } from '../access/tenant.ts';
import type { HttpDeps } from '../deps.ts';
import { answer, bodyRefusals, refusals } from '../openapi.ts';

const LIST = {
  operationId: 'listDefinitions',
  tags: ['definitions'],
  summary: 'List definitions',
  description:
    'All definitions of workers, by key and version, and those of deployments that new jobs get, ' +
    'with effective limits and pauses.',
  response: { 200: answer('The definitions.', DefinitionsAnswer), ...refusals('UNAVAILABLE') },
};

const LIMIT = {
  operationId: 'changeDefinitionLimits',
  tags: ['flow'],
  summary: 'Change the limits of a definition',
  description:
    'Takes effect at once for all versions and tenants. Overrides the code until set to null; 0 ' +
    'removes a limit. With a limit below the number of running jobs, no job starts until enough ' +
    'have finished.',
  params: DefinitionKeyParams,
  body: DefinitionLimitsBody,
  response: {
    200: answer('The limits.', DefinitionLimitsAnswer),
    ...bodyRefusals('NOT_FOUND'),
  },
};

const OPERATES = { access: 'operate', ofDefaultTenant: true } as const;

export function definitionsRoutes(app: FastifyInstance, { db }: HttpDeps): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();

  app.get('/v1/definitions', { schema: LIST, config: { access: 'jobs:read' } }, async (request) => {
    const seesAll = callerOf(request).home === DEFAULT_TENANT;
    const releases = await listReleases(db);
    const found = (await listDefinitions(db)).filter(
      (one) => !isSystemKey(one.key) && isListed(one, tenantOf(request), releases),
    );
    const keys = [...new Set(found.map(({ key }) => key))];
    const limits = new Map(
      (await readLimits(db, 'definition', keys)).map((view) => [
        view.name,
        limitsView(view, seesAll),
      ]),
    );
    const paused = new Map(
      (await listPauses(db))
        .filter(({ scope }) => scope === 'definition')
        .map((pause) => [pause.name, pauseView(pause, seesAll)]),
    );
    const definitions = found.map((definition) => ({
      ...definitionAnswer(definition),
      limits: limits.get(definition.key),
      paused: paused.get(definition.key) ?? null,
    }));
    return { definitions };
  });

  typed.patch(
    '/v1/definitions/:key/limits',
    { schema: LIMIT, config: OPERATES },
    async (request) => {
      const { key } = request.params;
      const change = parseBody(DefinitionLimitsBody, request.body);
      return limitsView(await changeLimits(db, 'definition', key, change, actorOf(request)), true);
    },
  );
}

/**
 * A tenant sees the shared definitions and its own. Of deployed ones, those that new jobs get: the
 * others are versions of the past.
 */
function isListed(
  { key, version, tenant, deployment }: PublishedDefinition,
  of: string,
  releases: readonly Release[],
): boolean {
  if (tenant !== DEFAULT_TENANT && tenant !== of) return false;
  if (deployment === null) return true;
  return releases.some(
    (one) =>
      one.tenant === tenant &&
      one.key === key &&
      (one.current === version || one.canary === version),
  );
}

/** Definitions are shared, but usage and actors are shown to the default tenant only. */
function limitsView(view: LimitsView, seesAll: boolean): DefinitionLimitsView {
  const { effective, code, override, changedBy, changedAt, inUse } = view;
  return {
    effective,
    code,
    override,
    changedBy: seesAll ? changedBy : null,
    changedAt: changedAt?.toISOString() ?? null,
    inUse: seesAll ? inUse : null,
  };
}
