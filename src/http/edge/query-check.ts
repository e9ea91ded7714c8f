import type { FastifyInstance, FastifySchemaCompiler } from 'fastify';
import type { z } from 'zod';
import { Findings, saidWithPointer } from '../../protocol/findings.ts';
import type { Violation } from '../../protocol/problem.ts';
import { NoQuery } from '../../protocol/requests/job-query.ts';
import { violations } from '../../protocol/violations.ts';

/**
 * Validates query strings centrally: a route without a schema accepts no parameters. Bodies are
 * parsed by the routes, because their rules cross fields and headers.
 */
export function checkQueries(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    if (!route.schema?.hide) route.schema = { querystring: NoQuery, ...route.schema };
  });
  app.setValidatorCompiler(validator);
  // Responses are checked by types and tests, not per request.
  app.setSerializerCompiler(() => (data) => JSON.stringify(data));
}

/** The name of an unknown parameter is in the detail, and a query has no pointers. */
function said({ pointer, detail }: Violation): string {
  if (detail.startsWith('unknown query parameter ')) return detail;
  return saidWithPointer({ pointer, detail });
}

const validator: FastifySchemaCompiler<z.ZodType> = ({ schema, httpPart }) => {
  if (httpPart !== 'querystring') return (value: unknown) => ({ value });
  return (query: unknown) => {
    const read = schema.safeParse(query);
    if (read.success) return { value: read.data };
    const findings = new Findings();
    findings.add('VALIDATION_FAILED', ...violations(read.error.issues, 'query parameter'));
    return { error: findings.refusal(said) };
  };
};
