import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import {
  compareDeployment,
  showDeploymentDetail,
  showDeployments,
  showReleases,
} from '../../../deployments/views.ts';
import { definitionManifest } from '../../../deployments/definition-manifest.ts';
import {
  DeployedAnswer,
  DeploymentAnswer,
  DeploymentDetailAnswer,
  DeploymentsAnswer,
  DiffAnswer,
  ReleaseChangesAnswer,
  ReleasesAnswer,
} from '../../../protocol/answers/deployment-answer.ts';
import {
  DeploymentBody,
  DeploymentParams,
  DeploymentsQuery,
  DiffQuery,
  NewDefinitionBody,
  ReleaseBody,
  ReleaseChangesQuery,
  RollbackBody,
} from '../../../protocol/requests/deployment-body.ts';
import { parseBody } from '../../../protocol/requests/parse-body.ts';
import { parseNothing } from '../../../protocol/requests/parse-nothing.ts';
import { listReleaseChanges } from '../../../store/deployments/release-changes.ts';
import { actorOf } from '../../access/caller.ts';
import { tenantOf } from '../../access/tenant.ts';
import type { HttpDeps } from '../../deps.ts';
import { answer, bodyRefusals, refusals } from '../../openapi.ts';
import { deployerOf, deployingTenant, deploymentNumber } from './deployment-request.ts';

const tags = ['deployments'];

const CREATE = {
  operationId: 'createDeployment',
  tags,
  summary: 'Deploy an uploaded archive',
  description:
    'Creates an immutable, numbered deployment of the definitions in the manifest, and by default ' +
    'gives it to all new jobs. Workers load it without a restart.',
  body: DeploymentBody,
  response: {
    201: answer('The deployment, and what it changes.', DeployedAnswer),
    ...bodyRefusals('NOT_FOUND', 'CONFLICT'),
  },
};

const LIST = {
  operationId: 'listDeployments',
  tags,
  summary: 'List deployments',
  description: 'The newest first.',
  querystring: DeploymentsQuery,
  response: { 200: answer('Deployments.', DeploymentsAnswer), ...refusals('UNAVAILABLE') },
};

const SHOW = {
  operationId: 'getDeployment',
  tags,
  summary: 'Get a deployment',
  description:
    'Also what became of its jobs, and of those of the version before, by definition. The counters ' +
    'are a second behind.',
  params: DeploymentParams,
  response: {
    200: answer('The deployment, and its jobs.', DeploymentDetailAnswer),
    ...refusals('NOT_FOUND', 'UNAVAILABLE'),
  },
};

const DIFF = {
  operationId: 'compareDeployment',
  tags,
  summary: 'Compare a deployment',
  description:
    'With another one, or with what new jobs get now: definitions and their rules. Also which ' +
    'waiting jobs and schedules a new schema would reject, of the first 1,000 each.',
  params: DeploymentParams,
  querystring: DiffQuery,
  response: {
    200: answer('What differs.', DiffAnswer),
    ...refusals('NOT_FOUND', 'UNAVAILABLE'),
  },
};

const RETIRE = {
  operationId: 'retireDeployment',
  tags,
  summary: 'Retire a deployment',
  description:
    'Workers stop serving it; its waiting jobs wait. Definitions whose current deployment it was ' +
    'have none any more.',
  params: DeploymentParams,
  response: {
    200: answer('The deployment.', DeploymentAnswer),
    ...refusals('NOT_FOUND', 'UNAVAILABLE'),
  },
};

const RELEASES = {
  operationId: 'listReleases',
  tags,
  summary: 'List releases',
  description: 'Which deployment the new jobs of each definition get.',
  response: { 200: answer('Releases.', ReleasesAnswer), ...refusals('UNAVAILABLE') },
};

const CHANGES = {
  operationId: 'listReleaseChanges',
  tags,
  summary: 'List changes of releases',
  description:
    'What was released, rolled back, given to a share of jobs, or retired, the newest first; at ' +
    'most 200, among the latest 5,000 entries of the audit log.',
  querystring: ReleaseChangesQuery,
  response: { 200: answer('Changes.', ReleaseChangesAnswer), ...refusals('UNAVAILABLE') },
};

