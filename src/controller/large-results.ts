import { ArtifactError } from '../core/artifact/artifact-error.ts';
import type { Log } from '../runtime/log.ts';
import type { LargeValues } from '../large/large-values.ts';
import { lineFields } from '../worker/attempt/attempt-signals.ts';
import type { Finished } from '../worker/attempt/outcome-writer.ts';
import type { Batches } from './held.ts';

/**
 * Puts large results of remote workers into the storage. An outcome whose result cannot be stored now is
 * not written, and so not confirmed: its worker sends it again.
 */
export async function storeResults(
  large: LargeValues | undefined,
  { finished }: Batches,
  log: Log,
): Promise<void> {
  if (!large) return;
  for (const [shard, batch] of finished) {
    const kept: Finished[] = [];
    for (const item of batch) if (await isStored(large, item, log)) kept.push(item);
    finished.set(shard, kept);
  }
}

async function isStored(large: LargeValues, item: Finished, log: Log): Promise<boolean> {
  const { outcome } = item.ended;
  if (outcome.kind !== 'success' || !large.needs('result', outcome.resultJson)) return true;
  const { job, tenant } = item.execution;
  try {
    outcome.resultJson = await large.put(tenant, job.id, 'result', outcome.resultJson);
    return true;
  } catch (error) {
    if (!(error instanceof ArtifactError)) throw error;
    log.warn({ ...lineFields(item.execution), err: error }, 'cannot store a large result');
    return false;
  }
}
