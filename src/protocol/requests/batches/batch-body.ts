import { z } from 'zod';
import {
  BATCH_NAME_MAX,
  BATCHES_PAGE_MAX,
  MEMBER_STATES,
  type MemberState,
} from '../../../core/batch/batch.ts';
import type { JobRequest } from '../../../core/job/new-job.ts';
import { PARAMS_MAX_BYTES } from '../../../core/job/params.ts';
import { closed, exampleBody, flag, list, oneOf, text, wholeInQuery } from '../../fields.ts';
import { Findings } from '../../findings.ts';
import { violations } from '../../violations.ts';
import { readIdempotencyHeader } from '../idempotency-key.ts';
import { BATCH_MAX, JobBody } from '../job-body.ts';
import { readJob } from '../parse-job.ts';

/** A batch needs jobs of its own that wait for no others; a request is repeated by its header. */
const NOT_OF_MEMBER = {
  idempotencyKey: true,
  requestId: true,
  unique: true,
  hold: true,
  after: true,
  onParentFailure: true,
} as const;
/** A callback waits for its batch. */
const NOT_OF_CALLBACK = {
  ...NOT_OF_MEMBER,
  runAt: true,
  scheduledAt: true,
  delayMs: true,
  expiresAt: true,
} as const;

const Member = JobBody.omit(NOT_OF_MEMBER);
const Callback = JobBody.omit(NOT_OF_CALLBACK);

const example = [{ definitionKey: 'hello', params: { name: 'Ada' } }, { definitionKey: 'hello' }];

const name = text(BATCH_NAME_MAX).optional().describe('Name of the batch, for people.');
const open = flag()
  .optional()
  .describe('Whether it accepts more jobs until it is closed. Default false.');

/** Body of `POST /v1/batches`. */
export const NewBatchBody = closed({
  name,
  jobs: list(Member, 0, BATCH_MAX)
    .optional()
    .describe('Its first jobs; stored all or none. More can follow while it is open.'),
  onComplete: Callback.optional().describe(
    'A job that runs once, when the last job of the batch has ended, however they ended.',
  ),
  onSuccess: Callback.optional().describe(
    'A job that runs once, when all jobs of the batch have succeeded. Otherwise it fails with PARENT_FAILED.',
  ),
  open,
}).meta(exampleBody({ name: 'greetings', jobs: example, onComplete: { definitionKey: 'hello' } }));

/** Body of `POST /v1/batches/{batchId}/jobs`. */
export const BatchJobsBody = closed({
  jobs: list(Member, 1, BATCH_MAX).describe('Stored all or none.'),
}).meta(exampleBody({ jobs: example }));

const Outline = closed({
  name,
  jobs: list(z.unknown(), 0, BATCH_MAX).optional(),
  onComplete: z.unknown().optional(),
  onSuccess: z.unknown().optional(),
  open,
});
const JobsOutline = closed({ jobs: list(z.unknown(), 1, BATCH_MAX) });

export const BatchIdParams = z.object({ batchId: z.string().describe('Id of the batch.') });

export const BatchesQuery = closed({
  limit: wholeInQuery(1, BATCHES_PAGE_MAX).default(20).describe('Batches per page.'),
  cursor: z.string().optional().describe('nextCursor of the previous page.'),
});

export const BATCH_JOBS_PAGE_MAX = 500;

export const BatchJobsQuery = closed({
  state: oneOf('state', [...MEMBER_STATES])
    .optional()
    .describe('Only the jobs that have not ended (pending), or that ended so.'),
  limit: wholeInQuery(1, BATCH_JOBS_PAGE_MAX).default(50).describe('Jobs per page.'),
  cursor: z.string().optional().describe('nextCursor of the previous page.'),
});
export type BatchJobsQuery = { state?: MemberState | undefined; limit: number; cursor?: string };

/** A parsed request for a new batch. */
export interface BatchRequest {
  name: string | null;
  open: boolean;
  jobs: JobRequest[];
  onComplete: JobRequest | null;
  onSuccess: JobRequest | null;
  idempotencyKey: string | null;
}

interface Context {
  tenant: string;
  header: string | undefined;
  paramsMaxBytes?: number;
}

/** Parses `POST /v1/batches`: one invalid entry rejects all. Throws a `Refusal`. */
export function* parseNewBatch(body: unknown, of: Context): Generator<undefined, BatchRequest> {
  const findings = new Findings();
  const idempotencyKey = keyOf(of.header, findings);
  const outline = Outline.safeParse(body);
  if (!outline.success) {
    findings.add('VALIDATION_FAILED', ...violations(outline.error.issues, 'field'));
    throw findings.refusal();
  }
  const { jobs: entries = [], ...rest } = outline.data;
  const callback = (field: 'onComplete' | 'onSuccess') =>
    rest[field] === undefined
      ? null
      : read(rest[field], of, `/${field}`, NOT_OF_CALLBACK, findings);
  const onComplete = callback('onComplete');
  const onSuccess = callback('onSuccess');
  const jobs = yield* readMembers(entries, of, findings);
  if (findings.any) throw findings.refusal();
  const { name: named = null, open: accepts = false } = rest;
  return { name: named, open: accepts, jobs, onComplete, onSuccess, idempotencyKey };
}

/** Parses `POST /v1/batches/{batchId}/jobs`. Throws a `Refusal`. */
export function* parseBatchJobs(
  body: unknown,
  of: Context,
): Generator<undefined, { jobs: JobRequest[]; idempotencyKey: string | null }> {
  const findings = new Findings();
  const idempotencyKey = keyOf(of.header, findings);
  const outline = JobsOutline.safeParse(body);
  if (!outline.success) {
    findings.add('VALIDATION_FAILED', ...violations(outline.error.issues, 'field'));
    throw findings.refusal();
  }
  const jobs = yield* readMembers(outline.data.jobs, of, findings);
  if (findings.any) throw findings.refusal();
  return { jobs, idempotencyKey };
}

function* readMembers(
  entries: readonly unknown[],
  of: Context,
  findings: Findings,
): Generator<undefined, JobRequest[]> {
  const jobs: JobRequest[] = [];
  for (const [index, entry] of entries.entries()) {
    const job = read(entry, of, `/jobs/${index}`, NOT_OF_MEMBER, findings);
    if (job) jobs.push(job);
    if (findings.full) break;
    yield;
  }
  return jobs;
}

function read(
  body: unknown,
  { tenant, paramsMaxBytes = PARAMS_MAX_BYTES }: Context,
  at: string,
  refused: Partial<Record<string, true>>,
  findings: Findings,
): JobRequest | null {
  const fields = typeof body === 'object' && body !== null ? Object.keys(body) : [];
  const kind = refused === NOT_OF_MEMBER ? 'a job of a batch' : 'a callback of a batch';
  for (const field of fields.filter((one) => refused[one])) {
    const detail = `${kind} has no ${field}`;
    findings.add('VALIDATION_FAILED', { pointer: `${at}/${field}`, detail });
  }
  return readJob(body, { tenant, paramsMaxBytes }, at, findings);
}

function keyOf(header: string | undefined, findings: Findings): string | null {
  if (header === undefined) return null;
  const key = readIdempotencyHeader(header);
  if (key.ok) return key.key;
  findings.add('VALIDATION_FAILED', { pointer: '', detail: key.detail });
  return null;
}
