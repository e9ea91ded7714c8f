import type { WorkerInfo } from '../../client/index.ts';
import { takesNoJobs } from '../../core/queue/worker.ts';
import { wholeSeconds } from '../../core/values/duration.ts';
import { closed, flag } from '../../protocol/fields.ts';
import { tool } from '../tool.ts';
import { type Facts, facts } from '../text/facts.ts';

const ROWS_MAX = 30;
const JOBS_MAX = 5;
const DEFINITIONS_MAX = 20;

export const listWorkers = tool({
  name: 'list_workers',
  title: 'Workers',
  description:
    'Lists live workers, and those that died within the last day: slots, running jobs, last ' +
    'heartbeat, and the definitions they have loaded.',
  scope: 'jobs:read',
  effect: 'reads',
  idempotent: true,
  input: closed({ liveOnly: flag().default(false).describe('Without dead workers.') }),
  run: async ({ liveOnly }, { client, now }) => {
    const all = await client.workers();
    const found = all.filter(({ status }) => !liveOnly || status !== 'dead');
    return facts({
      none: found.length === 0 ? 'No workers: no job can run.' : null,
      workers: found.slice(0, ROWS_MAX).map((worker) => rowOf(worker, now())),
      more: found.length > ROWS_MAX ? `${found.length - ROWS_MAX} more workers.` : null,
    });
  },
});

function rowOf(worker: WorkerInfo, now: Date): Facts {
  const { workerId, host, pid, status, slots, running, definitions, lost } = worker;
  return facts({
    workerId,
    host: `${host} (pid ${pid})`,
    status: lost ? `${status}, without a sign-off` : status,
    slots: `${running.length} of ${slots} busy`,
    heartbeat: `${wholeSeconds(now.getTime() - Date.parse(worker.heartbeatAt))} ago`,
    problem: takesNoJobs(worker, now.getTime()) ? 'It has free slots and takes no jobs.' : null,
    running: some(running, JOBS_MAX),
    definitions: some(definitions, DEFINITIONS_MAX),
    version: worker.version,
  });
}

function some(list: readonly string[], max: number): string[] {
  const more = list.length - max;
  return more > 0 ? [...list.slice(0, max), `and ${more} more`] : [...list];
}
