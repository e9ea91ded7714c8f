import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';

export interface User {
  uid: number;
  gid: number;
}

const SETPRIV = '/usr/bin/setpriv';
const SHELL = ['/bin/sh', '-c'];
/** Long enough to remove a very large folder. */
const RUN_MS_MAX = 60_000;

/**
 * Runs a shell script as another user without supplementary groups. Resolves with the exit code;
 * null when it could not run or timed out. Needs root.
 *
 * Processes of that user may still be alive and can stop or take over this one, so it has a time
 * limit and no more rights than they have.
 */
export async function runAs(
  { uid, gid }: User,
  script: string,
  args: readonly string[] = [],
  timeout: number = RUN_MS_MAX,
): Promise<number | null> {
  const noNewPrivileges = existsSync(SETPRIV) ? [SETPRIV, '--no-new-privs'] : [];
  const [program = '', ...rest] = [...noNewPrivileges, ...SHELL, script, 'sh', ...args];
  return await new Promise((resolve) => {
    const child = spawn(program, rest, {
      uid,
      gid,
      cwd: '/',
      env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
      stdio: 'ignore',
      timeout,
      killSignal: 'SIGKILL',
    });
    child.once('error', () => resolve(null));
    child.once('exit', (code) => resolve(code));
  });
}