const RELEASE = {
  operationId: 'promoteDeployment',
  tags,
  summary: 'Give a deployment to new jobs',
  description: 'Also to an older one. Jobs that are queued keep their deployment.',
  body: ReleaseBody,
  response: {
    200: answer('The deployment.', DeploymentAnswer),
    ...bodyRefusals('NOT_FOUND', 'CONFLICT'),
  },
};

const ROLLBACK = {
  operationId: 'rollbackRelease',
  tags,
  summary: 'Roll back',
  description:
    'Gives new jobs the deployment that was current before. While a canary is under way, only the ' +
    'canary ends.',
  body: RollbackBody,
  response: {
    200: answer('The deployments that new jobs get now.', DeploymentsAnswer),
    ...bodyRefusals('CONFLICT'),
  },
};

const DEFINE = {
  operationId: 'createDefinition',
  tags: ['definitions'],
  summary: 'Create a definition from an uploaded archive',
  description:
    'For an archive of any language, without a manifest: creates a deployment with this one ' +
    'definition, gives it to new jobs and, with `cron`, creates its schedule.',
  body: NewDefinitionBody,
  response: {
    201: answer('The deployment, and what it changes.', DeployedAnswer),
    ...bodyRefusals('NOT_FOUND', 'CONFLICT'),
  },
};

/** Deployments and releases. */
export function deploymentsRoutes(app: FastifyInstance, deps: HttpDeps): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();
  const { db } = deps;
  const reads = { access: 'jobs:read' } as const;
  const changes = { access: 'admin' } as const;

  app.post('/v1/deployments', { schema: CREATE, config: changes }, async (request, reply) => {
    const tenant = deployingTenant(request, deps);
    const body = parseBody(DeploymentBody, request.body);
    const made = await deployerOf(deps).deploy(tenant, actorOf(request), body);
    return reply.code(201).header('location', `/v1/deployments/${made.number}`).send(made);
  });

  app.post('/v1/definitions', { schema: DEFINE, config: changes }, async (request, reply) => {
    const tenant = deployingTenant(request, deps);
    const body = parseBody(NewDefinitionBody, request.body);
    const { artifactId, note, revision } = body;
    const made = await deployerOf(deps).deploy(tenant, actorOf(request), {
      artifactId,
      note,
      revision,
      promote: true,
      canaryPercent: null,
      manifest: definitionManifest(body),
    });
    return reply.code(201).header('location', `/v1/deployments/${made.number}`).send(made);
  });

  typed.get('/v1/deployments', { schema: LIST, config: reads }, async (request) => {
    const { before = null, limit } = request.query;
    return { deployments: await showDeployments(db, tenantOf(request), { before, limit }) };
  });

  typed.get('/v1/deployments/:number', { schema: SHOW, config: reads }, async (request) => {
    return await showDeploymentDetail(db, tenantOf(request), deploymentNumber(request.params));
  });

  typed.get('/v1/deployments/:number/diff', { schema: DIFF, config: reads }, async (request) => {
    const { against = null } = request.query;
    const number = deploymentNumber(request.params);
    return await compareDeployment(db, tenantOf(request), number, against);
  });

  typed.post(
    '/v1/deployments/:number/retire',
    { schema: RETIRE, config: changes },
    async (request) => {
      parseNothing(request.body);
      const tenant = deployingTenant(request, deps);
      const number = deploymentNumber(request.params);
      return await deployerOf(deps).retire(tenant, actorOf(request), number);
    },
  );

  app.get('/v1/releases', { schema: RELEASES, config: reads }, async (request) => ({
    releases: await showReleases(db, tenantOf(request)),
  }));

  typed.get('/v1/releases/changes', { schema: CHANGES, config: reads }, async (request) => ({
    changes: await listReleaseChanges(db, tenantOf(request), request.query.hours),
  }));

  app.post('/v1/releases', { schema: RELEASE, config: changes }, async (request) => {
    const tenant = deployingTenant(request, deps);
    const { deployment: number, definitions: keys, ...rest } = parseBody(ReleaseBody, request.body);
    return await deployerOf(deps).promote(tenant, actorOf(request), { number, keys, ...rest });
  });

  app.post('/v1/releases/rollback', { schema: ROLLBACK, config: changes }, async (request) => {
    const tenant = deployingTenant(request, deps);
    const { definitions: keys, reason } = parseBody(RollbackBody, request.body);
    const deployments = await deployerOf(deps).rollback(tenant, actorOf(request), { keys, reason });
    return { deployments };
  });
}
