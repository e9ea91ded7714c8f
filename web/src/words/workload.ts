import type { PublishedDefinition } from '../../../src/client/job.ts';
import type { DeadLetterGroup } from '../../../src/core/dead-letter.ts';
import type { JobView } from '../../../src/core/job.ts';

/** What one definition has to do, as far as the pages at hand show it. */
export interface Workload {
  key: string;
  owner: string | null;
  queued: number;
  oldestQueuedAt: string | null;
  running: number;
  retrying: number;
  failed: number;
}

export interface Pages {
  queued: readonly JobView[];
  running: readonly JobView[];
  retrying: readonly JobView[];
  failures: readonly DeadLetterGroup[];
  /** What the server measures is not limited to pages; null where it measures nothing. */
  measured: readonly Measured[] | null;
}

interface Measured {
  key: string;
  depth: number;
  running: number;
  states: { retrying: number };
}

/** Sorts after every time. */
const NEVER = '9999';

/** Those in trouble first, then those that wait longest; what does nothing comes last. */
export function workloads(definitions: readonly PublishedDefinition[], pages: Pages): Workload[] {
  const all = new Map<string, Workload>();
  const of = (key: string, owner: string | null): Workload => {
    const known = all.get(key);
    if (known) return known;
    const zero = { queued: 0, oldestQueuedAt: null, running: 0, retrying: 0, failed: 0 };
    const made = { key, owner, ...zero };
    all.set(key, made);
    return made;
  };
  for (const { key, owner } of definitions) of(key, owner);
  for (const name of ['queued', 'running', 'retrying'] as const) {
    for (const job of pages[name]) of(job.definitionKey, job.owner)[name] += 1;
  }
  for (const { definitionKey, count } of pages.failures.flatMap((group) => group.definitions)) {
    of(definitionKey, null).failed += count;
  }
  for (const { definitionKey, owner, queuedAt } of pages.queued) {
    const load = of(definitionKey, owner);
    if (queuedAt !== null && (load.oldestQueuedAt ?? queuedAt) >= queuedAt) {
      load.oldestQueuedAt = queuedAt;
    }
  }
  for (const { key, depth, running, states } of pages.measured ?? []) {
    Object.assign(of(key, null), { queued: depth, running, retrying: states.retrying });
  }
  return [...all.values()].sort(
    (a, b) =>
      b.failed - a.failed ||
      (a.oldestQueuedAt ?? NEVER).localeCompare(b.oldestQueuedAt ?? NEVER) ||
      b.running + b.retrying - a.running - a.retrying ||
      a.key.localeCompare(b.key),
  );
}
