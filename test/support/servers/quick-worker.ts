import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { type LocalWorkerSettings, localWorker } from '../../../src/app/local-worker.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { createLog } from '../../../src/runtime/log.ts';
import { closing, startAll, stopAll } from '../../../src/runtime/service.ts';
import { Db } from '../../../src/store/connection/db.ts';
import { Waker } from '../../../src/store/connection/wake.ts';
import { CACHED } from '../compile-cache.ts';
import { until } from '../until.ts';

/**
 * A real worker process whose beats are quicker than the 10 and 30 seconds of the program, which no
 * setting changes. This file is both sides: tests start it, and it is what they start.
 */
export interface QuickWorker {
  pid: number;
  stderr(): string;
  signal(signal: NodeJS.Signals): void;
  stop(): Promise<void>;
}

/** Settings with short times, for all that a test does not care about. */
export const QUICK = {
  ...CACHED,
  pooler: 'none',
  redisUrl: null,
  redisLeaseMs: 10_000,
  concurrency: 2,
  leaseMs: 1_500,
  heartbeatMs: 300,
  pollMs: 100,
  drainMs: 100,
  cancelGraceMs: 100,
  retentionDays: 7,
  deadLetterDays: 0,
  unservedAfterMs: 60_000,
  logMaxBytes: 1_000_000,
  runnerUids: 'none',
  runnerMemoryMb: 512,
  inlineJobs: 'always',
  runnerMaxJobs: 1_000,
} as const;

export async function startQuickWorker(
  changes: Pick<LocalWorkerSettings, 'databaseUrl' | 'jobs'> & Partial<LocalWorkerSettings>,
): Promise<QuickWorker> {
  const settings: LocalWorkerSettings = { ...QUICK, ...changes };
  const file = fileURLToPath(import.meta.url);
  const child = spawn(process.execPath, [file, JSON.stringify(settings)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  await until('the worker is up', () => {
    if (child.exitCode !== null) throw new Error(`the worker ended at once:\n${stderr}`);
    return stdout.includes('up');
  }).catch(async (error: unknown) => {
    // No other code could end it.
    await end(child);
    throw error;
  });
  return {
    pid: child.pid ?? 0,
    stderr: () => stderr,
    signal: (signal) => void child.kill(signal),
    stop: async () => await end(child),
  };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.kill('SIGCONT');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), 10_000);
  await gone;
  clearTimeout(timer);
}

async function main(settings: LocalWorkerSettings): Promise<void> {
  const { databaseUrl: url, pooler } = settings;
  const log = createLog('info');
  const db = Db.open({ clock: systemClock, url, pooler, log });
  const waker = new Waker(url, log, systemClock, pooler);
  const services = [
    closing('pool', async () => await db.close()),
    closing('waker', async () => await waker.close()),
    ...localWorker(db, waker, settings, log).services,
  ];
  await startAll(services);
  process.on('SIGTERM', () => void stopAll(services).then(() => process.exit(0)));
  process.stdout.write('up\n');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await main(JSON.parse(process.argv[2] ?? '{}') as LocalWorkerSettings);
}
