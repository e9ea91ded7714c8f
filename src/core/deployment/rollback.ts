import type { Release } from './release.ts';

/** What a rollback does: ends canaries, or moves definitions back, by deployment. */
export type RollbackPlan =
  | { kind: 'end-canary'; numbers: number[] }
  | { kind: 'move'; to: Map<number, string[]> }
  | { kind: 'refuse'; why: string };

type Changed = Release & { changedAt: Date };

/**
 * Without names, all definitions of the deployment that was released last go back. While a canary
 * is under way, it ends, and nothing else moves.
 */
export function rollbackPlan(
  releases: readonly Changed[],
  keys: readonly string[] | null,
): RollbackPlan {
  const missing = (keys ?? []).find((key) => !releases.some((one) => one.key === key));
  if (missing !== undefined) return { kind: 'refuse', why: `${missing} was never deployed` };
  const named = releases.filter(({ key }) => keys === null || keys.includes(key));
  const canaries = named.flatMap(({ canary }) => canary ?? []);
  if (canaries.length > 0) return { kind: 'end-canary', numbers: [...new Set(canaries)] };
  const latest = named.toSorted((a, b) => b.changedAt.getTime() - a.changedAt.getTime())[0];
  if (!latest) return { kind: 'refuse', why: 'nothing was deployed yet' };
  const moved = keys === null ? named.filter((one) => one.current === latest.current) : named;
  const first = moved.filter(({ previous }) => previous === null).map(({ key }) => key);
  if (first.length === moved.length) {
    return { kind: 'refuse', why: `${first.join(', ')}: there is no earlier deployment` };
  }
  const to = new Map<number, string[]>();
  for (const { key, previous } of moved) {
    if (previous !== null) to.set(previous, [...(to.get(previous) ?? []), key]);
  }
  return { kind: 'move', to };
}
