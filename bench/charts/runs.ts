import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { workloadOf } from '../harness/goals.ts';
import type { ResultsFile, Row } from '../harness/results.ts';

/** A file of results, under the name that the page gives it. */
export interface Run extends ResultsFile {
  name: string;
}

export interface Merged {
  rows: Row[];
  /** The runs from which there are rows, oldest first. */
  runs: Run[];
  /** The name of the run that a workload is from. */
  runOf(workload: string): string;
}

/** The committed files of a folder and others, oldest first. */
export function readRuns(folder: string, others: readonly string[]): Run[] {
  const committed = readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .map((name) => join(folder, name));
  return [...committed, ...others]
    .map((file): Run => {
      const results = JSON.parse(readFileSync(file, 'utf8')) as ResultsFile;
      return { ...results, name: basename(file, '.json') };
    })
    .toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
}

/**
 * Each workload from the last run that has it, with nothing from another one: figures of different
 * runs must not be compared.
 */
export function mergeRuns(runs: readonly Run[]): Merged {
  const last = new Map<string, Run>();
  for (const run of runs) {
    for (const { workload } of run.rows) last.set(workloadOf(workload), run);
  }
  const rows = runs.flatMap((run) =>
    run.rows.filter(({ workload }) => last.get(workloadOf(workload)) === run),
  );
  return {
    rows,
    runs: runs.filter((run) => [...last.values()].includes(run)),
    runOf: (workload) => last.get(workload)?.name ?? '',
  };
}
