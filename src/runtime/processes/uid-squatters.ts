import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { processesOfUsers } from './user-processes.ts';

/**
 * Ends processes of jobs that hold the names of uid locks. Any process can take such a name, but
 * only a worker, which is root, may: a job that takes all of them leaves no ids for the next
 * worker. Resolves with whether one was found.
 */
export async function endSquatters(
  names: readonly string[],
  isRunner: (uid: number) => boolean,
): Promise<boolean> {
  const sockets = socketsNamed(readFileSync('/proc/self/net/unix', 'latin1'), names);
  let ended = false;
  for (const pid of (await processesOfUsers(isRunner)).keys()) {
    if (!holdsAny(pid, sockets)) continue;
    try {
      process.kill(pid, 'SIGKILL');
      ended = true;
    } catch {
      // It has exited meanwhile.
    }
  }
  return ended;
}

/** The sockets with these abstract names, which the table shows with an @. */
function socketsNamed(table: string, names: readonly string[]): Set<string> {
  const wanted = new Set(names.map((name) => `@${name}`));
  const rows = table.split('\n').map((line) => line.trim().split(/\s+/));
  const found = rows.filter((fields) => wanted.has(fields[7] ?? ''));
  return new Set(found.map((fields) => `socket:[${fields[6]}]`));
}

function holdsAny(pid: number, sockets: ReadonlySet<string>): boolean {
  const folder = `/proc/${pid}/fd`;
  const read = <T>(operation: () => T): T | null => {
    try {
      return operation();
    } catch {
      return null;
    }
  };
  const names = read(() => readdirSync(folder)) ?? [];
  return names.some((name) => sockets.has(read(() => readlinkSync(`${folder}/${name}`)) ?? ''));
}
