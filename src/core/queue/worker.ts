/** A worker as the outside sees it. A draining one claims nothing more; a dead one is only history. */
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
  /** It went without a word: its lease ran out. */
  lost: boolean;
}

const SHAPE = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

export function isWorkerId(text: string): boolean {
  return SHAPE.test(text);
}

/**
 * A worker has a row in each shard, and a lease in each. Together they are one worker: it lives as long
 * as one of them does, since a shard that cannot be reached stops no other; its lease holds as long as
 * the shortest of those that it has; and it was last heard where it was heard last. Those that live
 * come first, the newest first among equals.
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
// Times are ISO 8601 in UTC, which sort as texts.
const earlier = (a: string, b: string) => (a < b ? a : b);
const later = (a: string, b: string) => (a > b ? a : b);

function worse(a: WorkerStatus, b: WorkerStatus): WorkerStatus {
  return WORKER_STATUSES.indexOf(a) > WORKER_STATUSES.indexOf(b) ? a : b;
}
