import { isWorkerId, type WorkerView } from '../core/queue/worker.ts';
import { NotFound } from './http/problems.ts';

/** A worker as the server shows it. */
export type WorkerInfo = WorkerView;

/** The answer to a drain. */
export interface DrainReceipt {
  workerId: string;
  status: 'draining';
}

/** What is no id would be another path, so it is not sent at all. */
export function workerPath(workerId: string): string {
  if (isWorkerId(workerId)) return `/v1/workers/${workerId}`;
  throw new NotFound(404, 'NOT_FOUND', `no worker has the id "${workerId}"`);
}
