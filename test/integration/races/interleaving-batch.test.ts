import { expect, it } from 'vitest';
import { plainRequest } from '../../../src/core/job/new-job.ts';
import { BATCH_KEY } from '../../../src/core/batch/batch.ts';
import { addToBatch, closeBatch, storeBatch } from '../../../src/store/batches/store-batch.ts';
import { readBatch } from '../../../src/store/batches/read-batches.ts';
import { beginBatchCancel } from '../../../src/store/batches/cancel-batch.ts';
import { cancelFamily } from '../../../src/store/change/cancel-children.ts';
import type { Queryable } from '../../../src/store/connection/db.ts';
import { resolveEnded } from '../../../src/store/edges/resolve-ended.ts';
import { getJob } from '../../../src/store/read/get-job.ts';
import { claimAny, failure, newWorker, request, settleAs, SUCCESS } from '../../support/jobs.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { HeldLink, untilBlocked } from '../../support/servers/held-link.ts';

/**
 * Jobs are added, the batch is closed, and its last job ends at the same moment. A batch that ends
 * before a job that was added to it, or that waits for ever, would break its promise.
 */
const database = sharedDatabase();
const TENANT = 'default';

const member = async () => {
  const entry = await database.enqueuer.prepare(request({ definitionKey: 'member' }));
  return { name: null, asked: 'asked', entry };
};
/** An open batch of one job, which is claimed. */
const openBatch = async () => {
  const entry = await database.enqueuer.prepare({
    ...plainRequest(TENANT, BATCH_KEY, '{}'),
    definitionVersion: 1,
    policy: { batch: { name: null, onComplete: null, onSuccess: null, closedAt: null } },
  });
  const first = await member();
  const { id } = await database.db.transaction(
    async (tx) => await storeBatch(tx, { entry, open: true, members: [first], callbacks: [] }),
  );
  const jobs = await claimAny(database, await newWorker(database), 100);
  const job = jobs.find((one) => one.id === first.entry.job.id);
  if (!job) throw new Error('the job was not claimed');
  return { id, job };
};
const add = async (db: Queryable, id: string) => await addToBatch(db, TENANT, id, [await member()]);
const close = async (db: Queryable, id: string) => await closeBatch(db, TENANT, id);
const within = async <T>(work: (tx: Queryable) => Promise<T>) =>
  await database.db.transaction(work);
const resolve = async (db: Queryable = database.db) => await resolveEnded(db, 0, 100);
const stateOf = async (id: string) => {
  const { status } = (await getJob(database.db, TENANT, id)) ?? {};
  const { status: batch, total, pending } = (await readBatch(database.db, TENANT, id)) ?? {};
  return { status, batch, total, pending };
};

const MOVED_ON = { status: 'queued', batch: 'running', total: 1, pending: 0 };

it('the last job ends while the batch is closed: it moves on', async () => {
  const { id, job } = await openBatch();
  const link = await HeldLink.begin(database);
  await close(link, id);
  await settleAs(database, job, SUCCESS);
  const resolving = resolve();
  await untilBlocked(database);
  await link.commit();
  await resolving;
  expect(await stateOf(id)).toEqual(MOVED_ON);
});

it('the batch is closed while the end of its last job is noted: it moves on', async () => {
  const { id, job } = await openBatch();
  await settleAs(database, job, SUCCESS);
  const link = await HeldLink.begin(database);
  await resolve(link);
  const closing = within(async (tx) => await close(tx, id));
  await untilBlocked(database);
  await link.commit();
  expect(await closing).toMatchObject({ kind: 'closed' });
  expect(await stateOf(id)).toEqual(MOVED_ON);
});

it('the batch is closed while a job is added: it waits for the job', async () => {
  const { id, job } = await openBatch();
  await settleAs(database, job, SUCCESS);
  await resolve();
  const link = await HeldLink.begin(database);
  expect(await add(link, id)).toMatchObject({ kind: 'added' });
  const closing = within(async (tx) => await close(tx, id));
  await untilBlocked(database);
  await link.commit();
  await closing;
  expect(await stateOf(id)).toEqual({
    status: 'suspended',
    batch: 'running',
    total: 2,
    pending: 1,
  });
});

it('a job is added while the batch is closed: it is refused', async () => {
  const { id, job } = await openBatch();
  await settleAs(database, job, SUCCESS);
  await resolve();
  const link = await HeldLink.begin(database);
  await close(link, id);
  const adding = within(async (tx) => await add(tx, id));
  await untilBlocked(database);
  await link.commit();
  expect(await adding).toEqual({ kind: 'closed' });
  expect(await stateOf(id)).toEqual(MOVED_ON);
});

it('a job is added while the last one ends: the batch stays open', async () => {
  const { id, job } = await openBatch();
  const link = await HeldLink.begin(database);
  await add(link, id);
  await settleAs(database, job, SUCCESS);
  const resolving = resolve();
  await untilBlocked(database);
  await link.commit();
  await resolving;
  expect(await stateOf(id)).toMatchObject({ batch: 'open', total: 2, pending: 1 });
});

it('the batch is cancelled while a job is added: the job is cancelled with it', async () => {
  const { id, job } = await openBatch();
  const link = await HeldLink.begin(database);
  await add(link, id);
  const cancelling = cancelFamily(database.db, TENANT, id);
  await untilBlocked(database);
  await link.commit();
  await cancelling;
  // The one that runs is asked to stop.
  expect(await stateOf(id)).toMatchObject({ batch: 'cancelling', total: 2, pending: 1 });
  expect(await within(async (tx) => await add(tx, id))).toEqual({ kind: 'closed' });
  await settleAs(database, job, failure('ABORTED'), 'cancelling');
  await resolve();
  expect(await stateOf(id)).toMatchObject({ batch: 'cancelled', total: 2, pending: 0 });
});

it('a job is added while the batch is cancelled: it is refused', async () => {
  const { id, job } = await openBatch();
  const link = await HeldLink.begin(database);
  await beginBatchCancel(link, TENANT, 0, id, null);
  const adding = within(async (tx) => await add(tx, id));
  await untilBlocked(database);
  await link.commit();
  expect(await adding).toEqual({ kind: 'closed' });
  await settleAs(database, job, SUCCESS);
  await resolve();
  expect(await stateOf(id)).toMatchObject({ batch: 'cancelled', total: 1, pending: 0 });
});

it('the last job ends while the batch is cancelled: it ends as cancelled', async () => {
  const { id, job } = await openBatch();
  await within(async (tx) => await close(tx, id));
  const link = await HeldLink.begin(database);
  await beginBatchCancel(link, TENANT, 0, id, null);
  await settleAs(database, job, SUCCESS);
  const resolving = resolve();
  await untilBlocked(database);
  await link.commit();
  await resolving;
  expect(await stateOf(id)).toMatchObject({ status: 'cancelled', batch: 'cancelled', pending: 0 });
});

it('the batch is cancelled while the end of its last job is noted: it ends as cancelled', async () => {
  const { id, job } = await openBatch();
  await settleAs(database, job, SUCCESS);
  const link = await HeldLink.begin(database);
  await resolve(link);
  const cancelling = cancelFamily(database.db, TENANT, id);
  await untilBlocked(database);
  await link.commit();
  expect(await cancelling).toEqual({ kind: 'changed', status: 'cancelled' });
  expect(await stateOf(id)).toMatchObject({ batch: 'cancelled', total: 1, pending: 0 });
});
