import type { Execution } from './execution.ts';

/**
 * Attempts that come and go by thousands a second; each is in one list at a time.
 *
 * It is no Map or Set, because these are costly for the garbage collector when they live long and
 * their entries do not: every table that they outgrow points to the next one, so one table in the
 * old generation keeps all later entries alive until the next full collection.
 */
export class ExecutionList {
  readonly #executions: Execution[] = [];

  get size(): number {
    return this.#executions.length;
  }

  /** A copy, in no certain order. */
  all(): Execution[] {
    return [...this.#executions];
  }

  /** Whether one is of this shard. */
  some(shard: number): boolean {
    return this.#executions.some((execution) => execution.shard === shard);
  }

  has(execution: Execution): boolean {
    return this.#executions[execution.place] === execution;
  }

  add(execution: Execution): void {
    execution.place = this.#executions.length;
    this.#executions.push(execution);
  }

  /** The last one takes its place. */
  delete(execution: Execution): void {
    if (!this.has(execution)) return;
    const last = this.#executions.pop();
    if (!last || last === execution) return;
    this.#executions[execution.place] = last;
    last.place = execution.place;
  }
}
