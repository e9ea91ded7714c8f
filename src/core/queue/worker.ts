/**
 * A worker as shown by the API. A draining worker claims no more jobs; a dead one is kept as
 * history.
 */
export const WORKER_STATUSES = ['active', 'draining', 'dead'] as const;

export type WorkerStatus = (typeof WORKER_STATUSES)[number];

export interface WorkerView {
  workerId: string;
  host: string;
  pid: number;
  version: string;
  slots: number;
  /** The ids of the jobs it holds, as far as the caller may see them. */
  running: string[];
  /** The same jobs, with what tells them apart. */
  jobs: HeldJob[];
  /** How many slots are in use, by jobs of all tenants. */
  busy: number;
  heartbeatAt: string;
  leaseExpiresAt: string;
  startedAt: string;
  status: WorkerStatus;
  /** What it has loaded, like `image.resize@1`. */
  definitions: string[];
  /** Files of definitions that it could not load, each with the reason. */
  notLoaded: string[];
  /** Its lease expired without a sign-off, or its process is known to have ended without one. */
  lost: boolean;
  /** How that process ended, if its parent saw it: a signal such as `SIGKILL`, or `exit code 1`. */
  endedBy: string | null;
  /** `database`: it has a database connection; `http`: it gets its jobs from a server. */
  transport: Transport;
  /** Of a worker over HTTP: its tenant, its key, its address, and when it last asked for jobs. */
  tenant: string | null;
  keyId: string | null;
  address: string | null;
  turnAt: string | null;
}

/** A job that a worker holds. */
export interface HeldJob {
  jobId: string;
  definitionKey: string;
  definitionVersion: number;
  tenant: string;
  startedAt: string;
}

export const TRANSPORTS = ['database', 'http'] as const;
export type Transport = (typeof TRANSPORTS)[number];

/** A worker over HTTP with free slots asks for jobs at least this often. */
const TURN_MS_MAX = 60_000;

/** It sends heartbeats, has free slots, and takes no jobs: something between it and us is broken. */
export function takesNoJobs(worker: WorkerView, nowMs: number): boolean {
  const { transport, status, busy, slots, turnAt, startedAt } = worker;
  if (transport !== 'http' || status !== 'active' || busy >= slots) return false;
  return nowMs - Date.parse(turnAt ?? startedAt) > TURN_MS_MAX;
}

const SHAPE = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

export function isWorkerId(text: string): boolean {
  return SHAPE.test(text);
}

/**
 * Merges the rows of a worker, which has a row and a lease in each shard. It is alive while one
 * lease holds, since an unreachable shard does not stop the others; its lease ends with the
 * shortest one; its last heartbeat is the latest one. Live workers come first, newest first.
 */
export function mergeWorkers(rows: readonly WorkerView[]): WorkerView[] {
  const merged = new Map<string, WorkerView>();
  for (const row of rows) {
    const known = merged.get(row.workerId);
    merged.set(row.workerId, known ? both(known, row) : row);
  }
  return [...merged.values()].sort(
    (a, b) => Number(isDead(a)) - Number(isDead(b)) || (a.startedAt < b.startedAt ? 1 : -1),
  );
}

function both(one: WorkerView, other: WorkerView): WorkerView {
  if (isDead(one) && !isDead(other)) return both(other, one);
  const goneThere = isDead(other) && !isDead(one);
  return {
    ...one,
    running: [...one.running, ...other.running],
    jobs: [...one.jobs, ...other.jobs],
    busy: one.busy + other.busy,
    heartbeatAt: later(one.heartbeatAt, other.heartbeatAt),
    leaseExpiresAt: goneThere
      ? one.leaseExpiresAt
      : earlier(one.leaseExpiresAt, other.leaseExpiresAt),
    startedAt: earlier(one.startedAt, other.startedAt),
    status: goneThere ? one.status : worse(one.status, other.status),
    lost: goneThere ? one.lost : one.lost || other.lost,
    endedBy: goneThere ? null : (one.endedBy ?? other.endedBy),
    turnAt: one.turnAt ?? other.turnAt,
  };
}

/** For people: a worker that stopped in good order is not dead. */
export function statusWord({ status, lost }: Pick<WorkerView, 'status' | 'lost'>): string {
  return status === 'dead' && !lost ? 'stopped' : status;
}

const isDead = ({ status }: WorkerView) => status === 'dead';
// ISO 8601 times in UTC sort as text.
const earlier = (a: string, b: string) => (a < b ? a : b);
const later = (a: string, b: string) => (a > b ? a : b);

function worse(a: WorkerStatus, b: WorkerStatus): WorkerStatus {
  return WORKER_STATUSES.indexOf(a) > WORKER_STATUSES.indexOf(b) ? a : b;
}

/** What is known about the end of its process, for a sentence: "was killed by SIGKILL 3s ago". */
export function deathWords({ endedBy }: Pick<WorkerView, 'endedBy'>, ago: string): string | null {
  if (endedBy === null) return null;
  return endedBy.startsWith('SIG')
    ? `was killed by ${endedBy} ${ago} ago`
    : `exited ${ago} ago with ${endedBy.replace(/^exit /, '')}`;
}

/** The same beside the name of a worker: "killed by SIGKILL". */
export function endWords(endedBy: string): string {
  return endedBy.startsWith('SIG') ? `killed by ${endedBy}` : endedBy;
}

/** What people call it. Its id is for commands. */
export function workerName({ host, pid }: Pick<WorkerView, 'host' | 'pid'>): string {
  return `${host} (pid ${pid})`;
}
