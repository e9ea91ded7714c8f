import { OUTCOMES_MAX_CHARS } from '../../core/dependency/dependency.ts';
import type { JobError } from '../../core/job/job.ts';
import type { StoredChild } from '../../store/edges/load-children.ts';
import type { StoredOutcome } from '../../store/edges/load-parents.ts';
import type { Vault } from '../../store/connection/vault.ts';

/** The outcomes of the parents of a job as JSON, for `ctx.parents`. Throws `CannotOpen`. */
export function parentsJson(
  vault: Vault,
  tenant: string,
  parents: readonly StoredOutcome[],
): string {
  const budget = new Budget(vault, tenant);
  const outcomes = parents.map(({ id, ...outcome }) => {
    return budget.outcome(JSON.stringify({ id }), outcome);
  });
  return `[${outcomes.join(',')}]`;
}

/** The children of a job as JSON, each with its outcome if it has ended. Throws `CannotOpen`. */
export function childrenJson(
  vault: Vault,
  tenant: string,
  children: readonly StoredChild[],
): string {
  const budget = new Budget(vault, tenant);
  const known = children.map(({ id, name, asked, outcome }) => {
    const head = JSON.stringify({ id, name, asked }).slice(0, -1);
    return `${head},"outcome":${outcome === null ? 'null' : budget.outcome('{}', outcome)}}`;
  });
  return `[${known.join(',')}]`;
}

const MESSAGE_MAX = 200;

/**
 * Results and errors that would make the message to the runner too long are left out: a result is
 * null then, and an error has its code and the beginning of its message.
 */
class Budget {
  readonly #vault: Vault;
  readonly #tenant: string;
  #chars = 0;

  constructor(vault: Vault, tenant: string) {
    this.#vault = vault;
    this.#tenant = tenant;
  }

  /** `head` is a JSON object, to which the outcome is added. */
  outcome(head: string, { state, resultJson, error }: Omit<StoredOutcome, 'id'>): string {
    const opened = resultJson === null ? 'null' : this.#vault.open(this.#tenant, resultJson);
    const result = this.#fits(opened.length) ? opened : 'null';
    const whole = JSON.stringify(error);
    const shown = this.#fits(whole.length) ? whole : JSON.stringify(shortened(error));
    const begun = head === '{}' ? '{' : `${head.slice(0, -1)},`;
    return `${begun}"state":"${state}","error":${shown},"result":${result}}`;
  }

  #fits(chars: number): boolean {
    this.#chars += chars;
    return this.#chars <= OUTCOMES_MAX_CHARS;
  }
}

function shortened(error: JobError | null): JobError | null {
  if (error === null) return null;
  const message = error.message.slice(0, MESSAGE_MAX).toWellFormed();
  return { code: error.code, message, stack: null, cause: null };
}
