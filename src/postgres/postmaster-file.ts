import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { LOOPBACK, type Address } from './connection.ts';
import { codeOf } from './error.ts';
import { commandLine, isAlive } from './process-table.ts';
import { clusterName } from './settings.ts';

/** The content of `postmaster.pid`, PostgreSQL's lock on the data folder. */
export interface PostmasterFile {
  pid: number;
  port: number;
  /** Whether it listens on a Unix socket instead of loopback. */
  socket: boolean;
  /** `ready` once connections are accepted; empty while the file is being written. */
  status: string;
}

export async function readPostmasterFile(folder: string): Promise<PostmasterFile | undefined> {
  let lines: string[];
  try {
    lines = (await readFile(path.join(folder, 'postmaster.pid'), 'utf8')).split('\n');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
  const pid = Number(lines[0]);
  if (!Number.isSafeInteger(pid) || pid <= 0) return undefined;
  const [, , , port = 0, socketFolder = '', , , status = ''] = lines;
  return { pid, port: Number(port), socket: socketFolder !== '', status: status.trim() };
}

/** The address of the server that wrote this file. */
export function addressIn(file: PostmasterFile, folder: string, password: string): Address {
  return { host: file.socket ? folder : LOOPBACK, port: file.port, password };
}

/**
 * The process that `postmaster.pid` names. After a crash its pid may have been reused, which is
 * common in restarted containers.
 * - `gone`: no such process; PostgreSQL recognizes such a stale file itself.
 * - `ours`: the postmaster of this folder.
 * - `unrelated`: certainly not PostgreSQL (includes zombies, which have no command line).
 * - `unclear`: a PostgreSQL, but not on this folder by its command line; PostgreSQL decides.
 */
export type Holder = 'gone' | 'ours' | 'unrelated' | 'unclear';

export async function holderOf(pid: number, folder: string): Promise<Holder> {
  if (!isAlive(pid)) return 'gone';
  const command = await commandLine(pid);
  if (command === undefined) return isAlive(pid) ? 'unclear' : 'gone';
  if (isPostmasterOf(folder, command)) return 'ours';
  return /(^|\/)postgres(:?\s|$)/.test(command) ? 'unclear' : 'unrelated';
}

/**
 * By its arguments, as `postmaster.ts` builds them; the path of the folder may be spelled
 * differently.
 */
export function isPostmasterOf(folder: string, command: string): boolean {
  return (
    command.includes('/postgres -D ') && command.includes(` cluster_name=${clusterName(folder)} `)
  );
}
