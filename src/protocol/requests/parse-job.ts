import { z } from 'zod';
import { RETRY_PRESETS } from '../../core/failure/backoff.ts';
import { DefinitionError, KEY_SHAPE, type RetryInput } from '../../core/definition/definition.ts';
import { retryPolicy } from '../../core/failure/retry-input.ts';
import { PARENTS_MAX } from '../../core/dependency/dependency.ts';
import { atOnce } from '../../core/values/exact-json.ts';
import { isRecord } from '../../core/values/record.ts';
import { isJobId } from '../../core/job/job-id.ts';
import type { JobPolicy } from '../../core/job/job.ts';
import { type JobRequest, plainRequest } from '../../core/job/new-job.ts';
import { checkParams, PARAMS_MAX_BYTES } from '../../core/job/params.ts';
import type { Unique } from '../../core/job/unique.ts';
import { PARAMS_SHAPE_MAX } from '../../core/shape/upgrade.ts';
import { closed, list } from '../fields.ts';
import { Findings } from '../findings.ts';
import { readIdempotencyHeader } from './idempotency-key.ts';
import { BATCH_MAX, JobBody, VERSION_MAX } from './job-body.ts';
import { violations } from '../violations.ts';

type UniqueFields = NonNullable<JobBody['unique']>;

/**
 * Only the list; entries are parsed one by one, so that parsing can stop at the maximum of
 * violations.
 */
const BatchOutline = closed({ jobs: list(z.unknown(), 1, BATCH_MAX) });

/** Parses `POST /v1/jobs` with its header. Throws a `Refusal`. */
export function parseJob(
  body: unknown,
  tenant: string,
  header: string | undefined,
  paramsMaxBytes = PARAMS_MAX_BYTES,
): JobRequest {
  const findings = new Findings();
  const job = readJob(body, { tenant, paramsMaxBytes }, '', findings);
  const key = header === undefined ? null : readHeader(header, body, findings);
  if (!job || findings.any) throw findings.refusal();
  return { ...job, idempotencyKey: job.idempotencyKey ?? key };
}

/** Parses `POST /v1/jobs/batch`: one invalid entry rejects all. Throws a `Refusal`. */
export function parseBatch(
  body: unknown,
  tenant: string,
  header: string | undefined,
  paramsMaxBytes = PARAMS_MAX_BYTES,
): JobRequest[] {
  return atOnce(parseBatchInSteps(body, tenant, header, paramsMaxBytes));
}

/** The same with a yield after each job, so that a server can serve other requests in between. */
export function* parseBatchInSteps(
  body: unknown,
  tenant: string,
  header: string | undefined,
  paramsMaxBytes = PARAMS_MAX_BYTES,
): Generator<undefined, JobRequest[]> {
  const findings = new Findings();
  if (header !== undefined) {
    const detail = 'the Idempotency-Key header applies to one job: set idempotencyKey of each job';
    findings.add('VALIDATION_FAILED', { pointer: '', detail });
  }
  const outline = BatchOutline.safeParse(body);
  if (!outline.success) {
    findings.add('VALIDATION_FAILED', ...violations(outline.error.issues, 'field'));
  }
  const jobs: JobRequest[] = [];
  for (const [index, entry] of (outline.data?.jobs ?? []).entries()) {
    const job = readJob(entry, { tenant, paramsMaxBytes }, `/jobs/${index}`, findings);
    if (job) jobs.push(job);
    if (findings.full) break;
    yield;
  }
  if (findings.any) throw findings.refusal();
  return jobs;
}

