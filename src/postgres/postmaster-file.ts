import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { LOOPBACK, type Address } from './connection.ts';
import { codeOf } from './error.ts';
import { commandLine, isAlive } from './process-table.ts';
import { clusterName } from './settings.ts';

/** What PostgreSQL itself notes in `postmaster.pid`, its lock on the data folder. */
export interface PostmasterFile {
  pid: number;
  port: number;
  /** Whether it listens on a Unix socket instead of loopback. */
  socket: boolean;
  /** `ready` once connections are accepted; empty while the file is still being written. */
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

/** Where the server that wrote this file listens. */
export function addressIn(file: PostmasterFile, folder: string, password: string): Address {
  return { host: file.socket ? folder : LOOPBACK, port: file.port, password };
}

/**
 * Who the process is that `postmaster.pid` names. After a crash the number may have been given to
 * somebody else; in a restarted container, where the same few numbers come back, that is common.
 *
 * - `gone`: no such process; PostgreSQL sees through such a file by itself.
 * - `ours`: the postmaster of this very folder.
 * - `stranger`: certainly no PostgreSQL (a zombie, which has no command line, counts as one).
 * - `unclear`: a PostgreSQL, but not on this folder by its command line; PostgreSQL shall decide.
 */
export type Holder = 'gone' | 'ours' | 'stranger' | 'unclear';

export async function holderOf(pid: number, folder: string): Promise<Holder> {
  if (!isAlive(pid)) return 'gone';
  const command = await commandLine(pid);
  if (command === undefined) return isAlive(pid) ? 'unclear' : 'gone';
  if (isPostmasterOf(folder, command)) return 'ours';
  return /(^|\/)postgres(:?\s|$)/.test(command) ? 'unclear' : 'stranger';
}

/** By its arguments, as `postmaster.ts` spells them; the path of the folder may be another one there. */
export function isPostmasterOf(folder: string, command: string): boolean {
  return (
    command.includes('/postgres -D ') && command.includes(` cluster_name=${clusterName(folder)} `)
  );
}
