import { spawn } from 'node:child_process';

export interface User {
  uid: number;
  gid: number;
}

/**
 * Runs a few words of shell as another user, who has no groups but its own, and resolves with the
 * exit code when they are done; null when they could not be run. Only root can do this.
 */
export async function runAs(
  { uid, gid }: User,
  script: string,
  args: readonly string[] = [],
): Promise<number | null> {
  return await new Promise((resolve) => {
    const child = spawn('/bin/sh', ['-c', script, 'sh', ...args], {
      uid,
      gid,
      cwd: '/',
      env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
      stdio: 'ignore',
    });
    child.once('error', () => resolve(null));
    child.once('exit', (code) => resolve(code));
  });
}
