import fc from 'fast-check';
import { expect } from 'vitest';
import { batchJob } from '../../../src/app/built-in/batch-job.ts';
import { isTerminal, type JobState, NO_USAGE } from '../../../src/core/job/job.ts';
import { isJobId } from '../../../src/core/job/job-id.ts';
import { decide, type Outcome } from '../../../src/core/job/lifecycle.ts';
import type { JobContext } from '../../../src/core/definition/define.ts';
import { addToBatch, closeBatch, storeBatch } from '../../../src/store/batches/store-batch.ts';
import { readBatch } from '../../../src/store/batches/read-batches.ts';
import { cancelFamily } from '../../../src/store/change/cancel-children.ts';
import { settle } from '../../../src/store/claim/settle.ts';
import type { Entry } from '../../../src/store/enqueue/enqueue-entry.ts';
import { failure } from '../jobs.ts';
import { aChange, target } from './change-steps.ts';
import { addJob, aUse, factsOf, requestOf, type Use } from './enqueue-steps.ts';
import {
  BATCH_CANCELLED,
  BATCH_OPEN,
  CHILDREN,
  isOwned,
  type Model,
  type ModelJob,
  PARENTS,
} from './model.ts';
import { RULES, settleInModel } from './outcomes.ts';
import { type Step, step } from './step.ts';
import { BATCHES, type World } from './world.ts';

const PLAIN = { priority: 0, maxAttempts: null, failsUnserved: false, params: 0, tag: false };
/** The batch itself. */
const SELF: Use = { ...PLAIN, queue: BATCHES, time: 'now', key: null };

/** Its jobs are of the tenant of the batch. */
const aMember = fc.record({
  name: fc.constantFrom('a', 'b', null, null),
  use: aUse.map((use) => ({ ...use, key: null, queue: use.queue % 2 })),
});
type Member = { name: string | null; use: Use };
const members = (least: number) =>
  fc.uniqueArray(aMember, {
    minLength: least,
    maxLength: 3,
    selector: ({ name, use }) => name ?? use,
  });

const isBatch = ({ batch }: ModelJob) => batch !== undefined;
const isOpen = ({ waitsFor }: ModelJob) => waitsFor === BATCH_OPEN;
const hasBatches = (model: Readonly<Model>) => [...model.jobs.values()].some(isBatch);

const aBatch = fc.record({
  open: fc.boolean(),
  members: members(0),
  onComplete: fc.boolean(),
  onSuccess: fc.boolean(),
});

export const storeBatchStep: fc.Arbitrary<Step> = aBatch.map((how) =>
  step('storeBatch', how, async (model, world) => {
    const { open } = how;
    const asked = requestOf(world, SELF);
    const self = await world.enqueuer.prepare({ ...asked, definitionVersion: 1 });
    const { id } = self.job;
    const jobs = await prepare(world, how.members);
    const callbacks = [
      ...(how.onComplete ? [{ onFailure: 'run' as const }] : []),
      ...(how.onSuccess ? [{ onFailure: 'fail' as const }] : []),
    ];
    const use: Use = { ...PLAIN, queue: 0, time: 'now', key: null };
    const after: Entry[] = [];
    for (const { onFailure } of callbacks) {
      const request = { ...requestOf(world, use), after: { jobs: [id], onFailure } };
      after.push(await world.enqueuer.prepare(request));
    }
    const [first, second] = after.map(({ job }) => job.id);
    const onSuccess = how.onSuccess ? ((how.onComplete ? second : first) ?? null) : null;
    const onComplete = how.onComplete ? (first ?? null) : null;
    const batch = { onComplete, onSuccess, closed: !open };
    const facts = { ...factsOf(batch), closedAt: open ? null : new Date().toISOString() };
    const entry = { ...self, job: { ...self.job, policy: { batch: facts } } };
    const stored = await world.db.transaction(
      async (tx) => await storeBatch(tx, { entry, open, members: jobs, callbacks: after }),
    );
    expect(stored).toMatchObject({ id, created: true });
    addJob(model, world, id, SELF);
    const waitsFor = open ? BATCH_OPEN : CHILDREN;
    model.change(id, { state: 'suspended', position: null, watched: true, waitsFor, batch });
    addMembers(
      model,
      world,
      id,
      how.members,
      jobs.map(({ entry: { job } }) => job.id),
    );
    for (const [index, { onFailure }] of callbacks.entries()) {
      const callback = after[index]?.job.id ?? '';
      addJob(model, world, callback, use);
      const parents = [{ id, onFailure, ended: null }];
      model.change(callback, { state: 'suspended', position: null, waitsFor: PARENTS, parents });
    }
    if (model.resume(id)) world.note('a batch without jobs goes on');
    world.note(open ? 'an open batch is stored' : 'a closed batch is stored');
    await compare(model, world, id);
  }),
);

