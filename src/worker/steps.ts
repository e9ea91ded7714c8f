import type { Log } from '../runtime/log.ts';
import { sleep } from '../runtime/deadline.ts';
import { DatabaseUnavailable } from '../store/db.ts';
import { lineFields } from './attempt-signals.ts';
import type { Execution, SaveStep } from './execution.ts';
import type { Saved } from './ipc.ts';
import type { QueuePort } from './port.ts';

const PAUSE_MS = 500;

/** What earlier attempts stored. A first claim has none, so most jobs cost no look. */
export async function savedSteps(
  queue: QueuePort,
  { shard, job }: Execution,
): Promise<Saved | undefined> {
  if (job.claim === 1) return undefined;
  const { checkpointJson, steps } = await queue.loadSteps(shard, job.id);
  if (checkpointJson === null && steps.length === 0) return undefined;
  return {
    ...(checkpointJson !== null && { checkpoint: JSON.parse(checkpointJson) as unknown }),
    steps: Object.fromEntries(
      steps.map(({ name, valueJson }) => [name, JSON.parse(valueJson) as unknown]),
    ),
  };
}

/** Tries for as long as the claim holds: the job waits for the database, as everybody does. */
export function stepSaver(queue: QueuePort, log: Log): SaveStep {
  return async (execution, name, valueJson) => {
    const { shard, job } = execution;
    while (!execution.lost) {
      try {
        const mine = await queue.saveStep(shard, { id: job.id, claim: job.claim, name, valueJson });
        return mine ? null : 'this attempt no longer owns the job';
      } catch (error) {
        if (!(error instanceof DatabaseUnavailable)) {
          log.warn(
            { ...lineFields(execution), step: name, err: error },
            'a step could not be stored',
          );
          return `it could not be stored: ${error instanceof Error ? error.message : String(error)}`;
        }
        await sleep(PAUSE_MS);
      }
    }
    return 'this attempt no longer owns the job';
  };
}
