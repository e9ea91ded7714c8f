import { readdirSync, readFileSync } from 'node:fs';
import { setImmediate as breathe } from 'node:timers/promises';
import { sleep } from '../deadline.ts';
import { runAs, type User } from './run-as.ts';

const READS_PER_BREATH = 200;
/** A process that is still there after this time hangs in the kernel. */
const END_MS_MAX = 10_000;
const LOOK_AGAIN_MS = 5;
/** A helper that takes longer was stopped by the processes it should kill. */
const KILL_MS_MAX = 1_000;

/** The live processes of some users, by pid. */
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

/** The real uid: a program that changes its effective uid keeps it. */
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
 * Whether no thread of a process runs any more, by its `/proc/PID/status`. A process whose first
 * thread has ended also counts as a zombie, but its other threads go on.
 */
export function isDead(status: string): boolean {
  return /^State:\s+[ZX]/m.test(status) && !/^Threads:\s+([2-9]|\d\d)/m.test(status);
}

/**
 * Ends every process of a user, and resolves with the number that did not exit. A process without
 * privileges cannot change its uid, so all are found.
 *
 * Two ways are combined, because each alone can be evaded. We kill each process that we find: none
 * can prevent that, but a new child may be missed. And the kernel kills all at once (`kill -1` as
 * that user): none can fork in between, but a process of the same user can stop or kill the helper
 * that calls it.
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

/** Reads the uid again right before the kill, in case the pid was reused. */
function killIfOf({ uid }: User, pid: number): void {
  if (userOf(pid) !== uid) return;
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It had already exited.
  }
}
