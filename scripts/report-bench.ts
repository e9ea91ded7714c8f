/**
 * Time and memory of large reports: `npm run report-bench -- 1000000`. It starts a server with a
 * PostgreSQL of its own; the job may use 192 MB.
 */
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EmbeddedPostgres } from '../src/postgres/embedded.ts';
import { silentLog } from '../src/runtime/log.ts';
import { jobInState, startJob } from '../test/support/api.ts';
import { endAll, FIXTURES, launch } from '../test/support/processes.ts';

const rows = Number(process.argv[2] ?? 1_000_000);
const folder = await mkdtemp(join(tmpdir(), 'longshore-report-'));
const storage = await mkdtemp(join(tmpdir(), 'longshore-reports-'));
await chmod(storage, 0o1777);
// On loopback, because jobs run as other users, which cannot open its socket.
const postgres = new EmbeddedPostgres({ dataDir: folder, log: silentLog, loopback: true });
try {
  await postgres.start();
  const env = {
    DATABASE_URL: postgres.url,
    LONGSHORE_JOBS: join(FIXTURES, 'reports'),
    LONGSHORE_PORT: '0',
    LONGSHORE_RUNNER_ENV: 'REPORTS_DATABASE_URL,REPORTS_STORAGE',
    REPORTS_DATABASE_URL: postgres.url,
    REPORTS_STORAGE: storage,
  };
  const { address } = (await launch('start', { env })).summary;
  for (const [format, count] of [
    ['csv', rows],
    ['xlsx', rows],
    ['pdf', Math.min(rows, 10_000)],
  ] as const)
    await measure(address, format, count);
} finally {
  await endAll();
  await postgres.stop();
  await rm(folder, { recursive: true, force: true });
  await rm(storage, { recursive: true, force: true });
}

async function measure(address: string, format: string, count: number): Promise<void> {
  const params = { report: 'large', format, values: { rows: count } };
  const jobId = await startJob(address, 'report', params);
  const { result } = await jobInState(address, jobId, 'succeeded');
  const { bytes } = result as { bytes: number };
  const answer = await fetch(`${address}/v1/jobs/${jobId}/attempts`);
  const { attempts } = (await answer.json()) as {
    attempts: { durationMs: number; cpuMs: number; peakRssBytes: number }[];
  };
  const [{ durationMs, cpuMs, peakRssBytes } = { durationMs: 0, cpuMs: 0, peakRssBytes: 0 }] =
    attempts;
  const mb = (size: number) => `${(size / 1_000_000).toFixed(0)} MB`;
  const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;
  console.log(
    `${format}: ${count} rows, ${mb(bytes)}, ${seconds(durationMs)} (${seconds(cpuMs)} CPU), ` +
      `peak memory ${mb(peakRssBytes)}`,
  );
}
