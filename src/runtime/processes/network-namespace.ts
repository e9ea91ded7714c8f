import { readlinkSync } from 'node:fs';
import { processesOfUsers } from './user-processes.ts';

/** The number of the network namespace of a process; null when it is gone or cannot be read. */
function namespaceOf(pid: number | 'self'): number | null {
  try {
    return Number(/\d+/.exec(readlinkSync(`/proc/${pid}/ns/net`))?.[0] ?? NaN) || null;
  } catch {
    return null;
  }
}

/** The number of our own; 0 where the system has none. */
export function ownNetworkNamespace(): number {
  return namespaceOf('self') ?? 0;
}

/** The users that have a process in another network namespace. */
export async function usersOfOtherNetworks(
  wanted: (uid: number) => boolean,
): Promise<ReadonlySet<number>> {
  const own = ownNetworkNamespace();
  const elsewhere = (pid: number) => (namespaceOf(pid) ?? own) !== own;
  const found = [...(await processesOfUsers(wanted))];
  return new Set(found.filter(([pid]) => elsewhere(pid)).map(([, uid]) => uid));
}
