import { createInterface } from 'node:readline';
import { removeGroups } from '../../runtime/processes/cgroup.ts';
import { familyOf, TAKEN_OFF } from '../../runtime/processes/name-tag.ts';
import { removeFolderOfFolders } from '../../runtime/processes/remove-folder.ts';
import { sweep } from '../../runtime/processes/sweep.ts';
import { endUser, processesOfUsers } from '../../runtime/processes/user-processes.ts';

/**
 * Ends runners when their worker no longer can. A killed worker cannot clean up, and a frozen one
 * (SIGSTOP, a stalled machine) does not notice that its lease expired; its runners would go on
 * while another worker starts the same jobs. So the worker sends this process its process groups
 * and the end of its lease. When the worker is gone, or the time is up without a renewal, every
 * group is killed, and then every process that came from one, found by its name tag. After a worker
 * is gone, the files of its jobs are removed too.
 *
 * One small process per worker serves all its runners.
 */

const pids = new Set<number>();
let family: number | null = null;
let folder: string | null = null;
const groups = new Set<string>();
/** Users that only jobs of this worker run as. */
const users = new Set<number>();
let timer: NodeJS.Timeout | undefined;

async function killAll(): Promise<void> {
  for (const pid of pids) {
    try {
      process.kill(-pid, 'SIGKILL');
    } catch {
      // The group is empty.
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

/** The commands that `worker/watchdog.ts` sends. */
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
// It exits only when the worker is gone.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
