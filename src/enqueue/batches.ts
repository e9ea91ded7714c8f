import { BATCH_KEY, type BatchView, noneToRetry } from '../core/batch/batch.ts';
import { askedText } from '../core/dependency/children.ts';
import type { OnParentFailure } from '../core/dependency/dependency.ts';
import { type JobRequest, plainRequest } from '../core/job/new-job.ts';
import { Refusal } from '../protocol/refusal.ts';
import type { BatchRequest } from '../protocol/requests/batches/batch-body.ts';
import { type Actor, audit } from '../store/access/audit.ts';
import {
  addToBatch,
  closeBatch,
  storeBatch,
  TooManyBatchJobs,
} from '../store/batches/store-batch.ts';
import { readBatch } from '../store/batches/read-batches.ts';
import { retryBatch, retryBatchJobs } from '../store/batches/retry-batch.ts';
import { cancelFamily } from '../store/change/cancel-children.ts';
import type { Db } from '../store/connection/db.ts';
import { withPartitions } from '../store/connection/partitions.ts';
import { type LevelHint, sendWakeHint } from '../store/connection/wake.ts';
import { childHash } from '../store/edges/spawn-children.ts';
import type { Entry } from '../store/enqueue/enqueue-entry.ts';
import type { Enqueuer } from './enqueuer.ts';
import { refusing } from './start-jobs.ts';

export interface Batches {
  db: Db;
  enqueuer: Enqueuer;
}

export interface MadeBatch {
  batch: BatchView;
  /** False when an earlier request with the same idempotency key made it. */
  created: boolean;
}

/** Stores a batch with its jobs and callbacks, or nothing. Throws a `Refusal`. */
export async function createBatch(
  { db, enqueuer }: Batches,
  tenant: string,
  request: BatchRequest,
): Promise<MadeBatch> {
  const { jobs, onComplete, onSuccess, open, name, idempotencyKey } = request;
  const callbacks = [
    ...(onComplete ? [{ field: 'onComplete', job: after(onComplete, 'run') }] : []),
    ...(onSuccess ? [{ field: 'onSuccess', job: after(onSuccess, 'fail') }] : []),
  ];
  const asked = [...jobs, ...callbacks.map(({ job }) => job)];
  const pointerOf = (index: number) =>
    index < jobs.length ? `/jobs/${index}` : `/${callbacks[index - jobs.length]?.field ?? ''}`;
  return await refusing(async () => {
    const admitted = await enqueuer.admit(asked);
    const ends = admitted.slice(jobs.length);
    const idOf = (field: string) =>
      ends[callbacks.findIndex((one) => one.field === field)]?.job.id ?? null;
    const closedAt = open ? null : db.clock.now().toISOString();
    const facts = { name, onComplete: idOf('onComplete'), onSuccess: idOf('onSuccess'), closedAt };
    const digest = idempotencyKey === null ? null : childHash(askedText(name, textOf(request)));
    const paramsJson = JSON.stringify({ name, ...(digest !== null && { asked: digest }) });
    const entry = await enqueuer.prepare({
      ...plainRequest(tenant, BATCH_KEY, paramsJson),
      definitionVersion: 1,
      idempotencyKey,
      policy: { batch: facts },
    });
    const stored = await withPartitions(db, async () =>
      db.transaction(async (tx) =>
        storeBatch(tx, {
          entry,
          open,
          members: membersOf(jobs, admitted, null),
          callbacks: ends.map((one) => ofBatch(one, entry.job.id)),
        }),
      ),
    ).catch(tooMany);
    enqueuer.announce(stored.entries, stored.answers);
    await wake(db, stored.levels);
    return { batch: await found(db, tenant, stored.id), created: stored.created };
  }, pointerOf);
}

