import { readFileSync } from 'node:fs';

/** The worker processes of a `longshore start`: its direct children that run a worker. */
export function workerProcessesOf(parent: number): number[] {
  const children = read(`/proc/${parent}/task/${parent}/children`).split(' ').filter(Boolean);
  return children
    .filter((pid) => read(`/proc/${pid}/cmdline`).includes('worker-process'))
    .map(Number);
}

/** Empty when the process is gone. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
