import fc from 'fast-check';
import { expect } from 'vitest';
import type { BatchFacts } from '../../../src/core/batch/batch-facts.ts';
import { type JobPolicy, type JobState, NO_USAGE } from '../../../src/core/job/job.ts';
import type { JobRequest } from '../../../src/core/job/new-job.ts';
import { IdempotencyConflict } from '../../../src/store/enqueue/key-holders.ts';
import type { Unique } from '../../../src/core/job/unique.ts';
import { request } from '../jobs.ts';
import type { Model, ModelBatch, ModelJob } from './model.ts';
import { type Step, step } from './step.ts';
import { KEYED, RATED, type World } from './world.ts';

const HOUR_MS = 3_600_000;
const PAST = new Date('2020-01-01');
const FAR = new Date('2100-01-01');

/** When a job may run, as a caller says it; and what the store must make of that. */
const TIMES: Record<string, [asked: Partial<JobRequest>, state: JobState, ModelJob['runAt']]> = {
  now: [{}, 'queued', null],
  atOnce: [{ delayMs: 0 }, 'queued', null],
  past: [{ runAt: PAST }, 'queued', null],
  later: [{ delayMs: HOUR_MS }, 'scheduled', { waitMs: HOUR_MS, due: false }],
  far: [{ runAt: FAR }, 'scheduled', { waitMs: null, due: false }],
  held: [{ hold: true }, 'created', null],
  heldLater: [{ hold: true, delayMs: HOUR_MS }, 'created', { waitMs: HOUR_MS, due: false }],
  heldPast: [{ hold: true, runAt: PAST }, 'created', { waitMs: null, due: true }],
};

/** Params as texts, of which two mean the same. */
const PARAMS = ['{"a":1,"b":[2]}', '{"b":[2],"a":1}', '"other"'] as const;

export interface Use {
  queue: number;
  priority: number;
  maxAttempts: number | null;
  failsUnserved: boolean;
  time: string;
  params: number;
  key: string | null;
  tag: boolean;
  concurrencyKey?: string;
  unique?: Unique;
}

export const aUse: fc.Arbitrary<Use> = fc.record({
  queue: fc.nat({ max: 2 }),
  priority: fc.constantFrom(0, 0, 5),
  maxAttempts: fc.constantFrom(1, 2, 3, 4, null, null),
  failsUnserved: fc.constantFrom(false, false, false, true),
  time: fc.oneof(
    { weight: 1, arbitrary: fc.constant('now') },
    { weight: 1, arbitrary: fc.constantFrom(...Object.keys(TIMES)) },
  ),
  params: fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(0, 1) },
    { weight: 1, arbitrary: fc.constant(2) },
  ),
  key: fc.option(fc.constantFrom('k', 'l'), { nil: null, freq: 2 }),
  tag: fc.boolean(),
});

/** One job or a batch of them, of the definitions with limits. */
export const enqueueLimitedStep: fc.Arbitrary<Step> = fc
  .array(fc.tuple(aUse, fc.constantFrom('p', 'p', 'q', null, null)), { minLength: 1, maxLength: 3 })
  .map((all) => {
    const uses = all.map(([use, concurrencyKey]) =>
      concurrencyKey === null
        ? { ...use, queue: RATED, failsUnserved: false }
        : { ...use, queue: KEYED, failsUnserved: false, concurrencyKey },
    );
    return step('enqueueLimited', uses, async (model, world) => await enqueue(model, world, uses));
  });

/** One job, or a batch of them. */
export const enqueueStep: fc.Arbitrary<Step> = fc
  .array(aUse, { minLength: 1, maxLength: 3 })
  .map((uses) => step('enqueue', uses, async (model, world) => await enqueue(model, world, uses)));

/** All or none: the first entry whose key is held for other params undoes the others. */
async function enqueue(model: Model, world: World, uses: readonly Use[]): Promise<void> {
  const requests = uses.map((use) => requestOf(world, use));
  // The key of a job that is gone is free again.
  const holders = new Map([...model.keys].filter(([, { id }]) => model.jobs.has(id)));
  const plan = uses.map((use, index) => {
    const name = keyOf(world, use);
    const holder = name === null ? undefined : holders.get(name);
    if (name !== null && !holder) holders.set(name, { id: `#${index}`, meaning: meaningOf(use) });
    return { use, holder };
  });
  /** The key of a deleted job is freed only after the other entries are stored. */
  const isLate = (use: Use) => {
    const name = keyOf(world, use);
    return name !== null && model.keys.has(name) && !model.jobs.has(model.keys.get(name)?.id ?? '');
  };
  const late = plan.map(({ use, holder }) => !holder && isLate(use));
  const conflict = plan.findIndex(({ use, holder }) => holder && holder.meaning !== meaningOf(use));
  if (conflict >= 0) {
    const refusal = await world.enqueuer.start(requests).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(IdempotencyConflict);
    expect(refusal).toMatchObject({ index: conflict });
    return world.note('a key with other params is refused');
  }
  const answers = await world.enqueuer.start(requests);
  expect(answers).toHaveLength(uses.length);
  for (const [index, { use, holder }] of plan.entries()) {
    const answer = answers[index];
    const first = holder?.id.startsWith('#') ? answers[Number(holder.id.slice(1))] : undefined;
    const id = first?.jobId ?? holder?.id ?? answer?.jobId ?? '';
    if (holder) world.note('a repeated key is answered with the first job');
    else addJob(model, world, id, use);
    const { state } = model.job(id);
    expect(answer).toEqual({ jobId: id, status: state, created: holder === undefined });
  }
  const lateJobs = answers
    .flatMap(({ jobId }, index) => (late[index] ? (model.jobs.get(jobId) ?? []) : []))
    .filter(({ state }) => state === 'queued');
  // The others get free permits before the late ones are there.
  for (const { id } of lateJobs) model.change(id, { position: null });
  if (lateJobs.length > 0) model.passPermits();
  for (const { id } of lateJobs) model.change(id, { position: model.nextPosition() });
}