/** Null if the shape is invalid. Collects all other violations. */
export function readJob(
  body: unknown,
  { tenant, paramsMaxBytes }: { tenant: string; paramsMaxBytes: number },
  at: string,
  findings: Findings,
): JobRequest | null {
  const plain = readPlain(body, tenant, paramsMaxBytes);
  if (plain) return plain;
  const shape = JobBody.safeParse(body);
  if (!shape.success) {
    findings.add('VALIDATION_FAILED', ...violations(shape.error.issues, 'field', at));
  }
  crossCheck(body, at, findings);
  checkParents(body, at, findings);
  const paramsJson = readParams(body, paramsMaxBytes, at, findings);
  if (!shape.success || paramsJson === null) return null;
  const job = shape.data;
  return {
    ...plainRequest(tenant, job.definitionKey, paramsJson),
    definitionVersion: job.definitionVersion ?? null,
    priority: job.priority ?? 0,
    maxAttempts: job.maxAttempts ?? presetAttempts(job),
    hold: job.hold ?? false,
    runAt: job.runAt ?? job.scheduledAt ?? null,
    delayMs: job.delayMs ?? null,
    idempotencyKey: job.idempotencyKey ?? null,
    requestId: job.requestId ?? null,
    concurrencyKey: job.concurrencyKey ?? null,
    unique: job.unique ? readUnique(job.unique) : null,
    expiresAt: job.expiresAt ?? null,
    tags: job.tags ?? null,
    policy: readPolicy(job, at, findings),
    paramsShape: job.paramsShape ?? null,
    skipValidation: job.skipValidation ?? false,
    requireRegistered: job.requireRegistered ?? null,
    after: job.after ? { jobs: job.after, onFailure: job.onParentFailure ?? 'fail' } : null,
  };
}

/**
 * A valid job with nothing but a definition, params and a request id, as most jobs are: it needs
 * neither the schema of all fields nor the rules that cross fields. Null for all others, also for
 * invalid ones.
 */
function readPlain(body: unknown, tenant: string, paramsMaxBytes: number): JobRequest | null {
  if (!isRecord(body)) return null;
  for (const name in body) if (!PLAIN_FIELDS.has(name)) return null;
  const { definitionKey: key, params = {}, requestId, definitionVersion, paramsShape } = body;
  if (typeof key !== 'string' || !KEY_SHAPE.test(key)) return null;
  if (requestId !== undefined && !(typeof requestId === 'string' && isJobId(requestId)))
    return null;
  if (!isWhole(definitionVersion, VERSION_MAX) || !isWhole(paramsShape, PARAMS_SHAPE_MAX))
    return null;
  const checked = checkParams(params, paramsMaxBytes);
  if (!checked.ok) return null;
  const request = plainRequest(tenant, key, checked.json);
  if (requestId !== undefined) request.requestId = requestId;
  if (definitionVersion !== undefined) request.definitionVersion = definitionVersion;
  if (paramsShape !== undefined) request.paramsShape = paramsShape;
  return request;
}

/** The SDK sends version and shape for each job of a definition object. */
const PLAIN_FIELDS = new Set([
  'definitionKey',
  'params',
  'requestId',
  'definitionVersion',
  'paramsShape',
]);

/** Absent, or a whole number from 1 to `max`. */
function isWhole(value: unknown, max: number): value is number | undefined {
  if (value === undefined) return true;
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= max;
}

/** Rules that cross fields. They read the raw body, so that another invalid field hides none. */
function crossCheck(body: unknown, at: string, findings: Findings): void {
  const { scheduledAt, delayMs, retry, tags, unique, hold, expiresAt, ...rest } = fieldsOf(body);
  const { runAt = scheduledAt } = rest;
  const wrong = (pointer: string, detail: string) =>
    findings.add('VALIDATION_FAILED', { pointer: at + pointer, detail });
  if (rest['runAt'] !== undefined && scheduledAt !== undefined) {
    wrong('/scheduledAt', 'scheduledAt is another name of runAt: send one of them');
  }
  if (runAt !== undefined && delayMs !== undefined) {
    wrong('/delayMs', 'delayMs and runAt exclude each other');
  }
  if (hold === true && fieldsOf(unique)['onConflict'] === 'replace') {
    wrong('/hold', 'hold and replacing an earlier job exclude each other');
  }
  const { onConflict, maxWaitMs } = fieldsOf(unique);
  if (maxWaitMs !== undefined) {
    const detail = maxWaitProblem({ onConflict, maxWaitMs, delayMs, runAt });
    if (detail !== null) wrong('/unique/maxWaitMs', detail);
  }
  if (timeOf(runAt) >= timeOf(expiresAt)) {
    wrong('/expiresAt', 'must be later than runAt');
  }
  const { delaysMs, baseMs, maxMs } = fieldsOf(retry);
  if (delaysMs !== undefined && (baseMs !== undefined || maxMs !== undefined)) {
    wrong('/retry/delaysMs', 'delaysMs excludes baseMs and maxMs');
  }
  // A list that is too long is already reported, and may be very long.
  if (!Array.isArray(tags) || tags.length > 100) return;
  for (const [index, tag] of tags.entries()) {
    if (tags.indexOf(tag) < index) wrong(`/tags/${index}`, 'is a duplicate');
  }
}

