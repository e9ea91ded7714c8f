import fc from 'fast-check';
import { expect } from 'vitest';
import { type JobPolicy, type JobState, NO_USAGE } from '../../../src/core/job/job.ts';
import type { JobRequest } from '../../../src/core/job/new-job.ts';
import { IdempotencyConflict } from '../../../src/store/enqueue/held-keys.ts';
import { request } from '../jobs.ts';
import type { Model, ModelJob } from './model.ts';
import { aWorker, findWorker, type WorkerPick } from './picks.ts';
import { type Step, step } from './step.ts';
import type { World } from './world.ts';

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

interface Use {
  queue: number;
  priority: number;
  maxAttempts: number | null;
  failsUnhandled: boolean;
  time: string;
  params: number;
  key: string | null;
  tag: boolean;
}

const aUse: fc.Arbitrary<Use> = fc.record({
  queue: fc.nat({ max: 2 }),
  priority: fc.constantFrom(0, 0, 5),
  maxAttempts: fc.constantFrom(1, 2, 3, 4, null, null),
  failsUnhandled: fc.constantFrom(false, false, false, true),
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

/** One job, or a batch of them. */
export const enqueueStep: fc.Arbitrary<Step> = fc
  .array(aUse, { minLength: 1, maxLength: 3 })
  .map((uses) => step('enqueue', uses, async (model, world) => await enqueue(model, world, uses)));

/** A job for which a worker in this process offers a slot. */
export const directStartStep: fc.Arbitrary<Step> = fc.tuple(aUse, aWorker).map(([use, pick]) =>
  step('directStart', [use, pick], async (model, world) => {
    await directStart(model, world, { ...use, key: null }, pick);
  }),
);

/** All or none: the first entry whose key is held for other params undoes the others. */
async function enqueue(model: Model, world: World, uses: readonly Use[]): Promise<void> {
  world.slot.offer(null);
  const requests = uses.map((use) => requestOf(world, use));
  // The key of a job that is gone is free again.
  const holders = new Map([...model.keys].filter(([, { id }]) => model.jobs.has(id)));
  const plan = uses.map((use, index) => {
    const name = keyOf(world, use);
    const holder = name === null ? undefined : holders.get(name);
    if (name !== null && !holder) holders.set(name, { id: `#${index}`, meaning: meaningOf(use) });
    return { use, holder };
  });
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
}

/** A plain job runs at once where a slot is offered, if the worker that offers it may take it. */
async function directStart(model: Model, world: World, use: Use, pick: WorkerPick): Promise<void> {
  const instance = findWorker(model, pick);
  world.slot.offer(instance);
  const [answer] = await world.enqueuer.start([requestOf(world, use)]);
  const id = answer?.jobId ?? '';
  addJob(model, world, id, use);
  const mayBeOffered = model.job(id).maxAttempts !== null;
  const offered = mayBeOffered && (use.time === 'now' || use.time === 'atOnce');
  const begins = offered && model.mayTake(instance);
  if (begins) {
    const job = model.claim(id, instance);
    const { queue, priority, attempts, maxAttempts, claim, interruptions } = job;
    const begun = {
      id,
      queue,
      rank: -priority,
      seq: 0,
      attempts,
      maxAttempts,
      claim,
      interruptions,
    };
    const paramsJson = PARAMS[use.params];
    expect(world.slot.begun).toEqual([
      { ...begun, paramsJson, policy: policyOf(use), limited: false, traceparent: null },
    ]);
    world.note('a job is handed over');
  } else {
    expect(world.slot.begun).toEqual([]);
    if (offered) world.note('a worker that is dead or leaving gets no job handed over');
  }
  expect(world.slot.released).toBe(offered && !begins ? 1 : 0);
  expect(answer).toEqual({ jobId: id, status: model.job(id).state, created: true });
}

/** The ids of one process only grow. */
function addJob(model: Model, world: World, id: string, use: Use): void {
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
    state,
    attempts: 0,
    maxAttempts: use.maxAttempts ?? model.published.get(definitionKey) ?? null,
    failsUnhandled: use.failsUnhandled,
    claim: 0,
    interruptions: 0,
    position: state === 'queued' ? model.nextPosition() : null,
    runAt,
    worker: null,
    cancelRequested: false,
    progress: null,
    result: null,
    error: null,
    usage: NO_USAGE,
    tried: [],
  });
  const name = keyOf(world, use);
  if (name !== null && model.keys.has(name)) world.note('the key of a deleted job is taken over');
  if (name !== null) model.keys.set(name, { id, meaning: meaningOf(use) });
}

function requestOf(world: World, use: Use): JobRequest {
  const queue = world.queues[use.queue];
  return request({
    tenant: queue?.tenant ?? '',
    definitionKey: queue?.key ?? '',
    priority: use.priority,
    maxAttempts: use.maxAttempts,
    policy: policyOf(use),
    paramsJson: PARAMS[use.params] ?? '',
    idempotencyKey: use.key,
    tags: use.tag ? ['t'] : null,
    ...timeOf(use)[0],
  });
}

export function policyOf({ failsUnhandled }: Pick<Use, 'failsUnhandled'>): JobPolicy | null {
  return failsUnhandled ? { failsUnhandled: true } : null;
}

function timeOf(use: Use): (typeof TIMES)[string] {
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