/** The ids of one process only grow. */
export function addJob(model: Model, world: World, id: string, use: Use): void {
  const last = [...model.jobs.keys()].at(-1) ?? '';
  expect(id > last, 'a new id, greater than all before').toBe(true);
  const [, state, runAt] = timeOf(use);
  const { tenant, definitionKey } = requestOf(world, use);
  const paramsJson = PARAMS[use.params] ?? '';
  model.jobs.set(id, {
    id,
    tenant,
    definitionKey,
    queue: world.queues[use.queue]?.queue ?? 0,
    priority: use.priority,
    params: JSON.parse(paramsJson),
    tags: use.tag ? ['t'] : [],
    idempotencyKey: use.key,
    concurrencyKey: use.concurrencyKey ?? null,
    unique: use.unique ? { key: `key:${use.unique.key}`, while: use.unique.while } : null,
    state,
    attempts: 0,
    maxAttempts: use.maxAttempts ?? model.published.get(definitionKey) ?? null,
    failsUnserved: use.failsUnserved,
    claim: 0,
    interruptions: 0,
    position: state === 'queued' ? model.nextPosition() : null,
    hasPermit: false,
    blocked: null,
    queuedStep: null,
    runAt,
    worker: null,
    cancelRequested: false,
    progress: null,
    result: null,
    error: null,
    usage: NO_USAGE,
    tried: [],
    waitsFor: null,
    parents: [],
    children: [],
    watched: false,
    signals: {},
    timeouts: [],
  });
  const name = keyOf(world, use);
  if (name !== null && model.keys.has(name)) world.note('the key of a deleted job is taken over');
  if (name !== null) model.keys.set(name, { id, meaning: meaningOf(use) });
}

export function requestOf(world: World, use: Use): JobRequest {
  const queue = world.queues[use.queue];
  return request({
    tenant: queue?.tenant ?? '',
    definitionKey: queue?.key ?? '',
    priority: use.priority,
    maxAttempts: use.maxAttempts,
    policy: storedPolicy({ failsUnserved: use.failsUnserved, unique: null }),
    paramsJson: PARAMS[use.params] ?? '',
    idempotencyKey: use.key,
    concurrencyKey: use.concurrencyKey ?? null,
    unique: use.unique ?? null,
    tags: use.tag ? ['t'] : null,
    ...timeOf(use)[0],
  });
}

/** The policy that is stored with a job. */
export function storedPolicy(
  job: Pick<ModelJob, 'failsUnserved' | 'unique'> & Partial<Pick<ModelJob, 'parents' | 'batch'>>,
): JobPolicy | null {
  const { failsUnserved, unique, parents = [], batch } = job;
  const hasParents = parents.length > 0;
  if (!failsUnserved && !unique && !hasParents && !batch) return null;
  return {
    ...(batch && { batch: factsOf(batch) }),
    ...(failsUnserved && { failsUnserved }),
    ...(unique && { unique }),
    ...(hasParents && { hasParents }),
  };
}

/** As it is stored; the model does not know the time of its close. */
export function factsOf({ onComplete, onSuccess, closed, cancelled }: ModelBatch): BatchFacts {
  const closedAt = closed ? (expect.any(String) as string) : null;
  return { name: null, onComplete, onSuccess, closedAt, ...(cancelled && { cancelledBy: null }) };
}

export function timeOf(use: Use): (typeof TIMES)[string] {
  return TIMES[use.time] ?? [{}, 'queued', null];
}

/** A key belongs to a tenant and a definition. */
function keyOf(world: World, use: Use): string | null {
  const { tenant, definitionKey } = requestOf(world, use);
  return use.key === null ? null : `idempotency\n${tenant}\n${definitionKey}\n${use.key}`;
}

function meaningOf(use: Use): string {
  return use.params === 2 ? 'other' : 'the same';
}