/** More jobs for a batch, which may be closed, or for what is no batch. */
export const addToBatchStep: fc.Arbitrary<Step> = fc
  .record({ change: aChange, members: members(1) })
  .map((how) =>
    step(
      'addToBatch',
      how,
      async (model, world) => {
        const { id, tenant, job } = target(model, how.change, isOpen);
        if (!isJobId(id)) return;
        const jobs = await prepare(world, how.members);
        const added = await world.db.transaction(
          async (tx) => await addToBatch(tx, tenant, id, jobs),
        );
        if (!job?.batch) return expect(added).toEqual({ kind: 'missing' });
        const named = how.members.filter(({ name }) => name !== null);
        const known = named.filter(({ name }) => job.children.some((one) => one.name === name));
        if (known.length > 0) {
          const same = how.members.every(({ name, use }) =>
            job.children.some((one) => one.name === name && one.asked === askedOf(use)),
          );
          world.note(same ? 'jobs of a batch are sent again' : 'other jobs are refused');
          return expect(added).toEqual({ kind: same ? 'repeated' : 'conflict' });
        }
        if (!isOpen(job)) {
          world.note('a closed batch accepts no jobs');
          return expect(added).toEqual({ kind: 'closed' });
        }
        expect(added).toMatchObject({ kind: 'added' });
        const ids = jobs.map(({ entry }) => entry.job.id);
        addMembers(model, world, id, how.members, ids);
        world.note('jobs are added to a batch');
        await compare(model, world, id);
      },
      hasBatches,
    ),
  );

export const closeBatchStep: fc.Arbitrary<Step> = aChange.map((use) =>
  step(
    'closeBatch',
    use,
    async (model, world) => {
      const { id, tenant, job } = target(model, use, isOpen);
      if (!isJobId(id)) return;
      const closed = await world.db.transaction(async (tx) => await closeBatch(tx, tenant, id));
      if (!job?.batch) return expect(closed).toEqual({ kind: 'missing' });
      if (!isOpen(job)) return expect(closed).toEqual({ kind: 'unchanged' });
      expect(closed).toMatchObject({ kind: 'closed' });
      model.change(id, { waitsFor: CHILDREN, batch: { ...job.batch, closed: true } });
      world.note(
        model.resume(id) ? 'a close moves a batch on' : 'a closed batch waits for its jobs',
      );
      await compare(model, world, id);
    },
    hasBatches,
  ),
);

/** The code of a batch runs under a claim of it, and says how it ends. */
export const endBatchStep: fc.Arbitrary<Step> = fc.nat({ max: 99 }).map((n) =>
  step(
    'endBatch',
    n,
    async (model, world) => {
      const running = ended(model);
      const job = running[n % running.length];
      if (!job) return;
      const { id, claim, attempts, interruptions } = job;
      const run = batchJob(world.db).run as (params: unknown, ctx: JobContext) => Promise<unknown>;
      const said = await run({}, { jobId: id } as JobContext).catch((error: unknown) => error);
      const outcome = outcomeOf(model, world, job, said);
      const maxAttempts = job.maxAttempts ?? 0;
      const owner = { id, claim, attempts, maxAttempts, interruptions, state: job.state };
      const transition = decide({ ...owner, ...RULES } as never, outcome, 0.5);
      const settlement = { id, claim, was: job.state, transition, usage: NO_USAGE } as const;
      expect(await settle(world.db, 0, [settlement as never])).toMatchObject([{ id }]);
      settleInModel(model, id, { outcome, usage: NO_USAGE, random: 0.5 });
      if (outcome.kind === 'suspended') model.resume(id);
      await compare(model, world, id);
    },
    (model) => ended(model).length > 0,
  ),
);

