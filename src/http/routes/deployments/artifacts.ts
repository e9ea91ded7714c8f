import type { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { ARCHIVE_LIMITS } from '../../../artifacts/archive-limits.ts';
import {
  ARTIFACT_ERROR_CODES,
  type ArtifactErrorCode,
} from '../../../core/artifact/artifact-error.ts';
import type { Uploads } from '../../../deployments/uploads.ts';
import { noSuchArtifact } from '../../../deployments/views.ts';
import { ArtifactAnswer } from '../../../protocol/answers/deployment-answer.ts';
import { ArtifactParams, UploadQuery } from '../../../protocol/requests/deployment-body.ts';
import { type Artifact, findArtifact } from '../../../store/deployments/artifacts.ts';
import { actorOf } from '../../access/caller.ts';
import { tenantOf } from '../../access/tenant.ts';
import type { HttpDeps } from '../../deps.ts';
import { answer, bodyRefusals, refusals } from '../../openapi.ts';
import { unavailable } from '../../problem.ts';
import { artifactIdOf, deployingTenant } from './deployment-request.ts';

const tags = ['deployments'];

const UPLOAD = {
  operationId: 'uploadArtifact',
  tags,
  summary: 'Upload an archive with code',
  description:
    'The body is a tar.gz or a zip, at most 256 MB, of any content type. It may have a manifest, ' +
    'longshore.json. The same content again is the same artifact. Archives with links, paths that ' +
    'leave the archive and the like are refused, each with its own code.',
  querystring: UploadQuery,
  response: {
    200: answer('It was uploaded before.', ArtifactAnswer),
    201: answer('The artifact.', ArtifactAnswer),
    ...bodyRefusals(...(Object.keys(ARTIFACT_ERROR_CODES) as ArtifactErrorCode[])),
  },
};

const SHOW = {
  operationId: 'getArtifact',
  tags,
  summary: 'Get an artifact',
  params: ArtifactParams,
  response: {
    200: answer('The artifact.', ArtifactAnswer),
    ...refusals('NOT_FOUND', 'UNAVAILABLE'),
  },
};

const CONTENT = {
  operationId: 'downloadArtifact',
  tags,
  summary: 'Download an artifact',
  params: ArtifactParams,
  response: {
    200: answer('The archive.', z.string(), 'application/octet-stream'),
    ...refusals('NOT_FOUND', 'UNAVAILABLE'),
  },
};

export function artifactsRoutes(app: FastifyInstance, deps: HttpDeps): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();
  const { db } = deps;
  const uploads = (): Uploads => {
    if (!deps.uploads) throw unavailable('this server stores no artifacts');
    return deps.uploads;
  };

  app.register(async (scope) => {
    // The body is stored as it arrives, never in memory as a whole.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, body, done) => done(null, body));
    scope.withTypeProvider<ZodTypeProvider>().post(
      '/v1/artifacts',
      {
        schema: UPLOAD,
        config: { access: 'admin', streams: true },
        bodyLimit: ARCHIVE_LIMITS.archiveBytesMax,
      },
      async (request, reply) => {
        const tenant = deployingTenant(request, deps);
        const { sha256: expected = null, signature: signed } = request.query;
        const [keyId = '', signature = ''] = signed?.split(':') ?? [];
        const claims = { expected, signature: signed === undefined ? null : { keyId, signature } };
        const body = request.body as Readable;
        const made = await uploads().add(tenant, actorOf(request), body, claims);
        return reply.code(made.created ? 201 : 200).send(viewOf(made.artifact));
      },
    );
  });

  const read = { access: 'admin' } as const;
  typed.get('/v1/artifacts/:artifactId', { schema: SHOW, config: read }, async (request) => {
    const artifactId = artifactIdOf(request.params);
    const found = await findArtifact(db, tenantOf(request), artifactId);
    return viewOf(found ?? noSuchArtifact(artifactId));
  });

  typed.get(
    '/v1/artifacts/:artifactId/content',
    { schema: CONTENT, config: read },
    async (request, reply) => {
      const artifactId = artifactIdOf(request.params);
      const found = await findArtifact(db, tenantOf(request), artifactId);
      const { bytes } = found ?? noSuchArtifact(artifactId);
      void reply.header('content-length', bytes).type('application/octet-stream');
      return reply.send(await uploads().content(artifactId));
    },
  );
}

function viewOf({ sha256, format, bytes, manifest, createdBy, createdAt }: Artifact) {
  const { definitions = [] } = (manifest ?? {}) as { definitions?: { key: string }[] };
  const keys = definitions.map(({ key }) => key);
  return { artifactId: sha256, format, bytes, definitions: keys, createdBy, createdAt };
}
