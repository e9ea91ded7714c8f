import { isTerminal, type JobError, type JobState } from '../job/job.ts';
import { comparePositions, type HistoryPosition, positionText } from './history-position.ts';
import type { RetryMode } from '../failure/retry.ts';
import { type EventType, type EventView, type HookName, HOOKS } from './history.ts';

/**
 * The history of a job, told from its rows. Most of what happens to a job is stored nowhere as an
 * event: that it was queued, started and ended is known from the row that moves and from its
 * attempts. Only what the job itself said is added to that.
 *
 * The danger is a reader that follows the history live, from page to page: an event that appears
 * before the place it has reached is never seen. So the place of an event is not a time. It is the
 * claim, the phase within the claim, and a counter within the phase; and each phase is over before
 * the next one can begin, because whatever opens a phase locks the row that the one before needs
 * (`store/attempt/events.ts`). Hooks of one end run side by side; they are told in their order, with what they
 * said, so one that is over waits here for those before it. Only a hook that is still under way when its job is retried
 * by hand comes late: who follows the job then is already in its next life.
 */

/** One claim of a job, from the queue to its end. The last one may have come only so far. */
export interface AttemptRecord {
  claim: number;
  /** Null when nobody has claimed it yet, or ever. */
  attempt: number | null;
  workerId: string | null;
  queuedAt: string | null;
  startedAt: string | null;
  cancelRequestedAt: string | null;
  /** The actor; null when no person asked. */
  cancelRequestedBy: string | null;
  finishedAt: string | null;
  /** The state that its end brought the job into. */
  next: JobState | null;
  runAt: string | null;
  error: JobError | null;
  /** That its end was not the end: somebody retried the job by hand. */
  retried: ManualRetry | null;
  /** It is beyond what one page may hold, and was read without its contents. */
  beyond?: boolean;
}

/** A retry by hand, as it is kept with the end that it undid. */
export interface ManualRetry {
  at: string;
  mode: RetryMode;
  /** When it is to run, if that is not at once. */
  runAt?: string | null;
  /** What its params were, if it got others. */
  paramsBefore?: unknown;
}

/** What the job said while it ran. */
export interface EmittedEvent {
  claim: number;
  n: number;
  attempt: number;
  type: EventType;
  /** Written after somebody had asked the job to stop. */
  cancelling: boolean;
  at: string;
  payload: unknown;
  /** As of a attempt. */
  beyond?: boolean;
}

/** A hook of the job: a job of its own. */
export interface HookJob {
  jobId: string;
  hook: HookName;
  /** To the letter the `finishedAt` of the end that made it. */
  madeAt: string;
  /** Null, like the time, until it has ended. */
  status: JobState | null;
  finishedAt: string | null;
  error: JobError | null;
  /** What its code emitted as events, the first of them. */
  emitted: readonly { at: string; payload: { type: string; payload: unknown } }[];
}

/** So many events of a hook are told in the history of its job; all of them are in its own. */
export const HOOK_EVENTS_MAX = 100;
/** The places of one hook, of which the last is its end. */
const HOOK_POSITIONS = 1_000;

export interface HistoryRows {
  createdAt: string;
  attempts: readonly AttemptRecord[];
  emitted: readonly EmittedEvent[];
  hooks: readonly HookJob[];
}

const PHASE = {
  queued: 0,
  started: 1,
  emitted: 2,
  cancelRequested: 3,
  emittedStopping: 4,
  left: 5,
  ended: 6,
  hooks: 7,
  retried: 8,
} as const;
const CREATED: HistoryPosition = [0, 0, 0];

/** At most so many events after that place, and whether there are more among these rows. */
export function buildHistory(
  rows: HistoryRows,
  after: HistoryPosition | null,
  limit: number,
): { events: EventView[]; more: boolean } {
  const placed = [...eventsOf(rows)]
    .filter(({ position }) => after === null || comparePositions(position, after) > 0)
    .sort((a, b) => comparePositions(a.position, b.position));
  const end = endOf(rows);
  const within =
    end === null ? placed : placed.filter(({ position }) => comparePositions(position, end) < 0);
  const events = within.slice(0, limit).map(toView);
  return { events, more: end !== null || placed.length > limit };
}

/** The first place whose contents were not read; null when all were. */
function endOf({ attempts, emitted }: HistoryRows): HistoryPosition | null {
  const positions = [
    ...attempts.filter(({ beyond }) => beyond).map(({ claim }): HistoryPosition => [claim, 0, 0]),
    ...emitted.filter(({ beyond }) => beyond).map(positionOfEmitted),
  ];
  return positions.sort(comparePositions)[0] ?? null;
}

function positionOfEmitted({ claim, n, cancelling }: EmittedEvent): HistoryPosition {
  return [claim, cancelling ? PHASE.emittedStopping : PHASE.emitted, n];
}

/**
 * Where to go on with what the job said: after that number of that claim, and when `stopping`, only
 * with what it said there after it was asked to stop. The numbers run through both phases.
 */