/** The batch, then its open jobs, and those below them. */
export const cancelBatchStep: fc.Arbitrary<Step> = aChange.map((use) =>
  step(
    'cancelBatch',
    use,
    async (model, world) => {
      const { id, tenant, job } = target(
        model,
        use,
        (one) => isBatch(one) && !isTerminal(one.state),
      );
      const answer = await cancelFamily(world.db, tenant, id);
      if (!job) return expect(answer).toEqual({ kind: 'missing' });
      const over = isTerminal(job.state);
      const waits = job.batch && job.state === 'suspended';
      if (waits) {
        model.change(id, {
          waitsFor: BATCH_CANCELLED,
          batch: { ...job.batch, closed: true, cancelled: true },
        });
      } else cancelInModel(model, [id]);
      if (job.watched && !waits && !over && !isOwned(job)) model.resolve();
      let cancelled = 0;
      for (let level = [id]; level.length > 0;) {
        const open = level.flatMap((one) => model.jobs.get(one)?.children ?? []);
        level = open.filter((child) => child.ended === null).map((child) => child.id);
        if (level.length === 0) break;
        cancelled += cancelInModel(model, level);
        model.passPermits();
        model.resolve();
      }
      if (model.job(id).waitsFor === BATCH_CANCELLED) {
        world.note(
          model.endCancelledBatch(id)
            ? 'a cancelled batch without open jobs ends'
            : 'a cancelled batch waits for its jobs',
        );
        model.resolve();
      }
      const { state: status } = model.job(id);
      const kind = over && cancelled === 0 ? 'refused' : 'changed';
      expect(answer).toEqual({ kind, status: over ? job.state : status });
      if (job.batch) {
        world.note('a batch is cancelled with its jobs');
        await compare(model, world, id);
      }
    },
    hasBatches,
  ),
);

async function prepare(world: World, wanted: readonly Member[]) {
  const jobs = [];
  for (const { name, use } of wanted) {
    const entry = await world.enqueuer.prepare(requestOf(world, use));
    jobs.push({ name, asked: askedOf(use), entry });
  }
  return jobs;
}

function askedOf({ queue, params }: Use): string {
  return `${queue} ${params}`;
}

function addMembers(
  model: Model,
  world: World,
  batchId: string,
  wanted: readonly Member[],
  ids: readonly string[],
): void {
  const children = [...model.job(batchId).children];
  for (const [index, { name, use }] of wanted.entries()) {
    const id = ids[index] ?? '';
    addJob(model, world, id, use);
    model.change(id, { watched: true });
    const child = { id, name: name ?? `#${children.length}`, asked: askedOf(use), ended: null };
    children.push(child);
  }
  model.change(batchId, { children });
}

/** How many of them it has ended, or asked to stop. */
function cancelInModel(model: Model, ids: readonly string[]): number {
  let changed = 0;
  for (const id of ids) {
    const job = model.jobs.get(id);
    if (!job || isTerminal(job.state) || job.cancelRequested) continue;
    changed += 1;
    if (isOwned(job)) model.change(id, { state: 'cancelling', cancelRequested: true });
    else {
      const end = { state: 'cancelled', position: null, runAt: null, waitsFor: null } as const;
      model.change(id, { ...end, cancelRequested: true });
      if (job.watched) model.ends.set(id, 'cancelled');
    }
  }
  return changed;
}

function ended(model: Readonly<Model>): ModelJob[] {
  return [...model.jobs.values()].filter((job) => isBatch(job) && isOwned(job));
}

/** What the code of a batch must have said, as the outcome of its claim. */
function outcomeOf(model: Model, world: World, { children }: ModelJob, said: unknown): Outcome {
  const counted = (state: string | null) => children.filter((one) => one.ended === state).length;
  if (counted(null) > 0) {
    world.note('a batch waits for its jobs again');
    expect(said).toMatchObject({ name: 'AwaitChildren' });
    return { kind: 'suspended', children: true };
  }
  const [total, failed, cancelled] = [children.length, counted('failed'), counted('cancelled')];
  const bad = failed + cancelled;
  if (bad > 0) {
    world.note('a batch fails with its jobs');
    const jobs = total === 1 ? 'job' : 'jobs';
    const message = `${bad} of ${total} ${jobs} did not succeed: ${failed} failed, ${cancelled} cancelled`;
    expect(said).toMatchObject({ code: 'BATCH_FAILED', message });
    return failure('BATCH_FAILED', message);
  }
  world.note('a batch succeeds with its jobs');
  const result = { total, succeeded: total, failed, cancelled };
  expect(said).toEqual(result);
  return { kind: 'success', resultJson: JSON.stringify(result) };
}

function statusOf(state: JobState, waitsFor: string | null) {
  if (isTerminal(state)) return state;
  if (state === 'cancelling' || waitsFor === BATCH_CANCELLED) return 'cancelling';
  return waitsFor === BATCH_OPEN ? 'open' : 'running';
}

/** What the API shows of it. */
async function compare(model: Model, world: World, id: string): Promise<void> {
  const { state, waitsFor, children, batch, tenant } = model.job(id);
  const counted = (end: string | null) => children.filter((one) => one.ended === end).length;
  expect(await readBatch(world.db, tenant, id)).toMatchObject({
    id,
    status: statusOf(state, waitsFor),
    total: children.length,
    pending: counted(null),
    succeeded: counted('succeeded'),
    failed: counted('failed'),
    cancelled: counted('cancelled'),
    onComplete: batch?.onComplete ?? null,
    onSuccess: batch?.onSuccess ?? null,
  });
}
