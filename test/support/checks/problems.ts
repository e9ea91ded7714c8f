import { join } from 'node:path';
import { Client } from 'pg';
import type { ScheduleView } from '../../../src/core/schedule/schedule.ts';
import type { WorkerView } from '../../../src/core/queue/worker.ts';
import { packLines, unpackLines } from '../../../src/store/attempt/log-data.ts';
import { findRunningCluster } from '../../../src/postgres/embedded.ts';
import { jobInState, post, readJob, startJob } from '../api.ts';
import { FIXTURES, launch } from '../processes.ts';
import { until } from '../until.ts';

/**
 * A real server with many jobs and six problems: a definition whose jobs all fail, a stuck job, a
 * worker that died with a running job, a pause with a backlog, a schedule whose jobs fail, and a file
 * of definitions that cannot be loaded. Real workers did everything except one thing: the stuck job
 * and its worker are set back by five hours.
 */
export interface Problems {
  address: string;
  /** How many jobs the poisoned definition has failed with, and how many wait behind the pause. */
  failed: number;
  paused: number;
}

const BATCH = 5_000;
const SCHEDULED_RUNS = 3;
/** How far the stuck job is set back. */
const BACK_MS = (5 * 60 + 15) * 60_000;

export async function plantProblems(
  dataDir: string,
  count: number,
  env: Record<string, string> = {},
): Promise<Problems> {
  const shared = {
    LONGSHORE_DATA: dataDir,
    LONGSHORE_LEASE_MS: '5000',
    LONGSHORE_UNSERVED_AFTER_MS: '1000',
    LONGSHORE_CONCURRENCY: '8',
    // The stuck job would be waited for at the end.
    LONGSHORE_DRAIN_MS: '500',
  };
  const jobs = (folder: string) => ({ LONGSHORE_JOBS: join(FIXTURES, 'problems', folder) });
  const { address } = (await launch('start', { env: { ...shared, ...jobs('shop'), ...env } }))
    .summary;

  const stuck = await startJob(address, 'media.transcode', { file: 'talk.mp4' });
  const dying = plantDeadWorker(address, { ...shared, ...jobs('lone') });
  await post(`${address}/v1/definitions/invoices.export/pause`, {
    reason: 'the bank is closed until Monday',
  });
  await plantSchedule(address);
  const share = Math.ceil(count / 20);
  await enqueueMany(address, 'orders.import', share);
  await enqueueMany(address, 'invoices.export', share);
  await enqueueMany(address, 'mail.send', count - 2 * share);
  await until('all mails are sent', async () => await isQuiet(address), 3_600_000);
  await dying;
  await plantStuckJob(dataDir, address, stuck);
  return { address, failed: share, paused: share };
}

/** A second worker, killed as a machine dies: at once, and with a job in its hands. */
async function plantDeadWorker(address: string, env: Record<string, string>): Promise<void> {
  const worker = await launch('worker', { env });
  const job = await startJob(address, 'crm.migrate', { account: 'acme' });
  await jobInState(address, job, 'running');
  worker.signal('SIGKILL');
  await until('the worker is known to be dead', async () => {
    const answer = await fetch(`${address}/v1/workers`);
    const { workers } = (await answer.json()) as { workers: WorkerView[] };
    return workers.some(({ lost }) => lost);
  });
  await until('its job waits', async () => (await readJob(address, job)).warnings.length > 0);
}

async function plantSchedule(address: string): Promise<void> {
  const answer = await fetch(`${address}/v1/schedules`);
  const { schedules } = (await answer.json()) as { schedules: ScheduleView[] };
  const [schedule] = schedules;
  for (let run = 0; run < SCHEDULED_RUNS; run += 1) {
    const { body } = await post(`${address}/v1/schedules/${schedule?.id}/trigger`, undefined);
    await jobInState(address, (body as { jobId: string }).jobId, 'failed');
  }
}

async function plantStuckJob(dataDir: string, address: string, jobId: string): Promise<void> {
  await jobInState(address, jobId, 'running');
  const client = new Client({ connectionString: await findRunningCluster(dataDir) });
  await client.connect();
  // All of its times, and the start of its worker before it: no page may contradict another one.
  const back = (column: string) => `${column} = ${column} - interval '${BACK_MS} ms'`;
  for (const change of [
    `update longshore.job set ${back('created_at')} where id = $1`,
    `update longshore.running set ${back('queued_at')}, ${back('started_at')} where id = $1`,
    `update longshore.worker set ${back('started_at')}
     where instance = (select worker from longshore.running where id = $1)`,
  ]) {
    await client.query(change, [jobId]);
  }
  await plantOldLog(client, jobId);
  await client.end();
}

/** What the job has logged so far, too: the time of each line is in the packed chunk. */
async function plantOldLog(client: Client, jobId: string): Promise<void> {
  const { rows } = await client.query<{ claim_no: number; n: number; data: Buffer }>(
    'select claim_no, n, data from longshore.log_chunk where job_id = $1',
    [jobId],
  );
  for (const { claim_no: claim, n, data } of rows) {
    const lines = await unpackLines(data);
    const older = lines.map((line) => ({ ...line, atMs: line.atMs - BACK_MS }));
    await client.query(
      `update longshore.log_chunk set data = $4, at = at - make_interval(secs => $5)
       where job_id = $1 and claim_no = $2 and n = $3`,
      [jobId, claim, n, await packLines(older), BACK_MS / 1_000],
    );
  }
  await client.query(
    `update longshore.event set at = at - make_interval(secs => $2) where job_id = $1`,
    [jobId, BACK_MS / 1_000],
  );
}

async function enqueueMany(address: string, definitionKey: string, count: number): Promise<void> {
  for (let from = 0; from < count; from += BATCH) {
    const jobs = Array.from({ length: Math.min(BATCH, count - from) }, (_, index) => ({
      definitionKey,
      params: { order: from + index },
    }));
    const { status, body } = await post(`${address}/v1/jobs/batch`, { jobs });
    if (status !== 202) throw new Error(`refused: ${JSON.stringify(body)}`);
  }
}

/** Nothing is left to be done of what can be done. */
async function isQuiet(address: string): Promise<boolean> {
  const open = ['mail.send', 'orders.import'].map(async (definitionKey) => {
    const query = `definitionKey=${definitionKey}&status=queued&status=running&limit=1`;
    const answer = await fetch(`${address}/v1/jobs?${query}`);
    return ((await answer.json()) as { jobs: unknown[] }).jobs.length === 0;
  });
  return (await Promise.all(open)).every(Boolean);
}
