import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { jobInState, post, startJob } from '../support/api.ts';
import { testDatabase, type TestDatabase } from '../support/servers/database.ts';
import { descendants, endAll, FIXTURES, launch, type Running } from '../support/processes.ts';
import { until } from '../support/until.ts';

/**
 * Jobs that misbehave, each in its own way, on one worker with a well-behaved neighbour. Each must
 * end in the right state with a useful message, the neighbour must not notice, and nothing may be
 * left behind: no process, no temporary folder.
 */

let database: TestDatabase;
let temp: string;
let server: Running;
let address: string;

beforeAll(async () => {
  database = await testDatabase();
  temp = await mkdtemp(join(tmpdir(), 'longshore-misbehaving-'));
  server = await launch('start', {
    env: {
      DATABASE_URL: database.url,
      LONGSHORE_JOBS: join(FIXTURES, 'misbehaving'),
      LONGSHORE_RUNNER_UIDS: 'auto',
      LONGSHORE_CONCURRENCY: '10',
      LONGSHORE_POLL_MS: '200',
      LONGSHORE_LEASE_MS: '3000',
      LONGSHORE_DRAIN_MS: '10000',
      LONGSHORE_LOG_MAX_BYTES: '100000',
      TMPDIR: temp,
    },
  });
  address = server.summary.address;
});

afterAll(async () => {
  await endAll();
  await database.close();
  await rm(temp, { recursive: true, force: true });
});

interface Ending {
  key: string;
  status: 'succeeded' | 'failed' | 'cancelled';
  code?: string;
  words?: string;
  result?: unknown;
  cancel?: true;
}

const ENDINGS: Ending[] = [
  { key: 'loops', status: 'failed', code: 'TIMEOUT', words: 'longer than its 0.5 s' },
  { key: 'ignores-abort', status: 'cancelled', cancel: true },
  { key: 'eats-heap', status: 'failed', code: 'OUT_OF_MEMORY', words: '96 MB' },
  { key: 'eats-buffers', status: 'failed', code: 'OUT_OF_MEMORY', words: '96 MB' },
  { key: 'forks-and-detaches', status: 'succeeded', result: 'left' },
  { key: 'floods-stdout', status: 'succeeded', result: 'wrote' },
  { key: 'floods-messages', status: 'succeeded', result: 'sent' },
  { key: 'returns-cyclic', status: 'failed', code: 'RESULT_INVALID', words: 'circular' },
  { key: 'returns-too-much', status: 'failed', code: 'RESULT_TOO_LARGE', words: '200000002' },
  { key: 'throws-string', status: 'failed', code: 'HANDLER_ERROR', words: 'just a string' },
  { key: 'rejects-undefined', status: 'failed', code: 'HANDLER_ERROR', words: 'undefined' },
  { key: 'exits-early', status: 'failed', code: 'CRASHED', words: 'exit code 0' },
  { key: 'closes-its-channel', status: 'failed', code: 'CRASHED', words: 'closed the connection' },
  { key: 'lies', status: 'succeeded', result: 'honest' },
  { key: 'kills-its-parent', status: 'succeeded', result: 'sorry' },
];

// Side by side: whatever the others do, each ends as it should, and so does its neighbour.
describe.concurrent('a job that misbehaves', () => {
  it.for(ENDINGS)('$key: $status $code', async ({ key, status, code, words, result, cancel }) => {
    const neighbour = await startJob(address, 'neighbour', { ms: 1_000 });
    // It runs for a second, which a busy machine may miss.
    await jobInState(address, neighbour, 'running', 'succeeded');
    const jobId = await startJob(address, key);
    if (cancel) {
      await jobInState(address, jobId, 'running');
      await post(`${address}/v1/jobs/${jobId}/cancel`, {});
    }
    const job = await jobInState(address, jobId, status);
    expect(job.error?.code).toBe(code);
    if (words !== undefined) expect(job.error?.message).toContain(words);
    if (result !== undefined) expect(job.result).toBe(result);
    expect(await jobInState(address, neighbour, 'succeeded')).toMatchObject({
      result: 'undisturbed',
      attempts: 1,
    });
  });

  it('an attempt that was killed shows what it used', async () => {
    const jobId = await startJob(address, 'eats-buffers');
    await jobInState(address, jobId, 'failed');
    const answer = await fetch(`${address}/v1/jobs/${jobId}/attempts`);
    const { attempts } = (await answer.json()) as { attempts: Record<string, number>[] };
    expect(attempts).toHaveLength(1);
    expect(attempts[0]?.['peakRssBytes']).toBeGreaterThan(50_000_000);
    expect(attempts[0]?.['error']).toMatchObject({ code: 'OUT_OF_MEMORY' });
  });

  it('a flooded log is cut and says so', async () => {
    const jobId = await startJob(address, 'floods-stdout');
    await jobInState(address, jobId, 'succeeded');
    const answer = await fetch(`${address}/v1/jobs/${jobId}/logs?limit=1000`);
    const { logs } = (await answer.json()) as { logs: { stream: string; message: string }[] };
    expect(logs[0]?.message).toMatch(/^y+… \(\d+ characters cut\)$/);
    expect(logs.at(-1)).toMatchObject({ stream: 'system' });
    expect(logs.at(-1)?.message).toContain('truncated');
  });
});

it('leaves no process and no temporary folder behind', async () => {
  await until('no job is left running', async () => {
    const rows = await database.sql('select 1 from longshore.running');
    return rows.length === 0;
  });
  await until('the detached processes are gone', () => sleepers().length === 0);
  server.signal('SIGTERM');
  expect((await server.exited).code).toBe(0);
  await until('nothing is left below it', () => descendants(server.pid).length === 0);
  expect(await readdir(temp)).toEqual([]);
});

/** The processes that `forks-and-detaches` left behind; their parent may have changed. */
function sleepers(): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
      return command[0] === 'sleep' && /^600\.[12]$/.test(command[1] ?? '');
    } catch {
      return false;
    }
  });
}
