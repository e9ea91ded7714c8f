import { invariant, ms } from '../../invariant.ts';
import { CLOCK_SLACK, type Execution, type JobRecord } from '../../job-records.ts';

export const sleeps = invariant(
  'S35',
  "A job that sleeps goes on when that time is over by the database's clock: not before, and it does not sleep again.",
  function* (facts) {
    for (const record of facts.records.values()) yield* wrongSleeps(record);
  },
);

/** Each job of a run sleeps at most once. */
function* wrongSleeps({ id, executions }: JobRecord): Iterable<{ job: string; text: string }> {
  const begun = executions.flatMap(({ effects }) => effects.find((e) => e.what === 'sleep') ?? []);
  const [first] = begun;
  if (!first) return;
  const lengthMs = (first.delayMs ?? 0) * 1_000;
  for (const { effects } of executions) {
    const woke = effects.find(({ what }) => what === 'woke');
    const early = woke ? first.at + lengthMs - woke.at : 0;
    if (early > 0) yield { job: id, text: `went on ${ms(early)} before its sleep was over` };
  }
  const [sleep, again] = executions.filter(fellAsleep);
  if (again) yield { job: id, text: 'slept again after its sleep' };
  const end = sleep?.claim?.end;
  const late = (end?.to?.runAt ?? 0) - (end?.at ?? 0) - lengthMs;
  if (late > CLOCK_SLACK) yield { job: id, text: `slept ${ms(late)} too long` };
}

/** Its attempt ended by its sleep. */
export function fellAsleep({ effects, claim }: Execution): boolean {
  const did = (wanted: string) => effects.some(({ what }) => what === wanted);
  return did('sleep') && !did('woke') && claim?.end?.to?.state === 'scheduled';
}
