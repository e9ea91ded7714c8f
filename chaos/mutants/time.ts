import type { Mutant } from './mutant.ts';

/** Mistakes with clocks and with hints. */
export const TIME_MUTANTS: readonly Mutant[] = [
  {
    name: 'notify-only',
    mistake: 'work is looked for only when a NOTIFY says so (graphile-worker#541, bullmq#4729)',
    changes: [
      {
        file: 'worker/claim/poll-interval.ts',
        find: 'this.#dueAtMs = nowMs + Math.max(this.#usualMs, this.#backOff.after(found));',
        replace: 'this.#dueAtMs = Number.POSITIVE_INFINITY; void found;',
      },
    ],
    caughtBy: ['L3', 'L1', 'S1'],
    liveness: true,
    deck: { 'listen-blackhole': 3 },
  },
  {
    name: 'stall-unnoticed',
    mistake: 'a silent job is left to its time limit, because its worker is alive',
    changes: [
      {
        file: 'worker/attempt/execution.ts',
        find: "else this.askToStop('stall');",
        replace: 'else return;',
      },
    ],
    caughtBy: ['L13'],
    deck: { 'scheduler-kill': 1 },
    mix: { stall: 10 },
  },
  {
    name: 'heartbeats-ignored',
    mistake: 'heartbeats of a job are not taken as signs of life, so it is ended while it works',
    changes: [
      {
        file: 'worker/attempt/execution.ts',
        find: "this.#silence?.sign();\n    if (message.type === 'outcome')",
        replace: "if (message.type === 'outcome')",
      },
    ],
    caughtBy: ['X1'],
    deck: { 'scheduler-kill': 1 },
    mix: { stall: 10 },
  },
  {
    name: 'early-promotion',
    mistake: 'a job becomes due a second before its time',
    changes: [
      {
        file: 'store/claim/promote.ts',
        find: 'and w.run_at <= (select at from clock)\n    order by w.run_at limit $2 - $2 / 4',
        replace:
          "and w.run_at <= (select at from clock) + interval '1 s'\n" +
          '    order by w.run_at limit $2 - $2 / 4',
      },
    ],
    caughtBy: ['S13'],
    deck: { 'scheduler-kill': 1 },
  },
  {
    name: 'clock-of-the-server',
    mistake: "when a job is due is decided by the API's clock, not by the database's",
    changes: [
      {
        file: 'store/enqueue/enqueue-entry.ts',
        find: 'run_at: job.runAt,',
        replace: 'run_at: job.runAt ?? (job.delayMs ? new Date(Date.now() + job.delayMs) : null),',
      },
    ],
    caughtBy: ['S13'],
    deck: { 'clock-jump': 8 },
  },
  {
    name: 'clock-of-the-worker',
    mistake: "when a sleep is over is decided by the worker's clock, not by the database's",
    changes: [
      {
        file: 'worker/runner/waits.ts',
        find: 'const storedMs = await this.#saves.own(step, () => ms);\n    const leftMs = this.#leftMs(step, storedMs);',
        replace:
          'const untilMs = await this.#saves.own(step, () => Date.now() + ms);\n    const leftMs = untilMs - Date.now();',
      },
    ],
    caughtBy: ['S35'],
    deck: { 'clock-jump': 8 },
    mix: { sleep: 40 },
  },
  {
    name: 'budget-ignored',
    mistake: 'a job is tried again although its attempts are used up',
    changes: [
      {
        file: 'core/job/lifecycle.ts',
        find: '|| job.attempts >= job.maxAttempts) {',
        replace: '|| job.attempts > job.maxAttempts) {',
      },
    ],
    caughtBy: ['S9', 'S23'],
    deck: { 'child-kill': 1 },
    // Only a job that never succeeds uses up its attempts.
    mix: { throw: 60 },
  },
];
