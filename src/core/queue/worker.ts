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
  /** The ids of the jobs it holds. */
  running: string[];
  heartbeatAt: string;
  leaseExpiresAt: string;
  startedAt: string;
  status: WorkerStatus;
  /** What it has loaded, like `image.resize@1`. */
  definitions: string[];
  /** Its lease expired without a sign-off. */
  lost: boolean;
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
    heartbeatAt: later(one.heartbeatAt, other.heartbeatAt),
    leaseExpiresAt: goneThere
      ? one.leaseExpiresAt
      : earlier(one.leaseExpiresAt, other.leaseExpiresAt),
    startedAt: earlier(one.startedAt, other.startedAt),
    status: goneThere ? one.status : worse(one.status, other.status),
    lost: goneThere ? one.lost : one.lost || other.lost,
  };
}

const isDead = ({ status }: WorkerView) => status === 'dead';
// ISO 8601 times in UTC sort as text.
const earlier = (a: string, b: string) => (a < b ? a : b);
const later = (a: string, b: string) => (a > b ? a : b);

function worse(a: WorkerStatus, b: WorkerStatus): WorkerStatus {
  return WORKER_STATUSES.indexOf(a) > WORKER_STATUSES.indexOf(b) ? a : b;
}
