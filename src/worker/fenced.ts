import type { Execution } from './attempt/execution.ts';

/** Attempts that were running when a lease was lost, and the callers that wait for their end. */
export class Fenced {
  readonly #waits = new Map<Execution, () => void>();

  /** Stops them; resolves when all have ended. */
  async stop(executions: readonly Execution[]): Promise<void> {
    const ends = executions.map(
      async (execution) =>
        await new Promise<void>((resolve) => this.#waits.set(execution, resolve)),
    );
    for (const execution of executions) execution.fence();
    await Promise.all(ends);
  }

  ended(execution: Execution): void {
    this.#waits.get(execution)?.();
    this.#waits.delete(execution);
  }
}