export function emittedAfter(after: HistoryPosition | null): {
  claim: number;
  n: number;
  stopping: boolean;
} {
  const [claim, phase, n] = after ?? CREATED;
  if (phase > PHASE.emittedStopping) return { claim: claim + 1, n: -1, stopping: false };
  const within = phase === PHASE.emitted || phase === PHASE.emittedStopping;
  return { claim, n: within ? n : -1, stopping: phase === PHASE.cancelRequested };
}

interface PlacedEvent {
  position: HistoryPosition;
  type: EventType;
  at: string;
  attempt: number | null;
  payload: unknown;
}

function toView({ position, type, at, attempt, payload }: PlacedEvent): EventView {
  return { id: positionText(position), type, at: new Date(at).toISOString(), attempt, payload };
}

function* eventsOf({ createdAt, attempts, emitted, hooks }: HistoryRows): Generator<PlacedEvent> {
  yield { position: CREATED, type: 'created', at: createdAt, attempt: null, payload: null };
  for (const one of emitted) {
    const { type, at, attempt, payload } = one;
    yield { position: positionOfEmitted(one), type, at, attempt, payload };
  }
  for (const attempt of attempts) {
    yield* beginning(attempt);
    yield* ending(attempt);
    if (isEnd(attempt)) yield* hookEvents(attempt, hooks);
    if (attempt.retried) yield manualRetry(attempt.claim, attempt.retried);
  }
}

function manualRetry(claim: number, { at, mode, runAt, ...more }: ManualRetry): PlacedEvent {
  const payload = { mode, runAt: iso(runAt ?? null), ...more };
  return {
    position: [claim, PHASE.retried, 0],
    type: 'retry_scheduled',
    at,
    attempt: null,
    payload,
  };
}

function* beginning(record: AttemptRecord): Generator<PlacedEvent> {
  const { claim, attempt, queuedAt, startedAt, workerId } = record;
  const { cancelRequestedAt, cancelRequestedBy } = record;
  if (queuedAt !== null) {
    const position: HistoryPosition = [claim, PHASE.queued, 0];
    yield { position, type: 'queued', at: queuedAt, attempt: null, payload: null };
  }
  if (startedAt !== null) {
    const position: HistoryPosition = [claim, PHASE.started, 0];
    yield { position, type: 'started', at: startedAt, attempt, payload: { workerId } };
  }
  if (cancelRequestedAt !== null) {
    const position: HistoryPosition = [claim, PHASE.cancelRequested, 0];
    const payload = cancelRequestedBy === null ? null : { by: cancelRequestedBy };
    yield { position, type: 'cancel_requested', at: cancelRequestedAt, attempt, payload };
  }
}

/** How the claim was left, where that is a thing of its own, and where the job went from there. */
function* ending({ finishedAt: at, ...record }: AttemptRecord): Generator<PlacedEvent> {
  if (at === null || record.next === null) return;
  const { claim, attempt, workerId, next, runAt, error } = record;
  const message = error?.message ?? null;
  const left = (type: EventType, payload: unknown): PlacedEvent => {
    return { position: [claim, PHASE.left, 0], type, at, attempt, payload };
  };
  const ended = (type: EventType, payload: unknown): PlacedEvent => {
    return { position: [claim, PHASE.ended, 0], type, at, attempt, payload };
  };
  if (next === 'queued' || next === 'failed') {
    if (error?.code === 'LEASE_EXPIRED') yield left('lease_lost', { workerId, message });
    if (error?.code === 'INTERRUPTED') yield left('interrupted', { message });
  }
  if (next === 'scheduled') yield left('snoozed', { runAt: iso(runAt) });
  if (next === 'retrying') yield left('retry_scheduled', { error, runAt: iso(runAt) });
  if (next === 'succeeded' || next === 'cancelled') yield ended(next, null);
  if (next === 'failed') yield ended(next, { error });
}

function isEnd({ next }: AttemptRecord): boolean {
  return next !== null && isTerminal(next);
}

function* hookEvents(
  { claim, finishedAt }: AttemptRecord,
  hooks: readonly HookJob[],
): Generator<PlacedEvent> {
  const mine = hooks.filter(({ madeAt }) => madeAt === finishedAt);
  for (const [n, name] of HOOKS.entries()) {
    const job = mine.find(({ hook }) => hook === name);
    if (!job) continue;
    const { jobId, hook, status, finishedAt: at, error, emitted } = job;
    if (status === null || at === null) return;
    const positionOf = (k: number): HistoryPosition => [claim, PHASE.hooks, n * HOOK_POSITIONS + k];
    for (const [k, { at: emittedAt, payload }] of emitted.entries()) {
      const position = positionOf(k);
      yield {
        position,
        type: 'custom',
        at: emittedAt,
        attempt: null,
        payload: { hook, ...payload },
      };
    }
    const payload = { hook, status, jobId, ...(error && { error }) };
    const position = positionOf(HOOK_POSITIONS - 1);
    yield { position, type: 'hook', at, attempt: null, payload };
  }
}

function iso(time: string | null): string | null {
  return time === null ? null : new Date(time).toISOString();
}
