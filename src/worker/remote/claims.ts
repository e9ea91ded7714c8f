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
  /** The identities of claims that are not held any more, and whose outcomes may still be on their way. */
  readonly #former = new Map<string, string>();

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
    this.#former.delete(keyOf(claim));
  }

  /** It was given back although its delivery may still arrive. */
  returned(claim: ClaimId): void {
    this.#see(keyOf(claim));
  }

  /** The server knows whether an outcome was stored before only under the identity that has claimed. */
  instanceOf(claim: ClaimId): string | null {
    const key = keyOf(claim);
    return this.#held.get(key)?.instance ?? this.#former.get(key) ?? null;
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

  /** The server says that it has ended: its outcome was stored, or came too late. */
  ended(claim: ClaimId): void {
    const key = keyOf(claim);
    const held = this.#held.get(key);
    if (!held) return;
    this.#held.delete(key);
    this.#former.set(key, held.instance);
    if (this.#former.size <= SEEN_MAX) return;
    for (const oldest of this.#former.keys()) return void this.#former.delete(oldest);
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
