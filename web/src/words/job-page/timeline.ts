import { isTerminal, type JobView } from '../../../../src/core/job/job.ts';
import { isReservedStep } from '../../../../src/core/job/signal.ts';
import { duration } from '../../../../src/core/values/duration.ts';
import type { AttemptView, EventView, StepView } from '../../../../src/core/views/history.ts';
import { eventTitle } from '../jobs/event-words.ts';
import { momentWithMs, wholeSeconds } from '../moment.ts';
import { type DrawnStep, unstoredSteps } from './unstored-steps.ts';

/** One thing on the timeline of a job: a wait, an attempt, a step, or an event without length. */
export interface Entry {
  key: string;
  kind: 'wait' | 'attempt' | 'step' | 'event';
  tone: 'queued' | 'later' | 'good' | 'failed' | 'stopped' | 'running' | 'step' | 'event';
  title: string;
  detail: string;
  fromMs: number;
  toMs: number;
  /** It goes on; for a wait, `toMs` may be in the future. */
  open: boolean;
}

export interface Row {
  label: string;
  /** A row below the row of its attempt. */
  inner: boolean;
  entries: Entry[];
}

export interface Timeline {
  fromMs: number;
  toMs: number;
  /** Null for a job that has ended. */
  nowMs: number | null;
  rows: Row[];
}

export interface History {
  attempts: readonly AttemptView[];
  steps: readonly StepView[];
  events: readonly EventView[];
}

const ATTEMPT_ROWS_MAX = 12;
const STEP_ROWS_MAX = 30;

export function timelineOf(job: JobView, given: History, now: Date): Timeline {
  // Sleeps and signals are stored as steps, too; they are drawn as waits.
  const steps = given.steps.filter(({ name }) => !isReservedStep(name));
  const history = { ...given, steps };
  const nowMs = isTerminal(job.status) ? null : now.getTime();
  const attempts = history.attempts.map((attempt) => attemptEntry(attempt, now));
  const waits = [...waitsOf(job, history.events, now), ...gapsOf(history.events, attempts)];
  const drawnSteps = [
    ...steps.map((step) => ({ claim: step.claim, entry: stepEntry(step, history.attempts) })),
    ...unstoredSteps(history, now),
  ];
  const events = marksOf(history.events);
  const all = [...waits, ...attempts, ...drawnSteps.map(({ entry }) => entry), ...events];
  const fromMs = Math.min(Date.parse(job.createdAt), ...all.map((entry) => entry.fromMs));
  const toMs = Math.max(fromMs + 1, nowMs ?? 0, ...all.map((entry) => entry.toMs));
  const rows = [
    row('Waiting', waits),
    ...attemptRows(history, attempts, drawnSteps),
    row('Events', events),
  ].filter(({ entries }) => entries.length > 0);
  return { fromMs, toMs, nowMs, rows };
}

/** Everything in the order of time, for the list. */
export function entriesOf({ rows }: Timeline): Entry[] {
  return rows.flatMap(({ entries }) => entries).sort((a, b) => a.fromMs - b.fromMs);
}

const row = (label: string, entries: Entry[], inner = false): Row => ({ label, inner, entries });

/** Each attempt has a row, and each of its steps, unless they are many. */
function attemptRows({ attempts }: History, drawn: Entry[], drawnSteps: DrawnStep[]): Row[] {
  const apart = attempts.length <= ATTEMPT_ROWS_MAX;
  const rows = apart
    ? drawn.map((entry) => [row(entry.title, [entry])])
    : [[row('Attempts', drawn)]];
  for (const [index, { claim }] of attempts.entries()) {
    const mine = drawnSteps.flatMap((step) => (step.claim === claim ? step.entry : []));
    const below =
      drawnSteps.length <= STEP_ROWS_MAX
        ? mine.map((entry) => row(entry.title, [entry], true))
        : packed(mine).map((entries, track) => row(track === 0 ? 'Steps' : '', entries, true));
    rows[apart ? index : 0]?.push(...below);
  }
  return rows.flat();
}

/** As few rows as possible in which no two entries overlap. */
export function packed(entries: readonly Entry[]): Entry[][] {
  const tracks: Entry[][] = [];
  for (const entry of [...entries].sort((a, b) => a.fromMs - b.fromMs)) {
    const track = tracks.find((one) => (one.at(-1)?.toMs ?? 0) <= entry.fromMs);
    if (track) track.push(entry);
    else tracks.push([entry]);
  }
  return tracks;
}

function attemptEntry(attempt: AttemptView, now: Date): Entry {
  const { claim, number, startedAt, finishedAt, error } = attempt;
  const code = error === null ? '' : `: ${error.code}`;
  return {
    key: `attempt ${claim}`,
    kind: 'attempt',
    tone: toneOf(attempt),
    title: `Attempt ${number}`,
    detail: `${outcomeWords(attempt)}${code}`,
    fromMs: Date.parse(startedAt),
    toMs: finishedAt === null ? now.getTime() : Date.parse(finishedAt),
    open: finishedAt === null,
  };
}

function toneOf({ outcome, error }: AttemptView): Entry['tone'] {
  if (outcome === null) return 'running';
  if (error !== null) return 'failed';
  return outcome === 'succeeded' ? 'good' : 'stopped';
}

function stepEntry(step: StepView, attempts: readonly AttemptView[]): Entry {
  const attempt = attempts.find(({ claim }) => claim === step.claim);
  const toMs = Date.parse(step.at);
  const startMs = attempt ? Date.parse(attempt.startedAt) : Number.NEGATIVE_INFINITY;
  return {
    key: `step ${step.name}`,
    kind: 'step',
    tone: 'step',
    title: step.name,
    detail: attempt ? `Step of attempt ${attempt.number}` : 'Step',
    fromMs: Math.max(startMs, toMs - (step.durationMs ?? 0)),
    toMs,
    open: false,
  };
}

