import { ArtifactError } from '../../core/artifact/artifact-error.ts';
import { sleep } from '../../runtime/deadline.ts';
import type { Log } from '../../runtime/log.ts';
import { DatabaseUnavailable } from '../../store/connection/db.ts';
import type { LargeValues } from '../../large/large-values.ts';
import { lineFields } from './attempt-signals.ts';
import type { Ended, Execution } from './execution.ts';

const TRIES = 10;
const PAUSE_MS = 1_000;

/**
 * Puts a large result into the storage, so that the outcome has only a reference to it. Null: the result
 * is not large. If the storage fails for long, the job was interrupted: it runs again without having used
 * an attempt.
 */
export function storeResult(
  large: LargeValues | undefined,
  execution: Execution,
  ended: Ended,
  log: Log,
): Promise<Ended> | null {
  const { outcome } = ended;
  if (outcome.kind !== 'success' || !large?.needs('result', outcome.resultJson)) return null;
  return withStoredResult(large, execution, ended, outcome.resultJson, log);
}

async function withStoredResult(
  large: LargeValues,
  execution: Execution,
  ended: Ended,
  json: string,
  log: Log,
): Promise<Ended> {
  const { job, tenant } = execution;
  for (let tries = 1; ; tries += 1) {
    try {
      const resultJson = await large.put(tenant, job.id, 'result', json);
      return { ...ended, outcome: { kind: 'success', resultJson } };
    } catch (error) {
      const passes = error instanceof ArtifactError || error instanceof DatabaseUnavailable;
      log.warn({ ...lineFields(execution), err: error }, 'cannot store a large result');
      if (passes && tries < TRIES) {
        await sleep(PAUSE_MS);
        continue;
      }
      const reason = error instanceof Error ? error.message : String(error);
      const message = `its large result could not be stored: ${reason}`;
      return { ...ended, outcome: { kind: 'interrupted', message } };
    }
  }
}