interface MaxWaitFields {
  onConflict: unknown;
  maxWaitMs: unknown;
  delayMs: unknown;
  runAt: unknown;
}

function maxWaitProblem({ onConflict, maxWaitMs, delayMs, runAt }: MaxWaitFields): string | null {
  if (onConflict !== 'replace') return 'needs onConflict replace';
  if (runAt !== undefined) return 'excludes runAt: use delayMs';
  if (typeof maxWaitMs !== 'number' || typeof delayMs !== 'number') return null;
  return delayMs > maxWaitMs ? 'must be at least delayMs' : null;
}

function checkParents(body: unknown, at: string, findings: Findings): void {
  const { after, onParentFailure, ...others } = fieldsOf(body);
  const wrong = (pointer: string, detail: string) =>
    findings.add('VALIDATION_FAILED', { pointer: at + pointer, detail });
  if (after === undefined) {
    if (onParentFailure !== undefined) wrong('/onParentFailure', 'needs after');
    return;
  }
  for (const name of ['runAt', 'scheduledAt', 'delayMs', 'unique']) {
    if (others[name] !== undefined) wrong(`/${name}`, `after and ${name} exclude each other`);
  }
  if (others['hold'] === true) wrong('/hold', 'after and hold exclude each other');
  if (!Array.isArray(after) || after.length > PARENTS_MAX) return;
  for (const [index, id] of after.entries()) {
    if (after.indexOf(id) < index) wrong(`/after/${index}`, 'is a duplicate');
  }
}

/** Only text is parsed: an object could throw when converted. */
function timeOf(value: unknown): number {
  return typeof value === 'string' ? Date.parse(value) : NaN;
}

function readUnique(unique: UniqueFields): Unique {
  const { key, onConflict = 'existing', maxWaitMs } = unique;
  const limit = maxWaitMs === undefined ? {} : { maxWaitMs };
  return { key: key ?? null, while: unique.while, onConflict, ...limit };
}

function readParams(
  body: unknown,
  maxBytes: number,
  at: string,
  findings: Findings,
): string | null {
  const { params, unique } = fieldsOf(body);
  // The params of another job are replaced, which must not depend on the storage.
  const replaces = fieldsOf(unique)['onConflict'] === 'replace';
  const limit = replaces ? PARAMS_MAX_BYTES : maxBytes;
  const checked = checkParams(params === undefined ? {} : params, limit);
  if (checked.ok) return checked.json;
  const { code, pointer, detail } = checked;
  findings.add(code, { pointer: `${at}/params${pointer}`, detail });
  return null;
}

function readPolicy(job: JobBody, at: string, findings: Findings): JobPolicy | null {
  const policy: JobPolicy = {};
  // At least 1 ms, because 0 would mean no timeout.
  if (job.timeoutSeconds !== undefined) {
    policy.timeoutMs = Math.max(1, Math.round(job.timeoutSeconds * 1_000));
  }
  if (job.retry !== undefined) {
    try {
      policy.retry = retryPolicy(job.retry as RetryInput);
    } catch (error) {
      if (!(error instanceof DefinitionError)) throw error;
      findings.add('VALIDATION_FAILED', { pointer: `${at}/retry`, detail: error.message });
    }
  }
  return Object.keys(policy).length > 0 ? policy : null;
}

/** A preset implies the number of attempts, as in a definition. */
function presetAttempts({ retry }: JobBody): number | null {
  return typeof retry === 'string' ? (RETRY_PRESETS[retry]?.maxAttempts ?? null) : null;
}

function readHeader(header: string, body: unknown, findings: Findings): string | null {
  const read = readIdempotencyHeader(header);
  const pointer = '/idempotencyKey';
  if (!read.ok) {
    findings.add('VALIDATION_FAILED', { pointer, detail: read.detail });
    return null;
  }
  const { idempotencyKey } = fieldsOf(body);
  if (idempotencyKey !== undefined && idempotencyKey !== read.key) {
    const detail = 'the body and the Idempotency-Key header give different keys';
    findings.add('VALIDATION_FAILED', { pointer, detail });
  }
  return read.key;
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
