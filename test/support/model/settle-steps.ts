import fc from 'fast-check';
import { expect } from 'vitest';
import { NO_USAGE, type OwnedState } from '../../../src/core/job/job.ts';
import { decide, type Outcome } from '../../../src/core/job/lifecycle.ts';
import { saveProgress } from '../../../src/store/attempt/progress.ts';
import {
  type SettlementStatus,
  settlementStatusOf,
} from '../../../src/store/claim/settlement-status.ts';
import { settle, type Settled } from '../../../src/store/claim/settle.ts';
import { type LevelHint, QUEUES_CHANGED } from '../../../src/store/connection/wake.ts';
import { CHILDREN, type Claimed, isOwned, isRated, type Model, type ModelJob } from './model.ts';
import { type End, OUTCOMES, POISON, RANDOMS, RULES, settleInModel, USAGE } from './outcomes.ts';
import { aClaim, byId, type ClaimPick, eachOnce, findClaim, hasClaims } from './picks.ts';
import { type Step, step } from './step.ts';
import { HOOKS, type World } from './world.ts';

interface Use extends End {
  claim: ClaimPick;
  /** In which state its worker believes the job to be; mostly it knows. */
  belief: 'right' | OwnedState;
}

const aUse: fc.Arbitrary<Use> = fc.record({
  claim: aClaim,
  belief: fc.constantFrom('right', 'right', 'right', 'right', 'running', 'cancelling'),
  outcome: fc.constantFrom(...OUTCOMES),
  usage: fc.constantFrom(NO_USAGE, USAGE),
  random: fc.constantFrom(...RANDOMS),
});

const someUses = fc.array(aUse, { minLength: 1, maxLength: 3 });

export const settleStep: fc.Arbitrary<Step> = someUses.map((uses) =>
  step('settle', uses, async (model, world) => await settleAll(model, world, uses), hasClaims),
);

export const settlementStatusStep: fc.Arbitrary<Step> = aClaim.map((pick) =>
  step(
    'settlementStatusOf',
    pick,
    async (model, world) => {
      const claimed = findClaim(model, pick);
      const status = settlementStatusInModel(model, claimed);
      expect(await settlementStatusOf(world.db, 0, claimed.id, claimed.claim)).toEqual(status);
      world.note(`the status of a claim is ${status.kind}`);
    },
    hasClaims,
  ),
);

interface Word {
  claim: ClaimPick;
  fraction: number;
  said: boolean;
}

const aWord: fc.Arbitrary<Word> = fc.record({
  claim: aClaim,
  fraction: fc.constantFrom(0, 0.5, 1),
  said: fc.boolean(),
});

export const progressStep: fc.Arbitrary<Step> = fc
  .array(aWord, { minLength: 1, maxLength: 2 })
  .map((words) =>
    step('progress', words, async (model, world) => await tell(model, world, words), hasClaims),
  );

async function tell(model: Model, world: World, words: readonly Word[]): Promise<void> {
  const updates = words.map(({ claim: pick, fraction, said }) => {
    const { id, claim } = findClaim(model, pick);
    return { id, claim, fraction, message: said ? 'so far' : null };
  });
  await saveProgress(world.db, 0, eachOnce(updates));
  for (const { id, claim, fraction, message } of eachOnce(updates)) {
    if (model.owns({ id, claim })) model.change(id, { progress: { fraction, message } });
    else world.note('stale progress is not written');
  }
}

