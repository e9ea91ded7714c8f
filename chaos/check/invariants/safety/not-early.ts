import { invariant, ms } from '../../invariant.ts';
import { CLOCK_SLACK, type Story } from '../../stories.ts';

/** Measured twice: by the time that the database stored, and by the clock of whoever asked. */
export const notEarly = invariant(
  'S13',
  'No job starts before its time, whatever the clocks of the servers say.',
  function* (facts) {
    const invokedAt = new Map<string, number>();
    for (const { call, invokedAt: at } of facts.enqueues) {
      for (const { paramsSha } of call.jobs) {
        invokedAt.set(paramsSha, Math.min(at, invokedAt.get(paramsSha) ?? at));
      }
    }
    for (const story of facts.stories.values()) {
      yield* promotedEarly(story);
      yield* begunEarly(story, invokedAt.get(story.wanted?.paramsSha ?? ''));
      yield* wokenEarly(story);
    }
  },
);

type Found = Iterable<{ job: string; text: string }>;

function* promotedEarly({ id, moves }: Story): Found {
  for (const { from, to, at } of moves) {
    if (!from || to?.state !== 'queued' || from.state === 'created') continue;
    const early = (from.runAt ?? 0) - at;
    if (early > CLOCK_SLACK) yield { job: id, text: `became due ${ms(early)} before its time` };
  }
}

function* begunEarly({ id, wanted, executions }: Story, invokedAt: number | undefined): Found {
  const [first] = executions;
  if (!first || !wanted || invokedAt === undefined) return;
  const early = invokedAt + wanted.delayMs * 1_000 - first.startAt;
  if (early > 0) yield { job: id, text: `began ${ms(early)} before its delay was over` };
}

function* wokenEarly({ id, executions }: Story): Found {
  for (const [index, { effects }] of executions.entries()) {
    const snooze = effects.find(({ what }) => what === 'snooze');
    const next = executions[index + 1];
    if (!snooze || !next) continue;
    const early = snooze.at + (snooze.delayMs ?? 0) * 1_000 - next.startAt;
    if (early > 0) yield { job: id, text: `woke ${ms(early)} before its snooze was over` };
  }
}
