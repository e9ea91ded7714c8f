import { invariant, ms } from '../../invariant.ts';
import { CLOCK_SLACK, type JobRecord } from '../../job-records.ts';
import { askedBy } from '../../operations.ts';

/** Measured twice: by the time that the database stored, and by the clock of the client. */
export const notEarly = invariant(
  'S13',
  'No job starts before its time, whatever the clocks of the servers say.',
  function* (facts) {
    const invokedAt = new Map<string, number>();
    for (const { call, invokedAt: at } of facts.operations) {
      for (const { paramsSha } of askedBy(call)) {
        invokedAt.set(paramsSha, Math.min(at, invokedAt.get(paramsSha) ?? at));
      }
    }
    for (const record of facts.records.values()) {
      yield* promotedEarly(record);
      yield* begunEarly(record, invokedAt.get(record.wanted?.paramsSha ?? ''));
      yield* wokenEarly(record);
    }
  },
);

type Found = Iterable<{ job: string; text: string }>;

function* promotedEarly({ id, moves }: JobRecord): Found {
  for (const { from, to, at } of moves) {
    if (!from || to?.state !== 'queued') continue;
    // A release or a signal ends the wait early.
    if (from.state === 'created' || from.state === 'suspended') continue;
    const early = (from.runAt ?? 0) - at;
    if (early > CLOCK_SLACK) yield { job: id, text: `became due ${ms(early)} before its time` };
  }
}

function* begunEarly({ id, wanted, executions }: JobRecord, invokedAt: number | undefined): Found {
  const [first] = executions;
  if (!first || !wanted || invokedAt === undefined) return;
  const early = invokedAt + wanted.delayMs * 1_000 - first.startAt;
  if (early > 0) yield { job: id, text: `began ${ms(early)} before its delay was over` };
}

function* wokenEarly({ id, executions }: JobRecord): Found {
  for (const [index, { effects }] of executions.entries()) {
    const snooze = effects.find(({ what }) => what === 'snooze');
    const next = executions[index + 1];
    if (!snooze || !next) continue;
    const early = snooze.at + (snooze.delayMs ?? 0) * 1_000 - next.startAt;
    if (early > 0) yield { job: id, text: `woke ${ms(early)} before its snooze was over` };
  }
}
