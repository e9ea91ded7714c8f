import { createInterface } from 'node:readline';

/**
 * The process that ends runners when their worker no longer can. A worker that was killed cannot
 * clean up, and one that is frozen (SIGSTOP, a stalled machine) does not even know that its lease
 * ran out; its runners would go on while another worker starts the same jobs again. So the worker
 * tells this process which process groups it has and for how long its lease still holds. When the
 * worker is gone, or the time is up without a newer word, every group is killed.
 *
 * One small process per worker does for all its runners, also for those that never yield.
 */

const groups = new Set<number>();
let timer: NodeJS.Timeout | undefined;

function killAll(): void {
  for (const pid of groups) {
    try {
      process.kill(-pid, 'SIGKILL');
    } catch {
      // Nobody is left in the group.
    }
  }
  groups.clear();
}

/** `+pid`, `-pid`, or `lease milliseconds`. */
function hear(line: string): void {
  const value = Number(line.replace(/^(\+|-|lease )/, ''));
  if (!Number.isFinite(value)) return;
  if (line.startsWith('+')) groups.add(value);
  else if (line.startsWith('-')) groups.delete(value);
  else {
    clearTimeout(timer);
    timer = setTimeout(killAll, value);
  }
}

const input = createInterface({ input: process.stdin });
input.on('line', hear);
input.on('close', () => {
  killAll();
  process.exit(0);
});
// Only the end of the worker ends it.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
