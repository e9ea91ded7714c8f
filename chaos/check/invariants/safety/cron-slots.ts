import type { MadeSchedule, SlotRow } from '../../../history/history.ts';
import type { Facts } from '../../facts.ts';
import { invariant } from '../../invariant.ts';

/** Its last slot may not be looked after yet when a schedule is paused. */
const LATE_MS = 5_000;

/** By instant and by id, never by count: a doubled slot must not make up for a lost one. */
export const cronSlots = invariant(
  'S15',
  'Each slot of a schedule ends once: it fired, with one job, or it says why not.',
  function* (facts) {
    for (const schedule of facts.history.schedules) {
      const own = facts.history.slots.filter((slot) => slot.schedule === schedule.id);
      yield* gaps(schedule, own);
    }
    yield* jobs(facts);
  },
);

function* gaps({ id, everyMs, fromMs, untilMs }: MadeSchedule, slots: readonly SlotRow[]) {
  const covered = new Map<number, number>();
  for (const { slotMs, throughMs } of slots) {
    for (let atMs = slotMs; atMs <= (throughMs ?? slotMs); atMs += everyMs) {
      covered.set(atMs, (covered.get(atMs) ?? 0) + 1);
    }
  }
  const lastMs = Math.max(...covered.keys());
  for (let atMs = Math.ceil((fromMs + 1) / everyMs) * everyMs; atMs <= lastMs; atMs += everyMs) {
    const times = covered.get(atMs) ?? 0;
    if (times !== 1) yield { text: `slot ${nameOf(id, atMs)} has ${times} rows` };
  }
  if (lastMs < untilMs - LATE_MS) {
    yield { text: `schedule ${id} did nothing after ${nameOf('', lastMs)}` };
  }
}

function* jobs({ history, records }: Facts) {
  const fired = new Map(history.slots.flatMap((slot) => (slot.job ? [[slot.job, slot]] : [])));
  for (const { schedule, slotMs, job } of history.slots) {
    if (job !== null && !records.get(job)?.final) {
      yield { job, text: `is the job of slot ${nameOf(schedule, slotMs)}, and does not exist` };
    }
  }
  for (const { job, schedule, scheduledForMs } of history.final) {
    const slot = fired.get(job);
    if (schedule === null) continue;
    if (slot?.schedule !== schedule || slot.slotMs !== scheduledForMs) {
      yield {
        job,
        text: `was made for slot ${nameOf(schedule, scheduledForMs ?? 0)}, unknown there`,
      };
    }
  }
}

function nameOf(schedule: string, atMs: number): string {
  const at = Number.isFinite(atMs) ? new Date(atMs).toISOString() : 'its beginning';
  return `${schedule} ${at}`.trim();
}
