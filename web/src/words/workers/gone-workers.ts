import type { WorkerView } from '../../../../src/core/queue/worker.ts';

const RECENT_MS = 60 * 60_000;

/** Workers that died within the hour, and the others: those that ended in order, or died earlier. */
export function goneWorkers(
  workers: readonly WorkerView[],
  now: Date,
): { recent: WorkerView[]; earlier: WorkerView[] } {
  const isRecent = ({ lost, heartbeatAt }: WorkerView) =>
    lost && now.getTime() - Date.parse(heartbeatAt) < RECENT_MS;
  return {
    recent: workers.filter(isRecent),
    earlier: workers.filter((worker) => !isRecent(worker)),
  };
}

/** "2 stopped, 1 died more than an hour ago". */
export function earlierWords(workers: readonly WorkerView[]): string {
  const died = workers.filter(({ lost }) => lost).length;
  const stopped = workers.length - died;
  return [stopped > 0 && `${stopped} stopped`, died > 0 && `${died} died more than an hour ago`]
    .filter((part) => part !== false)
    .join(', ');
}
