import type { FastifyInstance, FastifySchemaCompiler } from 'fastify';
import type { z } from 'zod';
import { Findings } from '../../protocol/findings.ts';
import { NoQuery } from '../../protocol/requests/job-query.ts';
import { violations } from '../../protocol/violations.ts';

/**
 * Every route says what its query string may hold; one that says nothing takes none. This happens
 * here and not in the routes, so that none can forget it. Bodies are read by the routes themselves:
 * their rules cross fields and headers, and everything wrong with them is answered at once.
 */
export function checkQueries(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    if (!route.schema?.hide) route.schema = { querystring: NoQuery, ...route.schema };
  });
  app.setValidatorCompiler(validator);
  // The answers are ours: what they look like is held by types and tests, not checked per request.
  app.setSerializerCompiler(() => (data) => JSON.stringify(data));
}

const validator: FastifySchemaCompiler<z.ZodType> = ({ schema, httpPart }) => {
  if (httpPart !== 'querystring') return (value: unknown) => ({ value });
  return (query: unknown) => {
    const read = schema.safeParse(query);
    if (read.success) return { value: read.data };
    const findings = new Findings();
    findings.add('VALIDATION_FAILED', ...violations(read.error.issues, 'query parameter'));
    return { error: findings.refusal() };
  };
};
