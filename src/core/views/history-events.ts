import { CHILDREN } from '../dependency/children.ts';
import { SLEEP } from '../dependency/waits-for.ts';
import { isTerminal, type JobError, type JobState } from '../job/job.ts';
import { comparePositions, type HistoryPosition, positionText } from './history-position.ts';
import type { RetryMode } from '../failure/retry.ts';
import { type EventType, type EventView, type HookName, HOOKS } from './history.ts';

/**
 * Builds the history of a job from its rows. Most events are not stored: queued, started and ended
 * follow from the row of the job and its attempts. Only events that the job emitted are stored.
 *
 * A reader that follows the history page by page must not miss an event that appears before its
 * cursor. So the position of an event is not a time. It is the claim, the phase within the claim,
 * and a counter within the phase; each phase ends before the next begins, because the statement
 * that opens a phase locks the row that the previous one needs (`store/attempt/events.ts`). Hooks
 * of one end run in parallel; their events are shown in a fixed order, so a finished hook waits for
 * those before it. Only a hook that still runs when its job is retried by hand comes late.
 */

/** One claim of a job, from queued to its end. The last one may be incomplete. */
export interface AttemptRecord {
  claim: number;
  /** Null when the job was not claimed. */
  attempt: number | null;
  workerId: string | null;
  queuedAt: string | null;
  startedAt: string | null;
  cancelRequestedAt: string | null;
  /** The actor; null when the request had none. */
  cancelRequestedBy: string | null;
  finishedAt: string | null;
  /** The state that its end moved the job to. */
  next: JobState | null;
  runAt: string | null;
  /** The signal that it waits for, if it ended as suspended; `SLEEP`, if it sleeps. */
  waitsFor: string | null;
  error: JobError | null;
  /** Set when the job was retried by hand after this end. */
  retried: ManualRetry | null;
  /** Beyond the page: read without its contents. */
  beyond?: boolean;
}

/** A retry by hand, stored with the end that it undid. */
export interface ManualRetry {
  at: string;
  mode: RetryMode;
  /** When it runs; null means at once. */
  runAt?: string | null;
  /** The version of the attempts until then, if the retry changed it. */
  versionBefore?: number;
  /** The previous params, if the retry replaced them. */
  paramsBefore?: unknown;
}

/** An event that the job emitted while it ran. */
export interface EmittedEvent {
  claim: number;
  n: number;
  attempt: number;
  type: EventType;
  /** Written after a cancel was requested. */
  cancelling: boolean;
  at: string;
  payload: unknown;
  /** As in `AttemptRecord`. */
  beyond?: boolean;
}

/** A hook of the job, which is a job of its own. */
export interface HookJob {
  jobId: string;
  hook: HookName;
  /** Equals the `finishedAt` of the end that made it. */
  madeAt: string;
  /** Null until it has ended, like `finishedAt`. */
  status: JobState | null;
  finishedAt: string | null;
  error: JobError | null;
  /** The first events that its code emitted. */
  emitted: readonly { at: string; payload: { type: string; payload: unknown } }[];
}

/** The most events of a hook in the history of its job; the history of the hook has all. */
export const HOOK_EVENTS_MAX = 100;
/** The number of positions of one hook; the last one is its end. */
const HOOK_POSITIONS = 1_000;

/** A signal that the job has, or the reason why one was discarded. */
export interface SignalRecord {
  /** The last claim before it. */
  claim: number;
  signal: string;
  at: string;
  /** The actor; null when it is not known. */
  by: string | null;
  /** Why the payload was discarded; null when it was not. */
  rejected: unknown;
}

export interface HistoryRows {
  createdAt: string;
  attempts: readonly AttemptRecord[];
  emitted: readonly EmittedEvent[];
  hooks: readonly HookJob[];
  signals?: readonly SignalRecord[];
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
  signalled: 9,
} as const;
const CREATED: HistoryPosition = [0, 0, 0];

/** At most `limit` events after that position, and whether these rows have more. */
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

/** The first position whose contents were not read; null when all were. */
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
 * Where to continue with emitted events: after this number of this claim, and when `stopping`, only
 * with events emitted after the cancel request. The numbers run through both phases.
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

function* eventsOf(rows: HistoryRows): Generator<PlacedEvent> {
  const { createdAt, attempts, emitted, hooks } = rows;
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
  yield* signalEvents(rows);
}

/**
 * A signal is shown after the claim before it, once nothing more of that claim can follow. Only one
 * that arrives before the first claim, or between two, may be behind the cursor of a reader.
 */
function* signalEvents({ attempts, signals = [] }: HistoryRows): Generator<PlacedEvent> {
  const counts = new Map<number, number>();
  for (const { claim, signal, at, by, rejected } of signals) {
    const n = counts.get(claim) ?? 0;
    counts.set(claim, n + 1);
    const before = attempts.find((attempt) => attempt.claim === claim);
    const left = before?.next && (!isTerminal(before.next) || before.retried !== null);
    if (claim !== 0 && !left) continue;
    const position: HistoryPosition = [claim, PHASE.signalled, n];
    const type = rejected === null ? 'signal' : 'signal_rejected';
    const payload = rejected === null ? { signal, by } : { signal, message: rejected };
    yield { position, type, at, attempt: null, payload };
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

/** How the claim ended, and the state that followed. */
function* ending({ finishedAt: at, ...record }: AttemptRecord): Generator<PlacedEvent> {
  if (at === null || record.next === null) return;
  const { claim, attempt, workerId, next, runAt, waitsFor, error } = record;
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
  if (next === 'scheduled') {
    yield left('snoozed', { runAt: iso(runAt), ...(waitsFor === SLEEP && { sleep: true }) });
  }
  if (next === 'suspended') {
    const wait =
      waitsFor === CHILDREN ? { jobs: 'children' } : { signal: waitsFor, runAt: iso(runAt) };
    yield left('suspended', wait);
  }
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
