import type { Mutant } from './mutant.ts';

/** Mistakes between a remote worker and the APIs. */
export const REMOTE_MUTANTS: readonly Mutant[] = [
  {
    name: 'lost-deliveries-kept',
    mistake:
      'a delivery whose answer was lost is neither delivered again nor returned, while its worker lives',
    changes: [
      {
        file: 'controller/held.ts',
        find: 'const found: Delivery[] = [];\n    for (let shard = 0;',
        replace: 'const found: Delivery[] = [];\n    for (let shard = this.#db.shards;',
      },
      {
        file: 'controller/difference.ts',
        find: '.filter(({ id }) => !held.has(id))',
        replace: '.filter(({ id }) => !held.has(id) && false)',
      },
    ],
    caughtBy: ['S1', 'L1'],
    remotes: 2,
    deck: { 'turn-cut': 6, 'turn-twice': 2 },
  },
  {
    name: 'redelivery-is-a-claim',
    mistake: 'a lost delivery is taken for a lost attempt, and charged',
    changes: [
      {
        file: 'core/job/lifecycle.ts',
        find: "return moveTo('queued', { attemptRefunded: true, attempted: false });",
        replace: "return moveTo('queued', { attempted: false });",
      },
    ],
    caughtBy: ['S9', 'S23'],
    remotes: 2,
    deck: { 'turn-twice': 6, 'turn-late': 4 },
  },
  {
    name: 'no-remote-fence',
    mistake: 'a remote worker whose heartbeats are lost goes on, because its turns are answered',
    changes: [
      {
        file: 'worker/heartbeat.ts',
        find: 'this.#fenceTimer = setTimeout(() => this.#fence(UNRENEWED), leftMs);',
        replace: 'void leftMs;',
      },
      {
        file: 'worker/heartbeat.ts',
        find: 'if (isDue) this.#fence(UNRENEWED);',
        replace: 'void isDue;',
      },
      {
        file: 'worker/heartbeat.ts',
        find: 'onRenewed(this.#renewedMs + (this.#heldMs * 11) / 12);',
        replace: 'onRenewed(this.#renewedMs + this.#heldMs * 100);',
      },
    ],
    caughtBy: ['S10', 'S11'],
    remotes: 2,
    deck: { 'beats-lost': 6 },
    mix: { slow: 60 },
  },
  {
    name: 'returned-delivery-starts',
    mistake: 'a job starts although it was returned before its delivery arrived, so it runs twice',
    changes: [
      {
        file: 'worker/remote/claims.ts',
        find: 'if (this.#held.has(key) || this.#seen.has(key)) return false;',
        replace: 'if (this.#held.has(key)) return false;',
      },
    ],
    caughtBy: ['S10', 'S9'],
    remotes: 2,
    deck: { 'turn-slow': 12 },
  },
  {
    name: 'any-claim-settled',
    mistake: 'an outcome that arrives late is stored for the claim that the job has now',
    changes: [
      {
        file: 'controller/held.ts',
        find: 'found.set(claimKey(delivery.job), delivery);',
        replace:
          'for (const one of claims) if (one.id === delivery.job.id) found.set(claimKey(one), delivery);',
      },
      {
        file: 'store/workers/remote-workers.ts',
        find: '`select ${HELD}, j.params::text as "paramsJson" from ${FACTS} and r.id = any ($3::uuid[])`',
        replace:
          '`select ${HELD}, j.params::text as "paramsJson" from ${FACTS.replace("r.worker = $2", "$2::uuid is not null")} and r.id = any ($3::uuid[])`',
      },
    ],
    caughtBy: ['S7'],
    remotes: 2,
    deck: { 'turn-late': 12 },
    mix: { slow: 80, relapse: 20 },
  },
  {
    name: 'repeats-refused',
    mistake: 'an outcome whose answer was lost is refused as stale when it is sent again',
    changes: [
      {
        file: 'controller/held.ts',
        find: 'next: written.get(id) ?? null',
        replace: 'next: null',
      },
    ],
    caughtBy: ['S8'],
    remotes: 2,
    deck: { 'turn-cut': 8 },
  },
  {
    name: 'unsettled-forgotten',
    mistake: 'a remote worker keeps no outcome of a turn that failed, so its job never ends',
    changes: [
      {
        file: 'worker/remote/remote-shard.ts',
        find: 'outbox.putBack(this.shard, batch);',
        replace: 'void batch;',
      },
    ],
    caughtBy: ['S1', 'L1'],
    remotes: 2,
    deck: { 'turn-lost': 8 },
  },
  {
    name: 'older-wait-counts',
    mistake: 'a remote worker that was full asks for no jobs until an older call has ended',
    changes: [
      {
        file: 'worker/claim/loop.ts',
        find: 'waits.delete(wait);',
        replace: 'if (room === 0) waits.clear(); else if (waits.size === 1) waits.delete(wait);',
      },
    ],
    caughtBy: ['L12'],
    remotes: 2,
    // These disturb no worker, and the run lasts until the last of them.
    deck: { 'scheduler-kill': 8 },
    mix: { slow: 60 },
  },
];
