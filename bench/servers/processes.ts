import { readdirSync, readFileSync } from 'node:fs';

const TICKS_PER_SECOND = 100;
const NANOSECONDS = 1e9;

/**
 * User and system time of a process and of everything below it, ended children included. Read
 * synchronously, so that the reading belongs to one moment.
 */
export function cpuSecondsOf(pid: number): number {
  return treeOf(pid).reduce((sum, each) => sum + threadSeconds(each) + endedSeconds(each), 0);
}

/** CPU time of the children of this process that have ended. */
export function endedCpuSeconds(): number {
  return endedSeconds(process.pid);
}

/** Memory of a process: PSS counts its share of pages that it shares with others, RSS all of them. */
export function memoryMbOf(pid: number): { pss: number; rss: number } {
  const text = read(`/proc/${pid}/smaps_rollup`);
  const megabytes = (name: string) =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0) / 1_024;
  return { pss: megabytes('Pss'), rss: megabytes('Rss') };
}

export function isPostgres(pid: number): boolean {
  return read(`/proc/${pid}/comm`).startsWith('postgres');
}

/** A process and all its descendants. */
export function treeOf(pid: number): number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc')) {
    if (/^\d+$/.test(name)) parents.set(Number(name), Number(fieldsOf(Number(name))[1]));
  }
  const tree = [pid];
  for (const parent of tree) {
    for (const [child, its] of parents) if (its === parent) tree.push(child);
  }
  return tree;
}

/** The kernel counts the threads of a living process in nanoseconds. */
function threadSeconds(pid: number): number {
  let threads: string[];
  try {
    threads = readdirSync(`/proc/${pid}/task`);
  } catch {
    return 0;
  }
  const times = threads.map((thread) =>
    Number(read(`/proc/${pid}/task/${thread}/schedstat`).split(' ')[0]),
  );
  return times.reduce((sum, time) => sum + time, 0) / NANOSECONDS;
}

/** Children that have ended are only counted in ticks. */
function endedSeconds(pid: number): number {
  const fields = fieldsOf(pid);
  return (Number(fields[13] ?? 0) + Number(fields[14] ?? 0)) / TICKS_PER_SECOND;
}

/** https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html, counted from behind the name. */
function fieldsOf(pid: number): string[] {
  const text = read(`/proc/${pid}/stat`);
  return text.slice(text.lastIndexOf(')') + 2).split(' ');
}

/** Empty when the process has ended meanwhile. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
