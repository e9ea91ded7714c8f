import type { Log } from '../../runtime/log.ts';
import { sleep } from '../../runtime/deadline.ts';
import { DatabaseUnavailable } from '../../store/connection/db.ts';
import { lineFields } from './attempt-signals.ts';
import type { Belongings, Execution, SaveStep } from './execution.ts';
import type { Saved } from '../ipc.ts';
import type { QueuePort } from '../claim/port.ts';

const PAUSE_MS = 500;

/** The input of an attempt: its params, and what earlier attempts stored. Throws `CannotOpen`. */
export async function belongings(queue: QueuePort, execution: Execution): Promise<Belongings> {
  const { job, tenant } = execution;
  const paramsJson = queue.vault.open(tenant, job.paramsJson);
  // A first claim has no earlier attempts, so most jobs need no query.
  return { paramsJson, saved: job.claim === 1 ? undefined : await savedSteps(queue, execution) };
}

async function savedSteps(
  queue: QueuePort,
  { shard, job, tenant }: Execution,
): Promise<Saved | undefined> {
  const { checkpointJson, steps } = await queue.loadSteps(shard, job.id);
  if (checkpointJson === null && steps.length === 0) return undefined;
  const read = (json: string) => JSON.parse(queue.vault.open(tenant, json)) as unknown;
  return {
    ...(checkpointJson !== null && { checkpoint: read(checkpointJson) }),
    steps: Object.fromEntries(steps.map(({ name, valueJson }) => [name, read(valueJson)])),
  };
}

/** Retries as long as the claim holds. */
export function stepSaver(queue: QueuePort, log: Log): SaveStep {
  return async (execution, name, plainJson) => {
    const { shard, job, tenant } = execution;
    const valueJson = queue.vault.seal(tenant, plainJson);
    while (!execution.lost) {
      try {
        const mine = await queue.saveStep(shard, { id: job.id, claim: job.claim, name, valueJson });
        return mine ? null : 'this attempt no longer owns the job';
      } catch (error) {
        if (!(error instanceof DatabaseUnavailable)) {
          log.warn({ ...lineFields(execution), step: name, err: error }, 'cannot store a step');
          return `it could not be stored: ${error instanceof Error ? error.message : String(error)}`;
        }
        await sleep(PAUSE_MS);
      }
    }
    return 'this attempt no longer owns the job';
  };
}
