import type { z } from 'zod';
import { BULK_ACTIONS, BULK_STATES, type BulkAction } from '../../core/job/bulk.ts';
import type { JobCriteria } from '../../core/job/job-criteria.ts';
import type { RetryRequest } from '../../core/failure/retry.ts';
import { changeRefusal } from '../../core/job/system-job.ts';
import { closed, exampleBody, flag, number, oneOf, text, wholeInQuery } from '../fields.ts';
import { Findings } from '../findings.ts';
import { criteriaOf, JobFilterBody } from './job-filter.ts';
import { PAGE_DEFAULT, PAGE_MAX } from './job-query.ts';
import { readRetryRequest, retryFields } from './retry-body.ts';
import { violations } from '../violations.ts';

const RATE_MAX = 10_000;

const ratePerSecond = number(0.01, RATE_MAX)
  .optional()
  .describe('Maximum retries per second. Default: no limit.');
const preview = flag()
  .optional()
  .describe('Only return the number of matches and a sample; change nothing.');

/** Body of `POST /v1/bulk`. */
export const BulkBody = closed({
  action: oneOf('action', BULK_ACTIONS).describe('Action for each job.'),
  filter: JobFilterBody.describe('Filter of the jobs. At least one field.'),
  mode: retryFields.mode,
  runAt: retryFields.runAt,
  params: retryFields.params,
  version: retryFields.version,
  ratePerSecond,
  preview,
}).meta(exampleBody({ action: 'retry', filter: { definitionKey: 'hello' }, preview: true }));

/** Body of `POST /v1/dead-letters/retry`: a filter of dead letters and retry options. */
const { definitionKey, errorCode, fingerprint, q, finishedAfter, finishedBefore } =
  JobFilterBody.shape;
export const DeadLetterRetryBody = closed({
  definitionKey,
  errorCode,
  fingerprint,
  from: finishedAfter,
  to: finishedBefore,
  q,
  ...retryFields,
  ratePerSecond,
  preview,
}).meta(exampleBody({ definitionKey: 'hello', preview: true }));

/** Query of `GET /v1/bulk`. */
export const BulkQuery = closed({
  cursor: text(200).optional().describe('The nextCursor of the previous page.'),
  limit: wholeInQuery(1, PAGE_MAX)
    .default(PAGE_DEFAULT)
    .describe(`Page size. Default ${PAGE_DEFAULT}.`),
});

export interface BulkRequest {
  action: BulkAction;
  criteria: JobCriteria;
  how: RetryRequest & { ratePerSecond: number | null };
  preview: boolean;
}

/** Throws a `Refusal`. */
export function parseBulk(body: unknown): BulkRequest {
  const findings = new Findings();
  const { action, filter, ...rest } = shaped(BulkBody, body, findings);
  const criteria = criteriaOf(filter);
  if (Object.keys(filter).length === 0) {
    const detail = 'must have at least one field: an empty filter would match all jobs';
    findings.add('VALIDATION_FAILED', { pointer: '/filter', detail });
  }
  for (const state of criteria.statuses.filter((one) => !BULK_STATES[action].includes(one))) {
    const detail = `${action} does not apply to ${state} jobs, only to ${BULK_STATES[action].join(', ')}`;
    findings.add('VALIDATION_FAILED', { pointer: '/filter/status', detail });
  }
  const retryOnly = ['mode', 'runAt', 'params', 'ratePerSecond'] as const;
  for (const name of action === 'retry' ? [] : retryOnly) {
    if (!Object.hasOwn(body as object, name)) continue;
    const detail = `is for the action retry, not for ${action}`;
    findings.add('VALIDATION_FAILED', { pointer: `/${name}`, detail });
  }
  return finished(action, criteria, rest, findings);
}

/** Without a body: all dead letters, now. Throws a `Refusal`. */
export function parseDeadLetterRetry(body: unknown): BulkRequest {
  const findings = new Findings();
  const {
    from,
    to,
    mode,
    runAt,
    params,
    version,
    ratePerSecond: rate,
    preview: only,
    ...filter
  } = shaped(DeadLetterRetryBody, body ?? {}, findings);
  const times = { finishedAfter: from, finishedBefore: to };
  const criteria = criteriaOf({ status: 'failed', ...filter, ...times });
  const rest = { mode, runAt, params, version, ratePerSecond: rate, preview: only };
  return finished('retry', criteria, rest, findings);
}

interface HowBody {
  mode: RetryRequest['mode'];
  runAt?: Date | undefined;
  params?: unknown;
  version?: RetryRequest['version'] | undefined;
  ratePerSecond?: number | undefined;
  preview?: boolean | undefined;
}

function finished(
  action: BulkAction,
  criteria: JobCriteria,
  { ratePerSecond: rate, preview: only, ...request }: HowBody,
  findings: Findings,
): BulkRequest {
  const how = { ...readRetryRequest(request, findings), ratePerSecond: rate ?? null };
  const problem = changeRefusal(criteria.definitionKey ?? '', how.paramsJson !== null);
  if (problem !== null) {
    findings.add('VALIDATION_FAILED', { pointer: '/filter/definitionKey', detail: problem });
  }
  if (findings.any) throw findings.refusal();
  return { action, criteria, how, preview: only ?? false };
}

/** A body of the wrong shape is rejected alone, before rules that cross fields. */
function shaped<Schema extends z.ZodType>(
  schema: Schema,
  body: unknown,
  findings: Findings,
): z.infer<Schema> {
  const read = schema.safeParse(body);
  if (read.success) return read.data;
  findings.add('VALIDATION_FAILED', ...violations(read.error.issues, 'field'));
  throw findings.refusal();
}
