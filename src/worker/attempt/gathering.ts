import { definitionName } from '../../core/definition/definition.ts';
import type { Execution } from './execution.ts';

interface Gathered {
  executions: Execution[];
  timer: NodeJS.Timeout;
}

/**
 * Claimed jobs that wait for others of their definition and tenant, to run as one group. A group
 * starts when it has its size, when its first job has waited long enough, or when no slot is free: then
 * it cannot grow, and must not hold back other definitions.
 */
export class Gathering {
  readonly #start: (executions: Execution[]) => void;
  readonly #groups = new Map<string, Gathered>();

  constructor(start: (executions: Execution[]) => void) {
    this.#start = start;
  }

  add(execution: Execution, { size, waitMs }: { size: number; waitMs: number }): void {
    const name = `${definitionName(execution.definition)} ${execution.tenant}`;
    const known = this.#groups.get(name);
    const timer = known?.timer ?? setTimeout(() => this.#flush(name), waitMs);
    const group = known ?? { executions: [], timer };
    group.executions.push(execution);
    this.#groups.set(name, group);
    if (group.executions.length >= size) this.#flush(name);
  }

  /** Nothing more can be gathered now. */
  flush(): void {
    for (const name of this.#groups.keys()) this.#flush(name);
  }

  /**
   * Removes and returns what has not started, of all shards or of one: where a definition is spread, a
   * group has jobs of several.
   */
  drop(shard?: number): Execution[] {
    const isOf = (one: Execution) => shard === undefined || one.shard === shard;
    const dropped: Execution[] = [];
    for (const [name, group] of this.#groups) {
      dropped.push(...group.executions.filter(isOf));
      group.executions = group.executions.filter((one) => !isOf(one));
      if (group.executions.length > 0) continue;
      clearTimeout(group.timer);
      this.#groups.delete(name);
    }
    return dropped;
  }

  #flush(name: string): void {
    const group = this.#groups.get(name);
    if (!group) return;
    clearTimeout(group.timer);
    this.#groups.delete(name);
    this.#start(group.executions);
  }
}
