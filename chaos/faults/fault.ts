import type { World } from '../world/world.ts';

/** A fault that has been injected, and how to undo it. */
export interface Injection {
  /** What it hits: names of slots, or `postgres`, or `everything`. No other fault gets at them. */
  targets: string[];
  /** Processes that it ended. */
  pids?: number[];
  note?: string;
  /** Undoes it and waits until what it hit is back. */
  heal(): Promise<void>;
}

export interface Fault {
  kind: string;
  /** Its number in the catalogue of docs/reliability.md. */
  number: string;
  what: string;
  /** How long it lasts, in milliseconds; chance decides within these. */
  holdMs: readonly [number, number];
  /** For so long it is tried again if there is nothing to hit; the default is a few tries. */
  patienceMs?: number;
  /** Why this machine cannot have it; null when it can. */
  impossible?(world: World): string | null;
  /** Null when there is nothing to hit right now. `pick`, in [0, 1), chooses among the targets. */
  inject(world: World, pick: number): Promise<Injection | null>;
}

/** For a fault that is over as soon as it has happened. */
export async function nothingToHeal(): Promise<void> {
  await Promise.resolve();
}
