import { OMITTED_MESSAGE_MAX, OUTCOMES_MAX_CHARS } from '../../core/dependency/dependency.ts';
import { largeRefOf } from '../../core/large/large-value.ts';
import type { JobError } from '../../core/job/job.ts';
import type { StoredChild } from '../../store/edges/load-children.ts';
import type { StoredOutcome } from '../../store/edges/load-outcomes.ts';
import type { WorkQueue } from '../claim/work-queue.ts';

type Opening = Pick<WorkQueue, 'vault' | 'large'>;

/**
 * The outcomes of the parents of a job as JSON, for `ctx.parents`. Throws `CannotOpen`, and what
 * `LargeValues` throws.
 */
export async function parentsJson(
  queue: Opening,
  tenant: string,
  parents: readonly StoredOutcome[],
): Promise<string> {
  const budget = new Budget(queue, tenant);
  const outcomes: string[] = [];
  for (const { id, ...outcome } of parents) {
    outcomes.push(await budget.outcome(JSON.stringify({ id }), outcome));
  }
  return `[${outcomes.join(',')}]`;
}

/** The children of a job as JSON, each with its outcome if it has ended. Throws `CannotOpen`. */
export async function childrenJson(
  queue: Opening,
  tenant: string,
  children: readonly StoredChild[],
): Promise<string> {
  const budget = new Budget(queue, tenant);
  const known: string[] = [];
  for (const { id, name, asked, outcome } of children) {
    const head = JSON.stringify({ id, name, asked }).slice(0, -1);
    const ended = outcome === null ? 'null' : await budget.outcome('{}', outcome);
    known.push(`${head},"outcome":${ended}}`);
  }
  return `[${known.join(',')}]`;
}

/**
 * Results and errors that would make the message to the runner too long are omitted: a result is null
 * then, and an error has its code and the beginning of its message.
 */
class Budget {
  readonly #queue: Opening;
  readonly #tenant: string;
  #chars = 0;

  constructor(queue: Opening, tenant: string) {
    this.#queue = queue;
    this.#tenant = tenant;
  }

  /** `head` is a JSON object, to which the outcome is added. */
  async outcome(
    head: string,
    { state, resultJson, error, omitted }: Omit<StoredOutcome, 'id'>,
  ): Promise<string> {
    const result = resultJson === null ? 'null' : await this.#result(resultJson);
    const whole = JSON.stringify(error);
    const shown = this.#fits(whole.length) ? whole : JSON.stringify(shortened(error));
    const isOmitted = omitted === true || result === null || shown !== whole;
    const begun = head === '{}' ? '{' : `${head.slice(0, -1)},`;
    const mark = isOmitted ? ',"omitted":true' : '';
    return `${begun}"state":"${state}","error":${shown},"result":${result ?? 'null'}${mark}}`;
  }

  /** Null when it does not fit. It is not opened then if that is known before. */
  async #result(json: string): Promise<string | null> {
    if (json === 'null') return json;
    const { vault, large } = this.#queue;
    if (this.#chars > OUTCOMES_MAX_CHARS) return null;
    const stored = largeRefOf(JSON.parse(json));
    if (stored && (!large || this.#chars + stored.bytes > OUTCOMES_MAX_CHARS)) return null;
    const opened = large ? await large.open(this.#tenant, json) : vault.open(this.#tenant, json);
    return this.#fits(opened.length) ? opened : null;
  }

  #fits(chars: number): boolean {
    this.#chars += chars;
    return this.#chars <= OUTCOMES_MAX_CHARS;
  }
}

function shortened(error: JobError | null): JobError | null {
  if (error === null) return null;
  const message = error.message.slice(0, OMITTED_MESSAGE_MAX).toWellFormed();
  return { code: error.code, message, stack: null, cause: null };
}
