import { lstatSync, readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { runAs } from '../../runtime/run-as.ts';

/** Folders that every user may write to. */
const SHARED = ['/tmp', '/var/tmp', '/dev/shm', '/dev/mqueue', '/run/lock'];
const REMOVE = 'chmod -R u+rwx -- "$@" 2>/dev/null; rm -rf -- "$@"';
const REMOVE_IPC = 'ipcrm --all';
const IPC = ['shm', 'sem', 'msg'];

/**
 * Removes what ended jobs left outside of their own folders, each as the user that it belongs to:
 * the next job with the same user id would own it. Resolves with the ids of which something is left.
 */
export async function removeStrayFiles(uids: ReadonlySet<number>): Promise<Set<number>> {
  for (const [uid, paths] of await strayFiles(uids)) {
    await runAs({ uid, gid: uid }, REMOVE, paths);
  }
  for (const uid of strayIpc(uids)) await runAs({ uid, gid: uid }, REMOVE_IPC);
  return new Set([...(await strayFiles(uids)).keys(), ...strayIpc(uids)]);
}

async function strayFiles(uids: ReadonlySet<number>): Promise<Map<number, string[]>> {
  const found = new Map<number, string[]>();
  for (const folder of SHARED) {
    const names = await readdir(folder).catch(() => []);
    for (const name of names) {
      const path = join(folder, name);
      const uid = lstatSync(path, { throwIfNoEntry: false })?.uid;
      if (uid === undefined || !uids.has(uid)) continue;
      found.set(uid, [...(found.get(uid) ?? []), path]);
    }
  }
  return found;
}

/** Shared memory, semaphores and queues of System V, which outlive their processes. */
function strayIpc(uids: ReadonlySet<number>): Set<number> {
  const found = new Set<number>();
  for (const kind of IPC) {
    const [head = '', ...lines] = readTable(`/proc/sysvipc/${kind}`);
    const at = head.trim().split(/\s+/).indexOf('uid');
    for (const line of lines) {
      const uid = Number(line.trim().split(/\s+/)[at]);
      if (uids.has(uid)) found.add(uid);
    }
  }
  return found;
}

function readTable(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n').filter(Boolean);
  } catch {
    return [];
  }
}
