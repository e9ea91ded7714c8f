import fc from 'fast-check';
import { expect } from 'vitest';
import { NO_USAGE } from '../../../src/core/job/job.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { silentLog } from '../../../src/runtime/log.ts';
import { reaper } from '../../../src/scheduler/reaper.ts';
import {
  buryWorkers,
  findOrphans,
  forgetWorkers,
  heartbeat,
  retireWorker,
} from '../../../src/store/workers/workers.ts';
import { isOwned, type Model, type ModelJob } from './model.ts';
import { settleInModel } from './outcomes.ts';
import { aWorker, byId, findWorker } from './picks.ts';
import { type Step, step } from './step.ts';
import type { World } from './world.ts';

const LEASE_MS = 3_600_000;
const WORKERS_MAX = 6;

export const heartbeatStep: fc.Arbitrary<Step> = aWorker.map((pick) =>
  step('heartbeat', pick, async (model, world) => {
    const instance = findWorker(model, pick);
    const { alive, owned } = await heartbeat(world.db, 0, instance, LEASE_MS);
    expect(alive).toBe(model.isAlive(instance));
    expect(byId(owned)).toEqual(byId(model.ownedBy(instance)).map(ownedInModel));
    if (alive) model.changeWorker(instance, { leaseOver: false });
    else world.note('the heartbeat of a dead worker is refused');
    if (owned.some(({ state }) => state === 'cancelling'))
      world.note('a heartbeat tells of a cancel');
  }),
);

export const registerStep: fc.Arbitrary<Step> = fc.constant(
  step(
    'register',
    null,
    async (model, world) => await world.register(model),
    (model) => model.workers.size < WORKERS_MAX,
  ),
);

export const retireStep: fc.Arbitrary<Step> = aWorker.map((pick) =>
  step('retire', pick, async (model, world) => {
    const instance = findWorker(model, pick);
    await retireWorker(world.db, 0, instance);
    if (model.isAlive(instance)) model.changeWorker(instance, { dead: true });
  }),
);

export const buryStep: fc.Arbitrary<Step> = fc.constant(
  step('bury', null, async (model, world) => {
    const buried = await buryWorkers(world.db, 0);
    const dead = buryInModel(model).map((instance) => ({ instance, host: 'test', pid: 1 }));
    expect(buried).toHaveLength(dead.length);
    expect(buried).toEqual(expect.arrayContaining(dead));
  }),
);

/** Two days later, for dead workers. */
export const forgetStep: fc.Arbitrary<Step> = fc.constant(
  step('forget', null, async (model, world) => {
    await world.database.sql(`update longshore.worker set dead_at = dead_at - interval '2 days'`);
    for (const { instance, dead } of model.workers.values()) {
      if (dead) model.changeWorker(instance, { longDead: true });
    }
    expect(await forgetWorkers(world.db, 0)).toBe(forgetInModel(model));
  }),
);

/** Not noticed yet: the worker may still renew it, or be declared dead. */
export const leaseEndsStep: fc.Arbitrary<Step> = aWorker.map((pick) =>
  step('leaseEnds', pick, async (model, world) => {
    const instance = findWorker(model, pick);
    await world.database.sql(
      `update longshore.worker set lease_until = now() - interval '1 s' where instance = $1`,
      [instance],
    );
    model.changeWorker(instance, { leaseOver: true });
  }),
);

export const findOrphansStep: fc.Arbitrary<Step> = fc.constantFrom(1, 2, 1_000).map((limit) =>
  step('findOrphans', limit, async (model, world) => {
    const found = await findOrphans(world.db, 0, limit);
    const all = orphans(model).map((job) => {
      const whose = { definition: job.definitionKey, tenant: job.tenant, traceparent: null };
      return { ...ownedInModel(job), ...whose, worker: job.worker, host: 'test', pid: 1 };
    });
    expect(found).toHaveLength(Math.min(limit, all.length));
    expect(all).toEqual(expect.arrayContaining(found));
    if (found.length > 0) world.note('an orphan is found');
  }),
);

/** It finishes what it has, and gets nothing more. Nothing in the product asks for it yet. */
export const drainStep: fc.Arbitrary<Step> = aWorker.map((pick) =>
  step('drain', pick, async (model, world) => {
    const instance = findWorker(model, pick);
    const drain = `update longshore.worker set draining_at = now() where instance = $1`;
    await world.database.sql(drain, [instance]);
    model.changeWorker(instance, { draining: true });
  }),
);

export const reapStep: fc.Arbitrary<Step> = fc.constant(
  step('reap', null, async (model, world) => await reap(model, world)),
);

/** One round of the reaper itself: a start and a stop let it finish exactly one. */
async function reap(model: Model, world: World): Promise<void> {
  const { db, database } = world;
  const round = reaper({
    db,
    waker: database.waker,
    clock: systemClock,
    pollMs: 60_000,
    log: silentLog,
  });
  await round.start();
  await round.stop();
  buryInModel(model);
  for (const { id } of byId(orphans(model))) {
    const message = 'its worker test (pid 1) died: no heartbeat in time';
    const outcome = { kind: 'lost', message } as const;
    settleInModel(model, id, { outcome, usage: NO_USAGE, random: 0.5 });
    world.note('the reaper brings a job back');
  }
  forgetInModel(model);
}

function buryInModel(model: Model): string[] {
  const late = [...model.workers.values()].filter(({ leaseOver, dead }) => leaseOver && !dead);
  for (const { instance } of late) model.changeWorker(instance, { dead: true });
  return late.map(({ instance }) => instance);
}

/** Workers that have been dead for days and own nothing any more. */
function forgetInModel(model: Model): number {
  const gone = [...model.workers.values()].filter(
    ({ longDead, instance }) => longDead && model.ownedBy(instance).length === 0,
  );
  for (const { instance } of gone) model.workers.delete(instance);
  return gone.length;
}

function orphans(model: Model): ModelJob[] {
  return [...model.jobs.values()].filter(
    (job) => isOwned(job) && job.worker !== null && !model.isAlive(job.worker),
  );
}

function ownedInModel({ id, claim, state, attempts, maxAttempts, interruptions }: ModelJob) {
  return { id, claim, state, attempts, maxAttempts: maxAttempts ?? 0, interruptions };
}
