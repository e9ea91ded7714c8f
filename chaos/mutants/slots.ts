import type { Mutant } from './mutant.ts';

/** Mistakes with the slots and permits of jobs that wait, and with groups. */
export const SLOT_MUTANTS: readonly Mutant[] = [
  {
    name: 'waits-with-permit',
    mistake:
      'a job that waits for a signal keeps the permit of its key, and gets another one later',
    changes: [
      {
        file: 'store/limits/limiters.ts',
        find: "where o.next <> 'queued' or t.limiter",
        replace: "where o.next not in ('queued', 'suspended') or t.limiter",
      },
    ],
    caughtBy: ['S33', 'S1', 'L1'],
    deck: { 'worker-kill': 2 },
    mix: { ok: 20, wait: 40 },
  },
  {
    name: 'slot-freed-twice',
    mistake: 'a worker frees the slot of a job that begins to wait twice, and runs too many jobs',
    changes: [
      {
        file: 'worker/attempt/starter.ts',
        find: 'const closed = journal.close(execution);',
        replace:
          "if (ended.outcome.kind === 'suspended') onFree(execution);\n      const closed = journal.close(execution);",
      },
    ],
    caughtBy: ['S33'],
    deck: { 'worker-kill': 1 },
    mix: { ok: 20, slow: 30, wait: 60 },
  },
  {
    name: 'groups-too-large',
    mistake: 'a group starts with one job more than its size',
    changes: [
      {
        file: 'worker/attempt/gathering.ts',
        find: 'if (group.executions.length >= size)',
        replace: 'if (group.executions.length > size)',
      },
    ],
    caughtBy: ['S34'],
    deck: { 'worker-kill': 1 },
    mix: { ok: 10, grouped: 200 },
  },
  {
    name: 'outcomes-by-arrival',
    mistake: 'a worker gives the outcomes of a group to its jobs from the last to the first',
    changes: [
      {
        file: 'worker/runners/runner-channel.ts',
        find: 'const job = group.get(message.claim);',
        replace:
          "const last = [...group.keys()].at(-1) ?? 0;\n    const job = group.get(message.type === 'outcome' ? last : message.claim);",
      },
      {
        file: 'worker/runners/runner-channel.ts',
        find: 'group.delete(message.claim);',
        replace: 'group.delete(last);',
      },
    ],
    caughtBy: ['S34'],
    deck: { 'worker-kill': 1 },
    mix: { ok: 10, grouped: 200 },
  },
];
