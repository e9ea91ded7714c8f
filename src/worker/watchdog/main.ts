import { createInterface } from 'node:readline';
import { removeGroups } from '../../runtime/processes/cgroup.ts';
import { familyOf, TAKEN_OFF } from '../../runtime/processes/name-tag.ts';
import { removeFolderOfFolders } from '../../runtime/processes/remove-folder.ts';
import { sweep } from '../../runtime/processes/sweep.ts';
import { endUser, processesOfUsers } from '../../runtime/processes/user-processes.ts';

/**
 * The process that ends runners when their worker no longer can. A worker that was killed cannot
 * clean up, and one that is frozen (SIGSTOP, a stalled machine) does not even know that its lease
 * ran out; its runners would go on while another worker starts the same jobs again. So the worker
 * tells this process which process groups it has and for how long its lease still holds. When the
 * worker is gone, or the time is up without a newer word, every group is killed, and then every
 * process that came from one, which is known by its name tag. Of a worker that is gone, what its jobs
 * left on the disk goes too.
 *
 * One small process per worker does for all its runners, also for those that never yield.
 */

const pids = new Set<number>();
let family: number | null = null;
let folder: string | null = null;
const groups = new Set<string>();
/** Users that only this worker's jobs run as. */
const users = new Set<number>();
let timer: NodeJS.Timeout | undefined;

async function killAll(): Promise<void> {
  for (const pid of pids) {
    try {
      process.kill(-pid, 'SIGKILL');
    } catch {
      // Nobody is left in the group.
    }
  }
  pids.clear();
  if (family !== null) {
    await sweep((tag) => familyOf(tag) === family || tag === TAKEN_OFF);
  }
  if (users.size === 0) return;
  const left = new Set((await processesOfUsers((uid) => users.has(uid))).values());
  await Promise.all([...left].map(async (uid) => await endUser({ uid, gid: uid })));
}

async function clearUp(): Promise<void> {
  await killAll();
  for (const group of groups) await removeGroups(group);
  if (folder !== null) await removeFolderOfFolders(folder);
}

/** One word and what it is about: see `worker/watchdog.ts`, which says them. */
const words: Record<string, (about: string) => void> = {
  guard: (pid) => pids.add(Number(pid)),
  release: (pid) => pids.delete(Number(pid)),
  family: (number) => (family = Number(number)),
  folder: (path) => (folder = path),
  groups: (path) => groups.add(path),
  users: (ids) => ids.split(',').forEach((id) => users.add(Number(id))),
  lease: (leftMs) => {
    clearTimeout(timer);
    timer = setTimeout(() => void killAll(), Number(leftMs));
  },
};

const input = createInterface({ input: process.stdin });
input.on('line', (line) => {
  const end = line.indexOf(' ');
  words[line.slice(0, end)]?.(line.slice(end + 1));
});
input.on('close', () => {
  clearTimeout(timer);
  void clearUp().finally(() => process.exit(0));
});
// Only the end of the worker ends it.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
