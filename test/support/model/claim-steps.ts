import fc from 'fast-check';
import { expect } from 'vitest';
import { decide } from '../../../src/core/job/lifecycle.ts';
import { claim, type ClaimedJob, type ClaimLevel } from '../../../src/store/claim/claim.ts';
import { findLevels } from '../../../src/store/claim/find-levels.ts';
import { settleAndClaim } from '../../../src/store/claim/settle-and-claim.ts';
import { policyOf } from './enqueue-steps.ts';
import type { Level, Model } from './model.ts';
import { POISON, RULES, settleInModel, USAGE } from './outcomes.ts';
import {
  aClaim,
  aWorker,
  type ClaimPick,
  eachOnce,
  findClaim,
  findWorker,
  hasClaims,
  type WorkerPick,
} from './picks.ts';
import { type Step, step } from './step.ts';
import type { World } from './world.ts';

/** The levels: three queues with two ranks each, and an unknown queue. */
const LEVELS = [0, 1, 2, 3].flatMap((queue) => [0, -5].map((rank) => ({ queue, rank })));

interface Taking {
  worker: WorkerPick;
  limit: number;
  levels: { queue: number; rank: number }[];
  /** Whether a floor leaves out the head of the first level. */
  raised: boolean;
}

const taking = {
  worker: aWorker,
  limit: fc.constantFrom(0, 1, 1, 2, 3),
  levels: fc.shuffledSubarray(LEVELS, { minLength: 6 }),
  raised: fc.constantFrom(false, false, false, false, true),
};

const aTurn = fc.record({
  ...taking,
  claims: fc.array(aClaim, { minLength: 1, maxLength: 3 }),
  poison: fc.constantFrom(false, false, false, false, false, false, false, true),
});

export const claimStep: fc.Arbitrary<Step> = fc.record(taking).map((use) =>
  step('claim', use, async (model, world) => {
    const { limit } = use;
    const { worker, levels, floors } = arrange(model, world, use);
    const jobs = await claim(world.db, 0, limit, worker, floors);
    expect(jobs).toEqual(takeInModel(model, world, worker, { limit, levels, jobs }));
  }),
);

export const findLevelsStep: fc.Arbitrary<Step> = fc.shuffledSubarray([0, 1, 2, 3]).map((places) =>
  step('findLevels', places, async (model, world) => {
    const queues = places.map((place) => queueAt(world, place));
    const found = await findLevels(world.db, 0, queues);
    const all = queues.flatMap((queue) => [0, -5].map((rank) => ({ queue, rank })));
    const full = all.filter(({ queue, rank }) => model.level(queue, rank).length > 0);
    expect(found).toHaveLength(full.length);
    expect(found).toEqual(expect.arrayContaining(full));
  }),
);

export const turnStep: fc.Arbitrary<Step> = aTurn.map((use) =>
  step('settle_and_claim', use, async (model, world) => await turn(model, world, use), hasClaims),
);

/** Plain successes of any claims, and a claim, in one statement: both or, with poison, neither. */
async function turn(
  model: Model,
  world: World,
  use: Taking & { claims: ClaimPick[]; poison: boolean },
): Promise<void> {
  const { limit } = use;
  const { worker: instance, levels, floors } = arrange(model, world, use);
  const outcome = use.poison ? POISON : ({ kind: 'success', resultJson: '{"a":"turn"}' } as const);
  // A plain success came from a process that still lives.
  const usage = { ...USAGE, exitCode: null, signal: null };
  const claims = eachOnce(use.claims.map((pick) => findClaim(model, pick)));
  const settlements = claims.map((claimed) => {
    const transition = decide({ ...claimed, ...RULES, state: 'running' }, outcome, 0.5);
    return { ...claimed, was: 'running' as const, transition, usage };
  });
  const turning = settleAndClaim(world.db, 0, { settlements, limit, instance, levels: floors });
  if (use.poison) {
    await expect(turning).rejects.toThrow(/json/);
    return world.note('a settleAndClaim that cannot be written leaves no trace');
  }
  const { settled, jobs } = await turning;
  const owned = claims.filter((one) => model.owns(one) && model.job(one.id).state === 'running');
  for (const { id } of owned) settleInModel(model, id, { outcome, usage, random: 0.5 });
  const all = owned.length === claims.length;
  if (!all) world.note('a settleAndClaim is refused what its claim does not own');
  expect(settled).toEqual(all ? null : new Set(owned.map(({ id }) => id)));
  const taken = takeInModel(model, world, instance, { limit, levels, jobs });
  // Its rows are also where the other half of the answer travels.
  expect(jobs).toEqual(taken.map((job) => ({ ...job, settled: null })));
}

/** Charges the claim in the model, and says what it must have answered with, in which order. */
function takeInModel(
  model: Model,
  world: World,
  worker: string,
  { limit, levels, jobs }: { limit: number; levels: readonly Level[]; jobs: readonly ClaimedJob[] },
): ClaimedJob[] {
  const waits = levels.some(({ queue, rank }) => model.level(queue, rank).length > 0);
  if (waits && limit > 0 && !model.mayTake(worker)) {
    world.note('a worker that is dead or leaving claims nothing');
  }
  const taken = model.take(
    worker,
    limit,
    levels,
    jobs.map(({ id }) => id),
  );
  return taken.map(({ id, queue, priority, attempts, claim, interruptions, ...job }) => {
    const { narrow, body } = world.row(id);
    if (narrow['max_attempts'] === null) world.note('a first claim asks the definition');
    return {
      id,
      queue,
      rank: 0 - priority,
      seq: narrow.seq ?? 0,
      attempts,
      maxAttempts: job.maxAttempts ?? 0,
      claim,
      interruptions,
      paramsJson: expect.toSatisfy((text: string) => sameJson(text, body['params'])) as string,
      policy: policyOf(job),
      limited: false,
      traceparent: null,
    };
  });
}

/** The claiming worker and its levels, for the model and for the store. */
function arrange(
  model: Model,
  world: World,
  use: Taking,
): { worker: string; levels: Level[]; floors: ClaimLevel[] } {
  const floors = use.levels.map(({ queue: place, rank }, index) => {
    const queue = queueAt(world, place);
    const head = use.raised && index === 0 ? model.level(queue, rank)[0] : undefined;
    return { queue, rank, floor: head ? (model.seqs.get(head.id) ?? 0) : 0 };
  });
  const levels = floors.map(({ queue, rank, floor }) => {
    const below = model.level(queue, rank).filter(({ id }) => (model.seqs.get(id) ?? 0) <= floor);
    return { queue, rank, skipped: below.length };
  });
  return { worker: findWorker(model, use.worker), levels, floors };
}

function queueAt(world: World, place: number): number {
  return world.queues[place]?.queue ?? 999;
}

function sameJson(text: string, value: unknown): boolean {
  return JSON.stringify(JSON.parse(text)) === JSON.stringify(value);
}
