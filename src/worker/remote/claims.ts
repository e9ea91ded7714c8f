import type { SavedSteps } from '../../store/attempt/steps.ts';
import type { Secrets } from '../attempt/secrets.ts';

interface ClaimId {
  id: string;
  claim: number;
}

interface HeldClaim extends ClaimId {
  /** The identity under which it was claimed. */
  instance: string;
  saved: SavedSteps;
  /** The secrets of its job, as they were delivered. */
  secrets: Secrets | null;
}

const SEEN_MAX = 10_000;

/** The claims that were delivered to this worker and are not settled. */
export class Claims {
  readonly #held = new Map<string, HeldClaim>();
  /** Claims that were held or returned. Two answers can deliver the same claim, the second one late. */
  readonly #seen = new Set<string>();

  get size(): number {
    return this.#held.size;
  }

  /** False when it was held or returned before: then it must not start. */
  add(claim: HeldClaim): boolean {
    const key = keyOf(claim);
    if (this.#held.has(key) || this.#seen.has(key)) return false;
    this.#see(key);
    this.#held.set(key, claim);
    return true;
  }

  delete(claim: ClaimId): void {
    this.#held.delete(keyOf(claim));
  }

  /** It was given back although its delivery may still arrive. */
  returned(claim: ClaimId): void {
    this.#see(keyOf(claim));
  }

  instanceOf(claim: ClaimId): string | null {
    return this.#held.get(keyOf(claim))?.instance ?? null;
  }

  secretsOf(claim: ClaimId): Secrets | null {
    return this.#held.get(keyOf(claim))?.secrets ?? null;
  }

  of(instance: string): ClaimId[] {
    return [...this.#held.values()]
      .filter((one) => one.instance === instance)
      .map(({ id, claim }) => ({ id, claim }));
  }

  forget(instance: string): void {
    for (const [key, one] of this.#held) if (one.instance === instance) this.#held.delete(key);
  }

  /** Of the latest claim: the outcome of an earlier one may still be on its way. */
  saved(id: string): SavedSteps {
    let latest: HeldClaim | undefined;
    for (const one of this.#held.values()) {
      if (one.id === id && one.claim > (latest?.claim ?? 0)) latest = one;
    }
    return latest?.saved ?? NOTHING_SAVED;
  }

  /** Forgets the oldest first. */
  #see(key: string): void {
    this.#seen.add(key);
    if (this.#seen.size <= SEEN_MAX) return;
    for (const oldest of this.#seen) return void this.#seen.delete(oldest);
  }
}

export const NOTHING_SAVED: SavedSteps = { checkpointJson: null, steps: [] };

function keyOf({ id, claim }: ClaimId): string {
  return `${id}:${claim}`;
}
