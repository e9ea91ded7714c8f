import { OUTCOMES_MAX_CHARS } from '../../core/dependency/dependency.ts';
import { largeRefOf } from '../../core/large/large-value.ts';
import type { StoredOutcome } from '../../store/edges/load-parents.ts';
import type { WorkQueue } from '../claim/work-queue.ts';

type Opening = Pick<WorkQueue, 'vault' | 'large'>;

/**
 * The outcomes of the parents of a job as JSON, for `ctx.parents`. Results that would make the message to
 * the runner too long are left out; those in the storage are not even read then. Throws `CannotOpen`,
 * and what `LargeValues` throws.
 */
export async function parentsJson(
  queue: Opening,
  tenant: string,
  parents: readonly StoredOutcome[],
): Promise<string> {
  let chars = 0;
  const outcomes: string[] = [];
  for (const { id, state, resultJson, error } of parents) {
    const large = resultJson === null ? null : largeRefOf(JSON.parse(resultJson));
    const skips = large !== null && (!queue.large || chars + large.bytes > OUTCOMES_MAX_CHARS);
    const opened = skips || resultJson === null ? 'null' : await open(queue, tenant, resultJson);
    chars += skips ? 0 : opened.length;
    const result = chars > OUTCOMES_MAX_CHARS ? 'null' : opened;
    const head = JSON.stringify({ id, state, error });
    outcomes.push(`${head.slice(0, -1)},"result":${result}}`);
  }
  return `[${outcomes.join(',')}]`;
}

async function open({ vault, large }: Opening, tenant: string, json: string): Promise<string> {
  return large ? await large.open(tenant, json) : vault.open(tenant, json);
}
