import { readdirSync, readFileSync } from 'node:fs';
import { setImmediate as breathe } from 'node:timers/promises';
import { sleep } from '../deadline.ts';
import { runAs, type User } from './run-as.ts';

const READS_PER_BREATH = 200;
/** Nothing that can die takes this long; what is left then hangs in the kernel. */
const END_MS_MAX = 10_000;
const LOOK_AGAIN_MS = 5;
/** One that takes longer was stopped by those whom it should kill. */
const KILL_MS_MAX = 1_000;

/** The living processes of some users, by the number of the process. */
export async function processesOfUsers(
  wanted: (uid: number) => boolean,
): Promise<Map<number, number>> {
  const found = new Map<number, number>();
  let reads = 0;
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const uid = userOf(Number(name));
    if (uid !== null && wanted(uid)) found.set(Number(name), uid);
    reads += 1;
    if (reads % READS_PER_BREATH === 0) await breathe();
  }
  return found;
}

/** The real user: a program that changes its effective user still has the one it was started by. */
function userOf(pid: number): number | null {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'latin1');
    if (isDead(status)) return null;
    const uid = /^Uid:\s+(\d+)/m.exec(status)?.[1];
    return uid === undefined ? null : Number(uid);
  } catch {
    return null;
  }
}

/**
 * Whether nothing of a process runs any more, by its `/proc/PID/status`. One whose first thread has
 * ended is called a zombie, too, but its other threads go on.
 */
export function isDead(status: string): boolean {
  return /^State:\s+[ZX]/m.test(status) && !/^Threads:\s+([2-9]|\d\d)/m.test(status);
}

/**
 * Ends every process of a user, and resolves with the number of those that would not go. A process
 * without privileges cannot take off its user id, so this finds what it should.
 *
 * It is done in two ways, because each alone can be evaded. We kill each process that we find: none
 * can prevent that, but one that has just started another is not found. And the kernel kills all of
 * them in one go (`kill -1` as that user): none can start another in between, but a process of the
 * same user can stop or kill the one that asks for it.
 */
export async function endUser(user: User): Promise<number> {
  const endMs = performance.now() + END_MS_MAX;
  for (;;) {
    const left = await processesOfUsers((uid) => uid === user.uid);
    if (left.size === 0 || performance.now() > endMs) return left.size;
    for (const pid of left.keys()) killIfOf(user, pid);
    await runAs(user, 'kill -KILL -1', [], KILL_MS_MAX);
    await sleep(LOOK_AGAIN_MS);
  }
}

/** Its user is read again right before, so that a number which was given out anew is left alone. */
function killIfOf({ uid }: User, pid: number): void {
  if (userOf(pid) !== uid) return;
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It was quicker.
  }
}
