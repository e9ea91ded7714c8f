import { readFileSync } from 'node:fs';

/** A run of a job as the job recorded it, from its first to its last line. */
export interface Run {
  definition: string;
  key: string | null;
  fromMicros: number;
  toMicros: number;
}

interface Word {
  definition: string;
  key: string | null;
  run: string;
  at: number;
}

/** Of runs that were killed only what they said is known, so each is taken for shorter than it was. */
export function readRuns(file: string): Run[] {
  const runs = new Map<string, Run>();
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    if (line === '') continue;
    const { definition, key, run, at } = JSON.parse(line) as Word;
    const known = runs.get(run) ?? { definition, key, fromMicros: at, toMicros: at };
    runs.set(run, { ...known, toMicros: Math.max(known.toMicros, at) });
  }
  return [...runs.values()];
}

/** How many of them went on at the same time, at the worst moment. */
export function mostAtOnce(runs: readonly Run[]): number {
  const moments = runs.flatMap(({ fromMicros, toMicros }) => [
    { at: fromMicros, change: 1 },
    { at: toMicros, change: -1 },
  ]);
  // At the same microsecond the end counts first: that is no overlap.
  moments.sort((a, b) => a.at - b.at || a.change - b.change);
  let now = 0;
  let most = 0;
  for (const { change } of moments) {
    now += change;
    most = Math.max(most, now);
  }
  return most;
}
