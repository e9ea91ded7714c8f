import fc from 'fast-check';
import { expect } from 'vitest';
import { decide } from '../../../src/core/job/lifecycle.ts';
import { claim, type ClaimedJob, type ClaimLevel } from '../../../src/store/claim/claim.ts';
import { findLevels } from '../checks/find-levels.ts';
import { settleAndClaim } from '../../../src/store/claim/settle-and-claim.ts';
import { claimLimited } from '../../../src/store/claim/limited-claim.ts';
import { storedPolicy } from './enqueue-steps.ts';
import {
  CONCURRENCY_LIMIT,
  isLimited,
  type Level,
  type Model,
  type ModelJob,
  RATE_BURST,
} from './model.ts';
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
import { KEYED, RATE_PER_MS, RATED, type World } from './world.ts';

const UNKNOWN = 9;

/** The levels: five queues with two ranks each, and an unknown queue. */
const LEVELS = [0, 1, 2, KEYED, RATED, UNKNOWN].flatMap((queue) =>
  [0, -5].map((rank) => ({ queue, rank })),
);

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
  // A claim from one level has a short form.
  levels: fc.oneof(
    fc.shuffledSubarray(LEVELS, { minLength: 9 }),
    fc.constantFrom(...LEVELS).map((level) => [level]),
  ),
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

export const findLevelsStep: fc.Arbitrary<Step> = fc
  .shuffledSubarray([0, 1, 2, KEYED, RATED, UNKNOWN])
  .map((places) =>
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
  const running = claims.filter((one) => model.owns(one) && model.job(one.id).state === 'running');
  // Permits are returned by `settle` only.
  const unlimited = running.filter(({ id }) => !isLimited(model.job(id)));
  if (unlimited.length < running.length) world.note('a settleAndClaim is refused a limited job');
  // So is the end of a job that others wait for.
  const owned = unlimited.filter(({ id }) => !model.job(id).watched);
  if (owned.length < unlimited.length) world.note('a settleAndClaim is refused a watched job');
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
  const ids = jobs.map(({ id }) => id);
  return model.take(worker, limit, levels, ids).map((job) => claimedInModel(world, job));
}

function claimedInModel(world: World, job: ModelJob): ClaimedJob {
  const { id, queue, priority, attempts, claim, interruptions } = job;
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
    policy: storedPolicy(job),
    limited: isLimited(job),
    watched: job.watched,
    traceparent: null,
    waitedMs: expect.any(Number) as number,
  };
}

/** Claims from levels with limiters, and from others among them. */
export const claimLimitedStep: fc.Arbitrary<Step> = fc.record(taking).map((use) =>
  step('claimLimited', use, async (model, world) => {
    const { limit } = use;
    const { worker, levels, floors } = arrange(model, world, use);
    const answer = await claimLimited(world.db, 0, limit, worker, floors);
    const ids = answer.jobs.map(({ id }) => id);
    const { picked, jobs } = model.takeLimited(worker, limit, levels, ids);
    // Its rows are also where the other half of the answer travels.
    const other = { waitedMs: null, shut: null, opens_ms: null, key_opens_ms: null, more: null };
    expect(answer.jobs).toEqual(jobs.map((job) => ({ ...claimedInModel(world, job), ...other })));
    const rated = queueAt(world, RATED);
    const asked = limit > 0 && model.mayTake(worker) && levels.some(({ queue }) => queue === rated);
    const full = asked && model.ratedInUse() >= CONCURRENCY_LIMIT;
    const spent = asked && model.tokens < 1;
    if (full) world.note('a limit stops a claim');
    if (spent && !full) world.note('a rate stops a claim');
    const opensInMs = spent && !full ? (expect.any(Number) as number) : null;
    expect({ ...answer, jobs: [] }).toEqual({
      jobs: [],
      shutQueues: full || spent ? [rated] : [],
      opensInMs,
      keyOpensInMs: null,
      more: limit > 0 && (picked >= limit || jobs.length < picked),
    });
  }),
);

/** Time passes until the rate has all its starts again. */
export const refillStep: fc.Arbitrary<Step> = fc.constant(
  step('refill', null, async (model, world) => {
    await world.database.sql(
      `update longshore.limiter set refilled_at = refilled_at - make_interval(secs => $1)`,
      [RATE_PER_MS / 1_000],
    );
    model.tokens = RATE_BURST;
  }),
);

/** The claiming worker and its levels, for the model and for the store. */
function arrange(
  model: Model,
  world: World,
  use: Taking,
): { worker: string; levels: Level[]; floors: ClaimLevel[] } {
  const floors = use.levels.map(({ queue: place, rank }, index) => {
    const queue = queueAt(world, place);
    const head = use.raised && index === 0 ? model.level(queue, rank)[0] : undefined;
    const attempts = model.published.get(world.queues[place]?.key ?? '') ?? 3;
    return { queue, rank, floor: head ? (model.seqs.get(head.id) ?? 0) : 0, attempts };
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
