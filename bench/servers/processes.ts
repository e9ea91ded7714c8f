import { readdir, readFile } from 'node:fs/promises';

const TICKS_PER_SECOND = 100;

interface Stat {
  parent: number;
  /** Its own time, and that of its children that have ended. */
  seconds: number;
}

/** User and system time of a process, of its children, and of those that have ended. */
export async function cpuSecondsOf(pid: number): Promise<number> {
  const own = await stat(pid);
  let sum = own?.seconds ?? 0;
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const child = await stat(Number(name));
    if (child?.parent === pid) sum += child.seconds;
  }
  return sum;
}

/** https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html, counted from behind the name. */
async function stat(pid: number): Promise<Stat | undefined> {
  try {
    const text = await readFile(`/proc/${pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
    return { parent: Number(fields[1]), seconds: ticks / TICKS_PER_SECOND };
  } catch {
    return undefined;
  }
}
