import swagger from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { Problem, type ProblemCode, PROBLEMS } from '../protocol/problem.ts';
import { EVENT_STREAM } from './streams/event-stream.ts';

const ABOUT =
  'A job server for long-running work. Jobs are JSON; times are ISO 8601 with an offset; ' +
  'refusals are application/problem+json with a stable code. ' +
  'Unknown fields and unknown query parameters are refused.';

/** The document is made from the same schemas that judge the requests, so the two cannot differ. */
export function describeApi(app: FastifyInstance, version: string): void {
  app.register(swagger, {
    openapi: {
      openapi: '3.1.1',
      info: { title: 'Longshore', version, description: ABOUT },
      servers: [{ url: '/' }],
      components: {
        securitySchemes: {
          apiKey: { type: 'http', scheme: 'bearer', description: 'A key: lsk_…' },
          session: { type: 'apiKey', in: 'cookie', name: 'longshore_session' },
        },
      },
      tags: [
        { name: 'jobs', description: 'Start jobs, look at them, stop them.' },
        { name: 'failures', description: 'What failed, and what to do about many jobs at once.' },
        { name: 'schedules', description: 'Make jobs by the clock.' },
        { name: 'webhooks', description: 'Tell others what becomes of jobs.' },
        { name: 'alerts', description: 'What is wrong, and when to say so.' },
        { name: 'definitions', description: 'What can run.' },
        { name: 'flow', description: 'How much runs at a time, and what is paused.' },
        { name: 'workers', description: 'Who runs it.' },
        { name: 'access', description: 'Keys, tenants, sessions, and what people did.' },
        { name: 'dialects', description: 'The same jobs in the words of other documents.' },
        { name: 'server', description: 'The server itself.' },
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

/** How an operation answers when all is well. */
export function answer(description: string, schema: z.ZodType, type = 'application/json') {
  return { description, content: { [type]: { schema } } };
}

/** How an operation answers that can be read page by page, or followed live. */
export function pageOrStream(description: string, page: z.ZodType) {
  const stream = z.string().describe('Server-sent events, until the job is over.');
  return {
    200: {
      description: `${description} With Accept: text/event-stream, all of it and what follows.`,
      content: { 'application/json': { schema: page }, [EVENT_STREAM]: { schema: stream } },
    },
    204: z.null().describe('To who follows: the job is over and all of it has been read.'),
  };
}

/** How an operation refuses, by status. Any call can be misdirected, ill-formed or unlucky. */
export function refusals(...codes: readonly ProblemCode[]) {
  const all: ProblemCode[] = ['VALIDATION_FAILED', ...codes, 'MISDIRECTED_REQUEST', 'INTERNAL'];
  const byStatus = Object.groupBy(all, (code) => String(PROBLEMS[code].status));
  return Object.fromEntries(
    Object.entries(byStatus).map(([status, same = []]) => {
      const told = same.map((code) => `${code}: ${PROBLEMS[code].title}.`).join(' ');
      return [status, answer(told, Problem, 'application/problem+json')];
    }),
  );
}

/** How an operation refuses that takes a body, and changes something by it. */
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

/** The generator lists every named schema twice, as input and as output; only some are used. */
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
