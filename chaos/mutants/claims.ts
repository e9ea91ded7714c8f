import type { Mutant } from './mutant.ts';

const STALLS = { 'success-stall': 6, 'outcome-stall': 2 };

/** The short form is a function in the database: without it, the statements run for every batch. */
const NO_SHORT_FORM = {
  file: 'store/claim/few.ts',
  find: 'return levels.length <= 1 &&',
  replace: 'return levels.length < 0 &&',
};

/** Mistakes in who may write what about a job. */
export const CLAIM_MUTANTS: readonly Mutant[] = [
  {
    name: 'unfenced-settle-and-claim',
    mistake: 'a success is stored by id and state, without the claim number (pg-boss, River)',
    changes: [
      {
        file: 'store/claim/settle-and-claim.ts',
        find: "r.id = u.id and r.claim_no = u.claim and r.state = 'running'",
        replace: "r.id = u.id and r.state = 'running'",
      },
      NO_SHORT_FORM,
    ],
    caughtBy: ['S7'],
    deck: STALLS,
  },
  {
    name: 'unfenced-outcomes',
    mistake: 'any other outcome is stored by id and state, without the claim number',
    changes: [
      {
        file: 'store/claim/settle-parts.ts',
        find: 'r.id = u.id and r.claim_no = u.claim and r.state = u.was',
        replace: 'r.id = u.id and r.state = u.was',
      },
    ],
    caughtBy: ['S7', 'X1', 'S9'],
    deck: { 'outcome-stall': 8 },
    mix: { relapse: 40 },
  },
  {
    name: 'unfenced-progress',
    mistake: 'progress is written by id alone (bull#1416: the ex-owner writes beside the new one)',
    changes: [
      {
        file: 'store/attempt/progress.ts',
        find: ' and r.id = u.id and r.claim_no = u.claim',
        replace: ' and r.id = u.id',
      },
    ],
    caughtBy: ['S7'],
    deck: { 'progress-stall': 8 },
    mix: { slow: 20 },
  },
  {
    name: 'no-state-check',
    mistake: 'an outcome is stored whatever state the job is in by now',
    changes: [
      {
        file: 'store/claim/settle-parts.ts',
        find: ' and r.claim_no = u.claim and r.state = u.was',
        replace: ' and r.claim_no = u.claim',
      },
    ],
    caughtBy: ['S4', 'S17'],
    deck: { 'link-delay': 14 },
  },
  {
    name: 'dead-workers-claim',
    mistake: 'a claim does not ask whether its worker was declared dead (solid_queue#778)',
    changes: [
      {
        file: 'store/claim/claim.ts',
        find: 'w.instance = $3 and w.dead_at is null and w.draining_at is null',
        replace: 'w.instance = $3',
      },
      NO_SHORT_FORM,
    ],
    caughtBy: ['S6'],
    deck: STALLS,
  },
  {
    name: 'lost-claims-kept',
    mistake: 'a claim whose answer was lost is never given back (solid_queue#748)',
    changes: [
      {
        file: 'worker/reconciler.ts',
        find: 'if (this.#unknown.get(shard)?.has(name)) void this.#returnJob(shard, row);',
        replace: 'if (this.#unknown.get(shard)?.has(name)) continue;',
      },
    ],
    caughtBy: ['S1', 'L1'],
    deck: { 'worker-cut': 20 },
  },
  {
    name: 'outcome-forgotten',
    mistake: 'an outcome that could not be written is dropped, and the job never ends',
    changes: [
      {
        file: 'worker/attempt/outbox.ts',
        find: 'for (const item of kept.reverse()) this.#waiting[shard]?.[kindOf(item)].unshift(item);',
        replace: 'void kept;',
      },
    ],
    caughtBy: ['S1', 'L1'],
    deck: { 'worker-cut': 10, 'link-reset': 6, 'postmaster-kill': 2 },
  },
  {
    name: 'loop-stays-broken',
    mistake: 'a work loop that failed once fails for ever, while its worker renews its lease',
    changes: [
      {
        file: 'worker/claim/loop.ts',
        find: 'loop.failure = undefined;\n',
        replace: '\n',
      },
    ],
    caughtBy: ['L12', 'L1', 'S1'],
    deck: { 'postmaster-kill': 2 },
  },
];
