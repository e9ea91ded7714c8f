import type { Mutant } from './mutant.ts';

/** Mistakes in noticing that a worker is gone, or that one is gone oneself. */
export const LEASE_MUTANTS: readonly Mutant[] = [
  {
    name: 'no-reaper',
    mistake: 'lost workers are only looked for at the start of a server (sidekiq#5540)',
    changes: [
      {
        file: 'scheduler/reaper.ts',
        find: 'return full ? 0 : restMs;',
        replace: 'return full ? 0 : 3_600_000;',
      },
      {
        file: 'scheduler/lookout.ts',
        find: 'if (work.lost) reaping.wake(shard);',
        replace: '',
      },
    ],
    caughtBy: ['S1', 'L1', 'L2'],
    // A restarted worker looks once: the last killed one must hold a job.
    deck: { 'worker-kill': 5 },
    mix: { slow: 60 },
  },
  {
    name: 'hasty-reaper',
    mistake: 'a worker is declared dead although its lease holds (sidekiq#4611)',
    changes: [
      {
        file: 'store/workers/workers.ts',
        find: 'dead_at is null and lease_until < clock_timestamp()',
        replace: "dead_at is null and lease_until < clock_timestamp() + interval '2.2 s'",
      },
    ],
    caughtBy: ['S6', 'X1'],
    deck: { 'link-delay': 2 },
  },
  {
    name: 'no-watchdog',
    mistake: 'no watchdog ends the jobs of a frozen or killed worker',
    changes: [
      {
        file: 'worker/watchdog.ts',
        find: 'this.#child?.stdin?.write(`${line}\\n`);',
        replace: 'void line;',
      },
    ],
    caughtBy: ['S10', 'S11'],
    deck: { 'worker-freeze': 6 },
    mix: { slow: 25 },
  },
  {
    name: 'no-self-fence',
    mistake: 'a worker that cannot renew its lease goes on (solid_queue#751)',
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
    deck: { 'link-blackhole': 6 },
  },
  {
    name: 'former-lease-kept',
    mistake: 'a worker that is back under a new id lets its former lease run out',
    changes: [
      {
        file: 'worker/heartbeat.ts',
        find: 'this.#leave(instance);\n      this.#poller.wake();',
        replace: 'this.#poller.wake();',
      },
    ],
    caughtBy: ['L2'],
    deck: { 'link-blackhole': 4 },
    mix: { slow: 25 },
    redis: true,
  },
  {
    name: 'attempts-charged-late',
    mistake:
      'a lost lease costs no attempt, so a job that kills its worker never ends (good_job#922)',
    changes: [
      {
        file: 'core/job/lifecycle.ts',
        find: "return moveTo(job.attempts < job.maxAttempts ? 'queued' : 'failed', { error });",
        replace:
          "return moveTo(job.attempts < job.maxAttempts ? 'queued' : 'failed', { error, attemptRefunded: true });",
      },
    ],
    caughtBy: ['S9'],
    deck: { 'worker-kill': 2, 'link-blackhole': 2 },
  },
  {
    name: 'cancel-by-notify-only',
    mistake: 'a cancel whose NOTIFY is lost never arrives (river#1358)',
    changes: [
      {
        file: 'worker/reconciler.ts',
        find: "} else if (row.state === 'cancelling' && execution.state !== 'cancelling') {",
        replace: '} else if (false) {',
      },
    ],
    caughtBy: ['L8'],
    liveness: true,
    deck: { 'listen-blackhole': 3 },
  },
];
