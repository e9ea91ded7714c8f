import { spawn } from 'node:child_process';
import { children } from '../harness/children.ts';
import { nowMs, sleep } from '../harness/clock.ts';
import { freePort } from './free-port.ts';

const READY_MS = 60_000;
const STOP_MS = 20_000;
const STDERR_KEPT = 4_000;

export interface LongshoreServer extends AsyncDisposable {
  port: number;
  pid: number;
}

/** Starts the command line program; without a database URL it starts its own PostgreSQL. */
export async function startLongshore(
  program: string,
  role: 'api' | 'start',
  databaseUrl: string | null,
  flags: readonly string[] = [],
): Promise<LongshoreServer> {
  const port = await freePort();
  const args = [program, role, '--port', `${port}`, '--log-level', 'warn', ...flags];
  const { DATABASE_URL: _, ...env } = process.env;
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: databaseUrl === null ? env : { ...env, DATABASE_URL: databaseUrl },
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
