import { OUTCOMES_MAX_CHARS } from '../../core/dependency/dependency.ts';
import type { StoredOutcome } from '../../store/edges/load-parents.ts';
import type { Vault } from '../../store/connection/vault.ts';

/**
 * The outcomes of the parents of a job as JSON, for `ctx.parents`. Results that would make the message to
 * the runner too long are left out. Throws `CannotOpen`.
 */
export function parentsJson(
  vault: Vault,
  tenant: string,
  parents: readonly StoredOutcome[],
): string {
  let chars = 0;
  const outcomes = parents.map(({ id, state, resultJson, error }) => {
    const opened = resultJson === null ? 'null' : vault.open(tenant, resultJson);
    chars += opened.length;
    const result = chars > OUTCOMES_MAX_CHARS ? 'null' : opened;
    const head = JSON.stringify({ id, state, error });
    return `${head.slice(0, -1)},"result":${result}}`;
  });
  return `[${outcomes.join(',')}]`;
}
