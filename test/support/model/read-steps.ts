import fc from 'fast-check';
import { expect } from 'vitest';
import type { JobCriteria } from '../../../src/core/job/job-criteria.ts';
import { JOB_STATES, type JobView } from '../../../src/core/job/job.ts';
import { getJob, viewJobs } from '../../../src/store/read/get-job.ts';
import { listJobs } from '../../../src/store/read/list-jobs.ts';
import {
  BATCH_CANCELLED,
  BATCH_OPEN,
  CHILDREN,
  isOwned,
  type Model,
  type ModelJob,
  PARENTS,
} from './model.ts';
import { aJob, findJob } from './picks.ts';
import { errorOf, type Row } from './rows.ts';
import { type Step, step } from './step.ts';
import { TENANTS, type World } from './world.ts';

const aFilter = fc.record({
  tenant: fc.constantFrom(...TENANTS),
  statuses: fc.subarray([...JOB_STATES], { maxLength: 5 }),
  definitionKey: fc.constantFrom(null, null, 'x', 'y'),
  tag: fc.constantFrom(null, null, 't', 'unused'),
  newestFirst: fc.boolean(),
  limit: fc.integer({ min: 1, max: 4 }),
});

/** One job, and then all that are known, whosever they are: a tenant sees its own. */
export const getStep: fc.Arbitrary<Step> = fc
  .tuple(aJob, fc.constantFrom(...TENANTS))
  .map(([pick, tenant]) =>
    step('getJob', [pick, tenant], async (model, world) => {
      const { id, job } = findJob(model, pick, (one) => one.tenant === tenant);
      const view = await getJob(world.db, tenant, id);
      expect(view).toEqual(job?.tenant === tenant ? viewOf(model, world, job) : null);
      const all = await viewJobs(world.db, 0, tenant, [...model.jobs.keys()]);
      const theirs = [...model.jobs.values()].filter((one) => one.tenant === tenant);
      expect(all).toEqual(theirs.map((one) => viewOf(model, world, one)));
    }),
  );

/** Page by page, to the end. */
export const listStep: fc.Arbitrary<Step> = aFilter.map((filter) =>
  step('listJobs', filter, async (model, world) => {
    const { limit, newestFirst } = filter;
    // The model has its jobs in the order of their ids.
    const fitting = [...model.jobs.values()].filter((job) => fits(job, filter));
    const ordered = newestFirst ? fitting.toReversed() : fitting;
    const anyTime = { createdAfter: null, createdBefore: null };
    let afterId: string | null = null;
    for (let from = 0; from === 0 || from < ordered.length; from += limit) {
      const page = await listJobs(world.db, { ...filter, ...anyTime, afterId });
      const expected = ordered.slice(from, from + limit);
      expect(page.jobs).toEqual(expected.map((job) => viewOf(model, world, job)));
      const more = from + limit < ordered.length;
      expect(page.nextId).toBe(more ? expected.at(-1)?.id : null);
      afterId = page.nextId;
    }
  }),
);

function fits(
  job: ModelJob,
  {
    tenant,
    statuses,
    definitionKey,
    tag,
  }: Pick<JobCriteria, 'statuses' | 'definitionKey' | 'tag'> & { tenant: string },
): boolean {
  return (
    job.tenant === tenant &&
    // The jobs of the system are not listed.
    !job.batch &&
    (statuses.length === 0 || statuses.includes(job.state)) &&
    (definitionKey === null || job.definitionKey === definitionKey) &&
    (tag === null || job.tags.includes(tag))
  );
}

/** The whole view. Times are those of the rows, which the model has compared before. */
function viewOf(model: Model, world: World, job: ModelJob): JobView {
  const { narrow, body, tried, table } = world.row(job.id);
  const last = table === 'waiting' ? tried.at(-1) : undefined;
  const worker = isOwned(job)
    ? world.rows.workers.find(({ instance }) => instance === job.worker)
    : undefined;
  const time = (row: Row | undefined, name: string) => iso(row?.[name]);
  const updates = {
    done: time(narrow, 'finished_at'),
    running: time(narrow, 'cancel_requested_at') ?? time(narrow, 'started_at'),
    waiting: [
      time(body, 'created_at'),
      time(narrow, 'queued_at'),
      time(last, 'finished_at'),
      time(last?.['retried'] as Row | undefined, 'at'),
    ]
      .flatMap((at) => at ?? [])
      .sort()
      .at(-1),
  };
  const error = errorOf(last ? (job.tried.at(-1)?.error ?? null) : job.error);
  return {
    jobId: job.id,
    definitionKey: job.definitionKey,
    definitionVersion: 1,
    tenant: job.tenant,
    owner: null,
    status: job.state,
    priority: job.priority,
    attempts: job.attempts,
    maxAttempts: model.attemptsOf(job),
    tags: [...job.tags],
    params: job.params,
    paramsShape: 1,
    currentParamsShape: model.published.has(job.definitionKey) ? 1 : null,
    result: job.result,
    error,
    errorSummary: error && `${error.code}: ${error.message}`,
    progress: job.progress,
    idempotencyKey: job.idempotencyKey,
    concurrencyKey: job.concurrencyKey,
    scheduleId: null,
    scheduledFor: null,
    waitsFor: waitsForOf(job.waitsFor),
    warnings: [],
    createdAt: time(body, 'created_at') ?? '',
    queuedAt: time(narrow, 'queued_at'),
    runAt: time(narrow, 'run_at'),
    expiresAt: time(narrow, 'expires_at'),
    startedAt: time(narrow, 'started_at') ?? time(last, 'started_at'),
    finishedAt: time(narrow, 'finished_at'),
    updatedAt: updates[table] ?? '',
    heartbeatAt: time(worker, 'heartbeat_at'),
    leaseExpiresAt: time(worker, 'lease_until'),
    cancelRequestedAt: time(narrow, 'cancel_requested_at'),
    workerId: isOwned(job) ? job.worker : null,
  };
}

function waitsForOf(name: string | null): JobView['waitsFor'] {
  if (name === null) return null;
  if (name === CHILDREN || name === BATCH_CANCELLED) return { jobs: 'children' };
  if (name === BATCH_OPEN) return { jobs: 'batch' };
  return name === PARENTS ? { jobs: 'parents' } : { signal: name };
}

function iso(text: unknown): string | null {
  return typeof text === 'string' ? new Date(text).toISOString() : null;
}