/** Adds jobs to an open batch. A repeat with the same key adds nothing. Throws a `Refusal`. */
export async function addBatchJobs(
  { db, enqueuer }: Batches,
  tenant: string,
  batchId: string,
  { jobs, idempotencyKey }: { jobs: readonly JobRequest[]; idempotencyKey: string | null },
): Promise<BatchView> {
  return await refusing(
    async () => {
      const members = membersOf(jobs, await enqueuer.admit(jobs), idempotencyKey);
      const added = await withPartitions(db, async () =>
        db.transaction(async (tx) => addToBatch(tx, tenant, batchId, members)),
      ).catch(tooMany);
      switch (added.kind) {
        case 'missing':
          return noSuchBatch(batchId);
        case 'closed':
          throw new Refusal('BATCH_CLOSED', 'the batch is closed: make a new one for these jobs');
        case 'conflict':
          const why = 'the key was used for other jobs of this batch: use another key';
          throw new Refusal('IDEMPOTENCY_CONFLICT', why);
        case 'added':
          enqueuer.announce(added.entries, added.answers);
          break;
        case 'repeated':
      }
      return await found(db, tenant, batchId);
    },
    (index) => `/jobs/${index}`,
  );
}

/** May be repeated. Throws a `Refusal`. */
export async function endBatch(
  db: Db,
  tenant: string,
  batchId: string,
  how: 'close' | 'cancel',
  by: Actor | null,
): Promise<BatchView> {
  // Also for another reason than its answer: a job that is no batch must not be cancelled here.
  await found(db, tenant, batchId);
  if (how === 'cancel') await cancelFamily(db, tenant, batchId, by);
  else await close(db, tenant, batchId, by);
  return await found(db, tenant, batchId);
}

/**
 * Retries the jobs that failed or were cancelled, and the batch if it has ended. May be repeated. Throws a
 * `Refusal`.
 */
export async function retryUnsuccessful(
  db: Db,
  tenant: string,
  batchId: string,
  by: Actor | null,
): Promise<BatchView> {
  const before = await found(db, tenant, batchId);
  if (before.status === 'cancelling') {
    throw new Refusal('CONFLICT', 'the batch is being cancelled: retry it when it has ended');
  }
  const jobs = await retryBatchJobs(db, tenant, batchId, by);
  const bad = before.failed + before.cancelled;
  if (jobs === 0 && bad > 0 && before.pending === 0) {
    throw new Refusal('CONFLICT', noneToRetry(bad));
  }
  if (before.endedAt !== null) await retryBatch(db, tenant, batchId, by);
  return await found(db, tenant, batchId);
}

async function close(db: Db, tenant: string, batchId: string, by: Actor | null): Promise<void> {
  const closed = await withPartitions(db, async () =>
    db.transaction(async (tx) => {
      const result = await closeBatch(tx, tenant, batchId);
      if (by && result.kind === 'closed') {
        await audit(tx, by, { tenant, action: 'batch.close', subject: batchId });
      }
      return result;
    }),
  );
  if (closed.kind === 'closed') await wake(db, closed.levels);
}

export function noSuchBatch(batchId: string): never {
  throw new Refusal('NOT_FOUND', `batch ${JSON.stringify(batchId.slice(0, 60))} not found`);
}

async function found(db: Db, tenant: string, batchId: string): Promise<BatchView> {
  return (await readBatch(db, tenant, batchId)) ?? noSuchBatch(batchId);
}

/** Workers also poll, so a hint may be lost. */
async function wake(db: Db, levels: readonly LevelHint[]): Promise<void> {
  if (levels.length > 0) await sendWakeHint(db, levels).catch(() => undefined);
}

function tooMany(error: unknown): never {
  if (error instanceof TooManyBatchJobs) throw new Refusal('CONFLICT', error.message);
  throw error;
}

/** The batch has no id yet; `ofBatch` fills it in. */
function after(job: JobRequest, onFailure: OnParentFailure): JobRequest {
  return { ...job, after: { jobs: [], onFailure } };
}

function ofBatch(entry: Entry, batchId: string): Entry {
  const { job } = entry;
  return { ...entry, job: { ...job, after: job.after && { ...job.after, jobs: [batchId] } } };
}

function membersOf(jobs: readonly JobRequest[], entries: readonly Entry[], key: string | null) {
  return entries.slice(0, jobs.length).map((entry, index) => {
    if (key === null) return { name: null, asked: '', entry };
    const asked = childHash(askedText(entry.job.definitionKey, JSON.parse(entry.job.paramsJson)));
    return { name: `key:${key}:${index}`, asked, entry };
  });
}

function textOf({ jobs, onComplete, onSuccess, open }: BatchRequest) {
  const text = (job: JobRequest | null) =>
    job && [job.definitionKey, JSON.parse(job.paramsJson) as unknown];
  return [jobs.map(text), text(onComplete), text(onSuccess), open];
}
