import { isWorkerId, type WorkerView } from '../core/queue/worker.ts';
import { notFound } from './http/problems.ts';

/** A worker as the server shows it. */
export type WorkerInfo = WorkerView;

/** The answer to a drain. */
export interface DrainReceipt {
  workerId: string;
  status: 'draining';
}

/** An invalid id could change the path, so no request is sent. */
export function workerPath(workerId: string): string {
  if (isWorkerId(workerId)) return `/v1/workers/${workerId}`;
  throw notFound('worker', workerId);
}
