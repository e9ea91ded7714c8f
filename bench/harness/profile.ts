import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { table } from './report.ts';

const FUNCTIONS = 25;
/** Waiting, and the profiler itself. */
const NOT_WORK = ['(idle)', 'post node:inspector:115'];
const root = fileURLToPath(new URL('../..', import.meta.url));

/** The part of a `.cpuprofile` of V8 that self times are computed from. */
interface CpuProfile {
  nodes: { id: number; callFrame: { functionName: string; url: string; lineNumber: number } }[];
  samples: number[];
  timeDeltas: number[];
}

/** The functions with the most self time in all profiles of a role, without waiting. */
export function hotFunctions(folder: string, role: string): string {
  const microseconds = new Map<string, number>();
  for (const name of readdirSync(folder).filter((file) => file.startsWith(`${role}-`))) {
    const profile = JSON.parse(readFileSync(join(folder, name), 'utf8')) as CpuProfile;
    const names = new Map(profile.nodes.map(({ id, callFrame }) => [id, nameOf(callFrame)]));
    profile.samples.forEach((id, i) => {
      const key = names.get(id) ?? '?';
      microseconds.set(key, (microseconds.get(key) ?? 0) + (profile.timeDeltas[i] ?? 0));
    });
  }
  for (const name of NOT_WORK) microseconds.delete(name);
  const total = [...microseconds.values()].reduce((sum, time) => sum + time, 0);
  const rows = [...microseconds]
    .toSorted((a, b) => b[1] - a[1])
    .slice(0, FUNCTIONS)
    .map(([name, time]) => [
      name,
      `${Math.round(time / 1_000)}`,
      ((time / total) * 100).toFixed(1),
    ]);
  return rows.length === 0 ? '' : table([`function (${role})`, 'self ms', '%'], rows);
}

function nameOf({ functionName, url, lineNumber }: CpuProfile['nodes'][0]['callFrame']): string {
  if (url === '') return functionName;
  const file = url.startsWith('file:') ? relative(root, fileURLToPath(url)) : url;
  return `${functionName || '(anonymous)'} ${file}:${lineNumber + 1}`;
}
