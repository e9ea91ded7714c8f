import swagger from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { Problem, type ProblemCode, PROBLEMS } from '../protocol/problem.ts';
import { EVENT_STREAM } from './streams/event-stream.ts';

const ABOUT =
  'A job server for long-running work. Jobs are JSON; times are ISO 8601 with an offset; ' +
  'errors are application/problem+json with a stable code. ' +
  'Unknown fields and query parameters are rejected.';

/** Generated from the schemas that validate the requests. */
export function describeApi(app: FastifyInstance, version: string): void {
  app.register(swagger, {
    openapi: {
      openapi: '3.1.1',
      info: { title: 'Longshore', version, description: ABOUT },
      servers: [{ url: '/' }],
      components: {
        securitySchemes: {
          apiKey: { type: 'http', scheme: 'bearer', description: 'A key: lsk_…' },
          session: {
            type: 'apiKey',
            in: 'cookie',
            name: 'longshore_session',
            description: 'The sign-in of the dashboard. Browsers send it by themselves.',
          },
        },
      },
      tags: [
        { name: 'jobs', description: 'Enqueue, read, cancel and retry jobs.' },
        { name: 'batches', description: 'Jobs that end together, with callbacks.' },
        { name: 'failures', description: 'Dead letters and bulk actions.' },
        { name: 'schedules', description: 'Recurring jobs by cron expression.' },
        { name: 'webhooks', description: 'HTTP notifications about jobs and alerts.' },
        { name: 'alerts', description: 'Alerts, their rules, and where they are sent.' },
        { name: 'definitions', description: 'Job definitions registered by workers.' },
        { name: 'deployments', description: 'Uploaded code, its versions and releases.' },
        { name: 'flow', description: 'Limits and pauses.' },
        { name: 'usage', description: 'What jobs used, and budgets.' },
        { name: 'workers', description: 'Worker processes.' },
        { name: 'access', description: 'Keys, tenants, sessions and the audit log.' },
        { name: 'dialects', description: 'The same jobs through the APIs of the seed documents.' },
        { name: 'server', description: 'Health, metrics and settings of the server.' },
      ],
    },
    transform: jsonSchemaTransform,
    transformObject: (given) => {
      const made = jsonSchemaTransformObject(given);
      const { paths, components } = made as Generated;
      components.schemas = withoutUnused(paths, components.schemas);
      return made;
    },
  });
}

/** A success response. */
export function answer(description: string, schema: z.ZodType, type = 'application/json') {
  return { description, content: { [type]: { schema } } };
}

/** A response that can be read page by page or followed live. */
export function pageOrStream(description: string, page: z.ZodType) {
  const stream = z.string().describe('Server-sent events until the job finishes.');
  return {
    200: {
      description: `${description} With Accept: text/event-stream, a live stream.`,
      content: { 'application/json': { schema: page }, [EVENT_STREAM]: { schema: stream } },
    },
    204: z.null().describe('For streams: the job has finished and everything was sent.'),
  };
}

/** Error responses by status, including those of every operation. */
export function refusals(...codes: readonly ProblemCode[]) {
  const all: ProblemCode[] = ['VALIDATION_FAILED', ...codes, 'MISDIRECTED_REQUEST', 'INTERNAL'];
  const byStatus = Object.groupBy(all, (code) => String(PROBLEMS[code].status));
  return Object.fromEntries(
    Object.entries(byStatus).map(([status, same = []]) => {
      const titles = same.map((code) => `${code}: ${PROBLEMS[code].title}.`).join(' ');
      return [status, answer(titles, Problem, 'application/problem+json')];
    }),
  );
}

/** Error responses of operations with a body. */
export function bodyRefusals(...codes: readonly ProblemCode[]) {
  return refusals(
    ...codes,
    'INVALID_JSON',
    'JSON_TOO_COMPLEX',
    'FORBIDDEN',
    'PAYLOAD_TOO_LARGE',
    'UNSUPPORTED_MEDIA_TYPE',
    'UNAVAILABLE',
  );
}

interface Generated {
  paths: object;
  components: { schemas: Record<string, object> };
}

/** The generator lists every named schema as input and as output; keeps those in use. */
function withoutUnused(paths: object, schemas: Record<string, object>): Record<string, object> {
  const used = new Set<string>();
  const visit = (part: unknown): void => {
    const references = JSON.stringify(part).matchAll(/"#\/components\/schemas\/([^"]+)"/g);
    for (const [, name = ''] of references) {
      if (used.has(name)) continue;
      used.add(name);
      visit(schemas[name]);
    }
  };
  visit(paths);
  return Object.fromEntries(Object.entries(schemas).filter(([name]) => used.has(name)));
}
