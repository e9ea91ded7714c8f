import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { children } from '../harness/children.ts';
import { nowMs, sleep } from '../harness/clock.ts';
import { freePort } from './free-port.ts';

const bin = fileURLToPath(new URL('../../bin/longshore.js', import.meta.url));
const READY_MS = 30_000;
const STOP_MS = 20_000;
const STDERR_KEPT = 4_000;

export interface LongshoreServer extends AsyncDisposable {
  port: number;
  pid: number;
}

/** The real thing, as a person starts it: `longshore api` or `longshore start`. */
export async function startLongshore(
  role: 'api' | 'start',
  databaseUrl: string,
  flags: readonly string[] = [],
): Promise<LongshoreServer> {
  const port = await freePort();
  const args = [bin, role, '--port', `${port}`, '--log-level', 'warn', ...flags];
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, DATABASE_URL: databaseUrl },
    detached: true,
  });
  children.add(child);
  let stderr = '';
  child.stderr.on('data', (data: Buffer) => {
    stderr = (stderr + data.toString()).slice(-STDERR_KEPT);
  });
  const stop = async () => await children.end(child, STOP_MS);
  const deadlineMs = nowMs() + READY_MS;
  while (!(await isReady(port))) {
    if (child.exitCode !== null || nowMs() > deadlineMs) {
      await stop();
      throw new Error(`longshore ${role} did not get ready. ${stderr}`);
    }
    await sleep(50);
  }
  return { port, pid: child.pid ?? 0, [Symbol.asyncDispose]: stop };
}

async function isReady(port: number): Promise<boolean> {
  try {
    return (await fetch(`http://127.0.0.1:${port}/readyz`)).ok;
  } catch {
    return false;
  }
}
