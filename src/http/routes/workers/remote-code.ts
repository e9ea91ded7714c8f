import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { noSuchArtifact } from '../../../deployments/views.ts';
import { ArtifactParams } from '../../../protocol/requests/deployment-body.ts';
import { InstanceParams, ServedAnswer } from '../../../protocol/worker-protocol.ts';
import type { HttpDeps } from '../../deps.ts';
import { sendPacked } from '../../edge/gzip-body.ts';
import { answer, refusals } from '../../openapi.ts';
import { unavailable } from '../../problem.ts';
import { artifactIdOf } from '../deployments/deployment-request.ts';
import { instanceOf, keyOf, portOf } from './calling-worker.ts';

const LIST = {
  operationId: 'listServedDeployments',
  tags: ['workers'],
  summary: 'List the deployments that a worker should serve',
  description:
    'Those of its tenant and the shared ones. Its key must be allowed to serve all definitions of a ' +
    'deployment.',
  params: InstanceParams,
  response: {
    200: answer('The deployments.', ServedAnswer),
    ...refusals('WORKER_GONE', 'UNAVAILABLE'),
  },
};

const CONTENT = {
  operationId: 'downloadServedArtifact',
  tags: ['workers'],
  summary: 'Download the archive of a deployment that a worker should serve',
  params: InstanceParams.extend(ArtifactParams.shape),
  response: {
    200: answer('The archive.', z.string(), 'application/octet-stream'),
    ...refusals('NOT_FOUND', 'WORKER_GONE', 'UNAVAILABLE'),
  },
};

/** How a worker without a database connection gets deployed code. */
export function remoteCodeRoutes(app: FastifyInstance, deps: HttpDeps): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();
  const config = { access: 'worker' } as const;
  const path = '/v1/workers/:workerId';

  typed.get(`${path}/deployments`, { schema: LIST, config }, async (request, reply) => {
    const instance = instanceOf(request.params);
    const deployments = await portOf(deps).deployments(keyOf(request), instance);
    return await sendPacked(request, reply, { deployments });
  });

  typed.get(
    `${path}/artifacts/:artifactId`,
    { schema: CONTENT, config },
    async (request, reply) => {
      const { uploads } = deps;
      const instance = instanceOf(request.params);
      const served = await portOf(deps).deployments(keyOf(request), instance);
      const artifactId = artifactIdOf(request.params);
      const found = served.find(({ sha256 }) => sha256 === artifactId);
      const { bytes } = found ?? noSuchArtifact(artifactId);
      if (!uploads) throw unavailable('this server stores no artifacts');
      void reply.header('content-length', bytes).type('application/octet-stream');
      return reply.send(await uploads.content(artifactId));
    },
  );
}
