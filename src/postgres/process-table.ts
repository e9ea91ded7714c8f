import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { platform } from 'node:os';
import { promisify } from 'node:util';
import { codeOf } from './error.ts';

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}

/**
 * The command line of a process, joined by blanks. Empty for a zombie; undefined when it cannot be
 * read. On Linux it comes from `/proc`, because small images have no `ps`.
 */
export async function commandLine(pid: number): Promise<string | undefined> {
  try {
    if (platform() !== 'linux') return await ps(['-p', `${pid}`, '-o', 'args=']);
    return (await readFile(`/proc/${pid}/cmdline`, 'utf8')).replaceAll('\0', ' ');
  } catch {
    return undefined;
  }
}

/** The command lines of all visible processes. */
export async function allCommandLines(): Promise<Map<number, string>> {
  const found = new Map<number, string>();
  if (platform() === 'linux') {
    for (const name of await readdir('/proc')) {
      const command = /^\d+$/.test(name) ? await commandLine(Number(name)) : undefined;
      if (command) found.set(Number(name), command);
    }
    return found;
  }
  for (const line of (await ps(['-ax', '-o', 'pid=,args='])).split('\n')) {
    const [, pid, command] = /^\s*(\d+)\s+(.*)$/.exec(line) ?? [];
    if (pid && command) found.set(Number(pid), command);
  }
  return found;
}

async function ps(args: string[]): Promise<string> {
  return (await promisify(execFile)('ps', ['-ww', ...args])).stdout;
}
