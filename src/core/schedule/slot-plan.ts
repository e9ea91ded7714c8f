import type { DstGap, SlotPolicy, SlotReason, SlotStatus } from './schedule.ts';

/**
 * Decides what to do with due slots: the only place with the policies of schedules. Pure, like
 * `decide` for jobs. The ticker finds the due slots and records the decisions.
 *
 * The newest due slot is *on time* if it is less than a minute late. All others are *missed*: no
 * scheduler was running, and a newer slot is due already. The catch-up policy selects the missed
 * slots to fire; then the overlap policy decides whether they may fire while an earlier job has not
 * ended.
 */

/** A slot is identified by its instant and local time: several may shift onto one instant. */
export interface SlotKey {
  atMs: number;
  localMs: number;
}

export interface Slot extends SlotKey {
  /** Its local time does not exist on that day; the slot is at the instant of the clock change. */
  gap: boolean;
}

export interface DueSlots {
  /** In order; only the newest if there are very many. */
  slots: readonly Slot[];
  /** Older slots that are not listed one by one. */
  earlier: { first: SlotKey; throughMs: number } | null;
  /** A slot that waits for an earlier job to end (`queue-one`). */
  held: SlotKey | null;
  /** Whether an earlier job of the schedule has not ended. */
  active: boolean;
  nowMs: number;
}

export interface SlotDecision {
  slot: SlotKey;
  /** The last of the slots that this row covers. */
  throughMs: number | null;
  status: SlotStatus;
  reason: SlotReason | null;
}

export interface SlotPlan {
  decisions: SlotDecision[];
  held: SlotKey | null;
}

const LATE_MS_MAX = 60_000;

export function planSlots(policy: SlotPolicy & { dstGap: DstGap }, due: DueSlots): SlotPlan {
  const decisions: SlotDecision[] = [];
  const end = (status: SlotStatus, reason: SlotReason | null, slots: readonly SlotKey[]) =>
    decisions.push(...slots.map((slot) => ({ slot, throughMs: null, status, reason })));

  const exists = due.slots.filter(({ gap }) => !(gap && policy.dstGap === 'skip'));
  end('skipped', 'dst_gap', without(due.slots, exists));
  const apart = exists.filter((slot, index) => exists[index + 1]?.atMs !== slot.atMs);
  end('collapsed', 'dst_gap', without(exists, apart));

  const newest = apart.at(-1);
  const onTime = newest && due.nowMs - newest.atMs <= LATE_MS_MAX ? [newest] : [];
  const missed = without(apart, onTime);
  const caught = catchUp(policy, missed, onTime.length > 0, due.nowMs);
  for (const { status, reason, slots } of caught.given) end(status, reason, slots);
  if (due.earlier) decisions.unshift(earlierRow(policy, due.earlier, due.nowMs));

  const { fire, queue, left } = overlap(policy, due, [...caught.fire, ...onTime]);
  for (const slot of fire) {
    const waited = slot === due.held;
    const late = caught.fire.includes(slot);
    end('fired', waited ? 'overlap' : late ? 'caught_up' : null, [slot]);
  }
  end(policy.overlap === 'skip' ? 'skipped' : 'collapsed', 'overlap', left);
  return { decisions, held: queue };
}

interface CatchUpResult {
  fire: SlotKey[];
  given: { status: SlotStatus; reason: SlotReason; slots: readonly SlotKey[] }[];
}

/** Selects the missed slots to fire, and ends the others. */
function catchUp(
  policy: SlotPolicy,
  missed: readonly SlotKey[],
  newerFires: boolean,
  nowMs: number,
): CatchUpResult {
  const inWindow = missed.filter(({ atMs }) => nowMs - atMs <= policy.catchUpWindowMs);
  const tooOld = without(missed, inWindow);
  switch (policy.catchUp) {
    case 'none':
      return { fire: [], given: [{ status: 'skipped', reason: 'missed', slots: missed }] };
    case 'latest': {
      const fire = newerFires ? [] : inWindow.slice(-1);
      const covered = newerFires || fire.length > 0;
      const slots = without(missed, fire);
      return {
        fire,
        given: [
          covered
            ? { status: 'collapsed', reason: 'newer_slot', slots }
            : { status: 'skipped', reason: 'catch_up_window', slots },
        ],
      };
    }
    case 'all': {
      const fire = inWindow.slice(-policy.catchUpMax);
      return {
        fire,
        given: [
          { status: 'skipped', reason: 'catch_up_window', slots: tooOld },
          { status: 'skipped', reason: 'catch_up_max', slots: without(inWindow, fire) },
        ],
      };
    }
  }
}

function earlierRow(
  policy: SlotPolicy,
  { first, throughMs }: NonNullable<DueSlots['earlier']>,
  nowMs: number,
): SlotDecision {
  const reasons = {
    none: 'missed',
    latest: 'newer_slot',
    all: nowMs - throughMs > policy.catchUpWindowMs ? 'catch_up_window' : 'catch_up_max',
  } as const;
  const status = policy.catchUp === 'latest' ? 'collapsed' : 'skipped';
  return { slot: first, throughMs, status, reason: reasons[policy.catchUp] };
}

/** The slots to `fire` now, the one to `queue`, and those `left`. */
function overlap(
  policy: SlotPolicy,
  { held, active }: DueSlots,
  wanted: readonly SlotKey[],
): { fire: SlotKey[]; queue: SlotKey | null; left: SlotKey[] } {
  switch (policy.overlap) {
    case 'allow':
      return { fire: held ? [held, ...wanted] : [...wanted], queue: null, left: [] };
    case 'skip': {
      // Of several slots the newest wins. A slot held under another policy counts, too.
      const all = held ? [held, ...wanted] : [...wanted];
      const fire = active ? [] : all.slice(-1);
      return { fire, queue: null, left: without(all, fire) };
    }
    case 'queue-one': {
      const line = held ? [held, ...wanted] : [...wanted];
      const fire = active ? [] : line.splice(0, 1);
      const [queue = null, ...left] = line;
      return { fire, queue, left };
    }
  }
}

function without<T>(all: readonly T[], some: readonly unknown[]): T[] {
  const gone = new Set(some);
  return all.filter((one) => !gone.has(one));
}
