import type { WorkerView } from '../../../../src/core/queue/worker.ts';

/**
 * The slots beside the number of running jobs of a tenant. Workers serve all tenants, so jobs of
 * others may use slots too.
 */
export function slotsWords(
  workers: readonly Pick<WorkerView, 'slots' | 'busy' | 'jobs'>[],
  tenant: string,
): string {
  const slots = workers.reduce((sum, worker) => sum + worker.slots, 0);
  const busy = workers.reduce((sum, worker) => sum + worker.busy, 0);
  const own = workers.flatMap(({ jobs }) => jobs).filter((job) => job.tenant === tenant).length;
  return own === busy ? `of ${slots} slots` : `here; ${busy} of ${slots} slots busy`;
}
