import type { Client } from 'pg';
import { systemClock } from '../runtime/clock.ts';
import { sleep } from '../runtime/deadline.ts';
import type { Log } from '../runtime/log.ts';
import type { Cluster } from './cluster-folder.ts';
import { connect } from './connection.ts';
import { codeOf, EmbeddedPostgresError } from './error.ts';
import { isLocked, tryLock } from './owner-lock.ts';
import { wrongPassword } from './password-file.ts';
import { addressIn, holderOf, readPostmasterFile, type PostmasterFile } from './postmaster-file.ts';
import { shutDown } from './postmaster.ts';
import { isAlive } from './process-table.ts';
import { supervisorSetting } from './settings.ts';

/** How long a live supervisor may take from a ready server to the owner lock. */
const claimGraceMs = 10_000;
/** How long a server with status ready may refuse to answer. */
const silenceLimitMs = 30_000;

/**
 * Before our own server starts: checks for a server on this folder, and who owns it.
 * - Its owner lock is held: it is in use. We refuse and change nothing.
 * - The lock is free and its supervisor is dead: an orphan. It is shut down, and we start our own,
 *   since only a child process can be supervised.
 * - The lock is free but the supervisor lives: it is starting or recovering, so we wait until it
 *   takes the lock. Taking it now would make two owners. A reused pid looks the same, so the wait
 *   is limited.
 *
 * This check is advisory: PostgreSQL's own `postmaster.pid` decides, also when two starts find
 * nothing at the same moment.
 *
 * Returns the pid in a stale `postmaster.pid` when it belongs to an unrelated process.
 */
export async function freeDataFolder(
  cluster: Cluster,
  signal: AbortSignal,
  log: Log,
): Promise<number | undefined> {
  const startedMs = systemClock.monotonicMs();
  let reportAtMs = 5_000;
  let readySinceMs: number | undefined;
  for (;;) {
    signal.throwIfAborted();
    const file = await readPostmasterFile(cluster.folder);
    if (!file) return undefined;
    const holder = await holderOf(file.pid, cluster.folder);
    if (holder === 'unrelated') return file.pid;
    if (holder !== 'ours') return undefined;
    const nowMs = systemClock.monotonicMs();
    if (file.status === 'ready') {
      readySinceMs ??= nowMs;
      const patient = nowMs - readySinceMs < claimGraceMs;
      const orphan = await claimOrphan(cluster, file, patient);
      if (orphan) await endOrphan(orphan, file.pid, cluster, log);
      else if (nowMs - readySinceMs > silenceLimitMs) throw silent(cluster, file.pid);
    }
    if (nowMs - startedMs >= reportAtMs) {
      log.info({ pid: file.pid }, 'waiting for the PostgreSQL on this folder');
      reportAtMs += 5_000;
    }
    await sleep(100, signal);
  }
}

/** A connection that holds the lock of an orphan; undefined when it is too early to say. */
async function claimOrphan(
  cluster: Cluster,
  file: PostmasterFile,
  patient: boolean,
): Promise<Client | undefined> {
  let client: Client;
  try {
    client = await connect(addressIn(file, cluster.folder, cluster.password), 'postgres');
  } catch (error) {
    if (codeOf(error) === '28P01') throw wrongPassword(cluster.folder);
    return undefined;
  }
  let supervisor = 0;
  try {
    const { rows } = await client.query<{ pid: string | null }>(
      'select current_setting($1, true) as pid',
      [supervisorSetting],
    );
    supervisor = Number(rows[0]?.pid ?? 0);
    const starting = patient && supervisor > 0 && isAlive(supervisor);
    const owned = starting ? await isLocked(client) : !(await tryLock(client));
    if (owned) throw inUse(cluster, supervisor);
    if (!starting) return client;
  } catch (error) {
    await client.end().catch(() => {});
    if (error instanceof EmbeddedPostgresError) throw error;
    return undefined;
  }
  await client.end().catch(() => {});
  return undefined;
}

/** The lock is kept until the server is down, so that no other start does the same. */
async function endOrphan(client: Client, pid: number, cluster: Cluster, log: Log): Promise<void> {
  log.warn({ pid }, 'shutting down the PostgreSQL of a killed Longshore');
  const gone = (async () => {
    while ((await holderOf(pid, cluster.folder)) === 'ours') await sleep(50);
  })();
  await shutDown(pid, gone, log);
  await client.end().catch(() => {});
}

/** Settings of the server, and options of createLongshore. */
const WAYS_OUT =
  'stop it, choose another folder (LONGSHORE_DATA, or `data` of createLongshore), or use a ' +
  'PostgreSQL of your own (DATABASE_URL, or `databaseUrl`).';

function inUse(cluster: Cluster, supervisor: number): EmbeddedPostgresError {
  const who = supervisor > 0 ? ` (process ${supervisor})` : '';
  return new EmbeddedPostgresError(
    `Another Longshore${who} is running on ${cluster.dataDir}: ${WAYS_OUT}`,
  );
}

function silent(cluster: Cluster, pid: number): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    `A PostgreSQL (process ${pid}) runs on ${cluster.folder} but does not answer: ${WAYS_OUT}`,
  );
}