/** A batch of outcomes: the fence lets through exactly those whose claim and belief still hold. */
async function settleAll(model: Model, world: World, uses: readonly Use[]): Promise<void> {
  const items = eachOnce(
    uses.map(({ claim, belief, ...end }) => {
      const claimed = findClaim(model, claim);
      const was = belief === 'right' ? stateOf(model, claimed) : belief;
      return { id: claimed.id, claimed, was, end };
    }),
  );
  const settlements = items.map(({ id, claimed, was, end }) => {
    const { outcome, usage, random } = end;
    const transition = decide({ ...claimed, ...RULES, state: was }, outcome, random);
    return { id, claim: claimed.claim, was, transition, usage };
  });
  const passing = byId(items).filter(
    ({ claimed, was }) => model.owns(claimed) && model.job(claimed.id).state === was,
  );
  if (passing.some(({ end }) => end.outcome === POISON)) {
    await expect(settle(world.db, 0, settlements)).rejects.toThrow(/json/);
    return world.note('a batch that cannot be written leaves no trace');
  }
  const settled = await settle(world.db, 0, settlements);
  for (const { id, end } of passing) settleInModel(model, id, end);
  for (const { id } of passing) {
    const forChildren = model.jobs.get(id)?.waitsFor === CHILDREN;
    if (!model.resume(id)) continue;
    world.note(
      forChildren ? 'no child is open when its parent begins to wait' : 'a signal was early',
    );
  }
  model.passPermits();
  const expected = passing.map(({ id, end }) => settledInModel(world, model.job(id), end));
  // Permits go to other jobs; the hints of their levels come with any settled job.
  expected[0]?.levels.push(...levelsOf(model.permitted));
  expect(byId(settled).map(({ id }) => id)).toEqual(expected.map(({ id }) => id));
  if (model.permitted.length === 0) expect(byId(settled).map(sorted)).toEqual(expected.map(sorted));
  expect(sorted({ id: '', levels: settled.flatMap(({ levels }) => levels) })).toEqual(
    sorted({ id: '', levels: expected.flatMap(({ levels }) => levels) }),
  );
  for (const item of items.filter((one) => !passing.includes(one))) {
    world.note(`an outcome is refused: ${reason(model, item.claimed)}`);
  }
}

function reason(model: Model, { id, claim }: Claimed): string {
  const job = model.jobs.get(id);
  if (!job) return 'no such job';
  if (!isOwned(job)) return 'the job has no owner';
  return job.claim === claim ? 'the state has changed' : 'a newer claim owns it';
}

/**
 * The levels to hint: that of a job that is claimable at once; all of them for a job that returns
 * to an earlier position.
 */
function settledInModel(world: World, job: ModelJob, { outcome }: { outcome: Outcome }): Settled {
  const { id, state, queue, priority, concurrencyKey } = job;
  const rank = 0 - priority;
  const own = { shard: 0, queue, rank };
  const hooks =
    concurrencyKey === null ? 0 : { succeeded: 2, failed: 2, cancelled: 1 }[state as 'failed'];
  const made = Array.from({ length: hooks ?? 0 }, () => ({
    shard: 0,
    queue: world.queues[HOOKS]?.queue ?? 0,
    rank,
  }));
  // A returned permit lets others of its level run.
  const hinted = state === 'queued' || isRated(job) || concurrencyKey !== null;
  const back = state === 'queued' && (outcome.kind === 'lost' || outcome.kind === 'interrupted');
  const all = back ? [{ shard: 0, queue: QUEUES_CHANGED, rank: 0 }] : [];
  return { id, levels: [...(hinted ? [own] : []), ...made, ...all] };
}

function sorted({ id, levels }: Settled): Settled {
  return { id, levels: levels.toSorted((a, b) => a.queue - b.queue || a.rank - b.rank) };
}

/** Each level of these jobs once. */
export function levelsOf(jobs: readonly ModelJob[]): LevelHint[] {
  const levels = jobs.map(({ queue, priority }) => ({ shard: 0, queue, rank: 0 - priority }));
  return [...new Map(levels.map((level) => [`${level.queue}:${level.rank}`, level])).values()];
}

function stateOf(model: Model, claimed: { id: string }): OwnedState {
  return model.jobs.get(claimed.id)?.state === 'cancelling' ? 'cancelling' : 'running';
}

/** Who left a trace has settled its claim, and so has the last one; unless it lost its lease. */
function settlementStatusInModel(model: Model, { id, claim }: Claimed): SettlementStatus {
  const job = model.jobs.get(id);
  if (job && model.owns({ id, claim })) return { kind: 'owned', state: stateOf(model, job) };
  const trace = job?.tried.find((one) => one.claim === claim);
  const written = trace !== undefined || job?.claim === claim;
  const reclaimed = trace?.error?.code === 'LEASE_EXPIRED';
  return { kind: written && !reclaimed ? 'settled' : 'stale' };
}