const SHOWN_AS_MARKS = ['custom', 'cancel_requested', 'lease_lost', 'interrupted', 'hook'];

/** Events that no bar shows. */
function marksOf(events: readonly EventView[]): Entry[] {
  const shown = events.filter(
    ({ type, attempt }) =>
      SHOWN_AS_MARKS.includes(type) || (type === 'retry_scheduled' && attempt === null),
  );
  return shown.map((event) => ({
    key: `event ${event.id}`,
    kind: 'event',
    tone: 'event',
    title: eventTitle(event),
    detail: event.attempt === null ? 'Event' : `Event of attempt ${event.attempt}`,
    fromMs: Date.parse(event.at),
    toMs: Date.parse(event.at),
    open: false,
  }));
}

type Wait = Pick<Entry, 'title' | 'tone' | 'fromMs'>;

/** From each event that begins a wait to the event that ends it. */
function waitsOf(job: JobView, events: readonly EventView[], now: Date): Entry[] {
  const waits: Entry[] = [];
  let current: Wait | null = null;
  const end = (toMs: number, open: boolean) => {
    if (current && toMs > current.fromMs) {
      const leftMs = toMs - now.getTime();
      const detail = open && leftMs > 0 ? `Ends in ${wholeSeconds(leftMs)}` : 'Wait';
      waits.push({ ...current, key: `wait ${waits.length}`, kind: 'wait', detail, toMs, open });
    }
    current = null;
  };
  for (const event of events) {
    if (!ENDS_WAIT.has(event.type)) continue;
    const fromMs = Date.parse(event.at);
    end(fromMs, false);
    const begins = waitAfter(event, job);
    current = begins && { ...begins, fromMs };
  }
  const dueMs = job.runAt === null ? 0 : Date.parse(job.runAt);
  const isTimed = job.status === 'scheduled' || job.status === 'retrying';
  if (!isTerminal(job.status)) end(isTimed ? Math.max(dueMs, now.getTime()) : now.getTime(), true);
  return waits;
}

/** A long history may lack its later events. Then the time between two attempts is one wait. */
function gapsOf(events: readonly EventView[], attempts: readonly Entry[]): Entry[] {
  const knownMs = Math.max(...events.map(({ at }) => Date.parse(at)));
  return attempts.slice(1).flatMap((next, index): Entry[] => {
    const fromMs = attempts[index]?.toMs ?? next.fromMs;
    if (next.fromMs <= knownMs || next.fromMs <= fromMs) return [];
    const words = {
      title: 'Between attempts',
      detail: 'Wait',
      tone: 'later',
      kind: 'wait',
    } as const;
    return [{ ...words, key: `gap ${next.key}`, fromMs, toMs: next.fromMs, open: false }];
  });
}

/** All types that change the state of the job. */
const ENDS_WAIT: ReadonlySet<string> = new Set([
  'created',
  'queued',
  'started',
  'retry_scheduled',
  'lease_lost',
  'interrupted',
  'snoozed',
  'suspended',
  'succeeded',
  'failed',
  'cancelled',
]);

function waitAfter({ type, payload }: EventView, { status }: JobView): Omit<Wait, 'fromMs'> | null {
  if (type === 'queued') return { title: 'Queued', tone: 'queued' };
  if (type === 'retry_scheduled') return { title: 'Waiting for the retry', tone: 'later' };
  if (type === 'snoozed') {
    const { sleep } = (payload ?? {}) as { sleep?: boolean };
    return { title: sleep ? 'Sleeping (ctx.sleep)' : 'Snoozed', tone: 'later' };
  }
  if (type === 'suspended') {
    const { jobs } = (payload ?? {}) as { jobs?: string };
    return { title: `Waiting for ${jobs ?? 'a signal'}`, tone: 'later' };
  }
  if (type !== 'created') return null;
  const title = status === 'created' ? 'Held' : 'Held or scheduled';
  return { title: status === 'scheduled' ? 'Scheduled' : title, tone: 'later' };
}

export function outcomeWords({ outcome }: Pick<AttemptView, 'outcome'>): string {
  if (outcome === null) return 'Running';
  if (outcome === 'queued') return 'Requeued';
  if (outcome === 'scheduled') return 'Snoozed';
  if (outcome === 'retrying') return 'Failed, retried';
  if (outcome === 'suspended') return 'Suspended';
  return `${outcome[0]?.toUpperCase() ?? ''}${outcome.slice(1)}`;
}

export function lengthWords({ kind, fromMs, toMs, open }: Entry): string {
  if (kind === 'event') return '–';
  return open ? wholeSeconds(toMs - fromMs) : duration(toMs - fromMs);
}

/** "Attempt 1: 12 ms, from … to …. Succeeded." */
export function entryWords(entry: Entry): string {
  const [from, to] = [entry.fromMs, entry.toMs].map((at) =>
    momentWithMs(new Date(at).toISOString()),
  );
  const { kind, title, detail, open } = entry;
  if (kind === 'event') return `${title} at ${from}. ${detail}.`;
  const until = open ? 'not ended' : `to ${to}`;
  return `${title}: ${lengthWords(entry)}, from ${from}, ${until}. ${detail}.`;
}

/** How long the job took in all. An attempt has its own duration, which is shorter. */
export function totalWords({ fromMs, toMs, nowMs }: Timeline): string {
  return nowMs === null
    ? `${duration(toMs - fromMs)} from creation to end`
    : `${wholeSeconds(nowMs - fromMs)} since creation`;
}
