import { lstatSync, readFileSync } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { runAs } from '../../runtime/processes/run-as.ts';

/** Folders that every user may write to. */
const SHARED = ['/tmp', '/var/tmp', '/dev/shm', '/dev/mqueue', '/run/lock'];
const REMOVE = 'chmod -R u+rwx -- "$@" 2>/dev/null; rm -rf -- "$@"';
const REMOVE_IPC = 'ipcrm --all';
const IPC = ['shm', 'sem', 'msg'];

/**
 * Removes what ended jobs left outside of their own folders, as the owning user: the next job with
 * the same user id would own it. Resolves with the ids that have remains.
 */
export async function removeStrayFiles(uids: ReadonlySet<number>): Promise<Set<number>> {
  await remove(await strayFiles(uids));
  const left = await strayFiles(uids);
  if (left.size > 0) {
    await openTrees([...left.values()].flat(), uids);
    await remove(left);
  }
  for (const uid of strayIpc(uids)) await runAs({ uid, gid: uid }, REMOVE_IPC);
  return new Set([...(await strayFiles(uids)).keys(), ...strayIpc(uids)]);
}

/** The most paths that fit into the arguments of one program. */
const PATHS_PER_RUN = 400;

async function remove(files: ReadonlyMap<number, string[]>): Promise<void> {
  for (const [uid, paths] of files) {
    for (let at = 0; at < paths.length; at += PATHS_PER_RUN) {
      await runAs({ uid, gid: uid }, REMOVE, paths.slice(at, at + PATHS_PER_RUN));
    }
  }
}

const OPEN = 'chmod -R 0777 -- "$@"';
/** Folders of two users can be nested; each round opens one more level. */
const OPEN_ROUNDS_MAX = 8;

/**
 * Makes folders accessible, each as its owner. A job that lets another one create a folder inside
 * its own could not remove it, and its id could never be reused. Only the given users are handled:
 * none of their processes is alive, so the folders do not change meanwhile.
 */
export async function openTrees(
  paths: readonly string[],
  uids: ReadonlySet<number>,
): Promise<void> {
  for (const path of paths) {
    let known = 0;
    for (let round = 0; round < OPEN_ROUNDS_MAX; round += 1) {
      const owners = await ownersBelow(path);
      const ours = [...owners].filter((uid) => uids.has(uid));
      if (round > 0 && owners.size === known) break;
      known = owners.size;
      for (const uid of ours) await runAs({ uid, gid: uid }, OPEN, [path]);
    }
  }
}

/** The owners of the folders at and below a path. Links are not followed. */
async function ownersBelow(path: string): Promise<Set<number>> {
  const owners = new Set<number>();
  const waiting = [path];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    const stat = await lstat(at).catch(() => null);
    if (!stat?.isDirectory()) continue;
    owners.add(stat.uid);
    const entries = await readdir(at, { withFileTypes: true }).catch(() => []);
    for (const entry of entries) if (entry.isDirectory()) waiting.push(`${at}/${entry.name}`);
  }
  return owners;
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
