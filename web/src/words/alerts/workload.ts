import type { PublishedDefinition } from '../../../../src/client/job.ts';
import type { DeadLetterGroup } from '../../../../src/core/failure/dead-letter.ts';
import type { DefinitionStats } from '../../../../src/core/views/stats.ts';
import { oldestSince } from '../../../../src/core/problems/problem.ts';

/** Job counts of one definition. */
export interface Workload {
  key: string;
  owner: string | null;
  queued: number;
  oldestQueuedAt: string | null;
  running: number;
  retrying: number;
  failed: number;
}

export interface Measured {
  stats: { at: string; definitions: readonly DefinitionStats[] };
  failures: readonly DeadLetterGroup[];
}

/** Sorts after every time. */
const NEVER = '9999';

/** Failing definitions first, then the longest waiting; idle ones last. */
export function workloads(
  definitions: readonly PublishedDefinition[],
  { stats, failures }: Measured,
): Workload[] {
  const owners = new Map(definitions.map(({ key, owner }) => [key, owner]));
  const counted = new Map(stats.definitions.map((one) => [one.key, one]));
  const failed = new Map<string, number>();
  for (const { definitionKey, count } of failures.flatMap((group) => group.definitions)) {
    failed.set(definitionKey, (failed.get(definitionKey) ?? 0) + count);
  }
  const keys = new Set([...owners.keys(), ...counted.keys(), ...failed.keys()]);
  const loads = [...keys].map((key): Workload => {
    const one = counted.get(key);
    return {
      key,
      owner: owners.get(key) ?? null,
      queued: one?.depth ?? 0,
      oldestQueuedAt: one ? oldestSince(stats.at, one) : null,
      running: one?.running ?? 0,
      retrying: one?.states.retrying ?? 0,
      failed: failed.get(key) ?? 0,
    };
  });
  return loads.sort(
    (a, b) =>
      b.failed - a.failed ||
      (a.oldestQueuedAt ?? NEVER).localeCompare(b.oldestQueuedAt ?? NEVER) ||
      b.running + b.retrying - a.running - a.retrying ||
      a.key.localeCompare(b.key),
  );
}
