import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { History, Leftovers, Micros, Run } from './history.ts';

/** Reads the files of a run, and brings the times of the database onto the common clock. */
export function readHistory(folder: string): History {
  const lines = <T>(name: string) => readLines<T>(join(folder, `${name}.jsonl`));
  const samples = lines<{ at: Micros; wall: Micros }>('clock');
  const onClock = (wall: Micros) => wall - offsetAt(samples, wall);
  const orNull = (wall: Micros | null) => (wall === null ? null : onClock(wall));
  return {
    run: document<Run>(folder, 'run'),
    client: lines('client'),
    rows: lines<History['rows'][number]>('rows').map((row) => ({
      ...row,
      at: onClock(row.at),
      begun: onClock(row.begun),
      runAt: orNull(row.runAt),
    })),
    attempts: lines<History['attempts'][number]>('attempts').map((row) => ({
      ...row,
      at: onClock(row.at),
    })),
    progress: lines<History['progress'][number]>('progress').map((row) => ({
      ...row,
      at: onClock(row.at),
    })),
    leases: lines<History['leases'][number]>('leases').map((row) => ({
      ...row,
      at: onClock(row.at),
      until: onClock(row.until),
      deadAt: orNull(row.deadAt),
    })),
    effects: lines('effects'),
    faults: lines('faults'),
    processes: lines('processes'),
    notices: lines('notices'),
    phases: lines('phases'),
    final: lines('final'),
    schedules: lines('schedules'),
    slots: lines('slots'),
    deploys: lines('deploys'),
    versions: lines<History['versions'][number]>('versions').map((row) => ({
      ...row,
      at: onClock(row.at),
      begun: onClock(row.begun),
    })),
    releases: lines<History['releases'][number]>('releases').map((row) => ({
      ...row,
      at: onClock(row.at),
    })),
    deployments: lines('deployments'),
    members: lines('members'),
    limiters: lines('limiters'),
    leftovers: document<Leftovers>(folder, 'leftovers'),
  };
}

function document<T>(folder: string, name: string): T {
  return JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8')) as T;
}

/** A file that was never begun is one in which nothing happened. */
function readLines<T>(file: string): T[] {
  if (!existsSync(file)) return [];
  const text = readFileSync(file, 'utf8');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as T);
}

/** By the last sample before it, found by halving: there may be a hundred thousand rows to convert. */
export function offsetAt(samples: readonly { at: Micros; wall: Micros }[], wall: Micros): Micros {
  let low = 0;
  let high = samples.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((samples[middle]?.wall ?? 0) <= wall) low = middle;
    else high = middle;
  }
  const sample = samples[low];
  if (!sample) throw new Error('the run has no clock.jsonl: its times cannot be compared');
  return sample.wall - sample.at;
}
