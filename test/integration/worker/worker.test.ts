import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cancelJob } from '../../../src/store/change/cancel-job.ts';
import { getJob } from '../../../src/store/read/get-job.ts';
import { listDefinitions } from '../../../src/store/enqueue/definitions.ts';
import type { Worker, WorkerOptions } from '../../../src/worker/worker.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { claimAny, enqueueOne, newWorker as registered } from '../../support/jobs.ts';
import { descendants, FIXTURES, isAlive } from '../../support/processes.ts';
import { until } from '../../support/until.ts';
import { jobBegun, jobEnded, scheduling, workerOn } from '../../support/servers/worker.ts';

const database = sharedDatabase();
let folder: string;
let worker: Worker;
const stops: (() => Promise<void>)[] = [];

function newWorker(changes: Partial<WorkerOptions> = {}): Worker {
  const { worker, stop } = workerOn(database, { jobs: join(FIXTURES, 'jobs'), ...changes });
  stops.push(stop);
  return worker;
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'longshore-worker-'));
  worker = newWorker();
  await worker.start();
  stops.push(await scheduling(database));
});

afterAll(async () => {
  for (const stop of stops) await stop();
  await rm(folder, { recursive: true });
});

const ended = async (jobId: string) => await jobEnded(database, jobId);
const begun = async (jobId: string) => await jobBegun(database, jobId);

const runners = () =>
  descendants(process.pid).filter(({ command }) => /runner\/main/.test(command));

describe('a worker', () => {
  it('publishes its definitions', async () => {
    const keys = (await listDefinitions(database.db)).map((definition) => definition.key);
    expect(keys).toContain('echo');
    const checked = (await listDefinitions(database.db)).find(({ key }) => key === 'checked');
    expect(checked?.paramsSchema).toMatchObject({ properties: { width: { type: 'integer' } } });
  });

  it('runs a job in another process and keeps what it returned', async () => {
    const file = join(folder, 'one');
    const job = await ended(
      await enqueueOne(database, {
        definitionKey: 'record',
        paramsJson: JSON.stringify({ file }),
      }),
    );
    expect(job).toMatchObject({ status: 'succeeded', attempts: 1 });
    const { pid } = job.result as { pid: number };
    expect(pid).not.toBe(process.pid);
    expect(readFileSync(file, 'utf8')).toContain(`end ${job.jobId} 1 ${pid}`);
  });

  it('hands params over to the letter', async () => {
    const paramsJson = '{"a":[1,2.5,null,"\\u0000\\ud800 ünï"],"b":{"":true}}';
    const job = await ended(await enqueueOne(database, { definitionKey: 'echo', paramsJson }));
    expect(JSON.stringify(job.result)).toBe(paramsJson);
  });

  it('checks params against the schema before running, and charges no attempt', async () => {
    const good = { definitionKey: 'checked', paramsJson: '{"width":4}' };
    expect(await ended(await enqueueOne(database, good))).toMatchObject({ result: 8 });
    const bad = { definitionKey: 'checked', paramsJson: '{"width":"wide"}', skipValidation: true };
    expect(await ended(await enqueueOne(database, bad))).toMatchObject({
      status: 'failed',
      attempts: 0,
      error: { code: 'PAYLOAD_INVALID', message: expect.stringContaining('width') },
    });
  });

  it.each([
    ['refuse', {}, 'NON_RETRYABLE', /no point/],
    ['exit-early', { code: 0 }, 'CRASHED', /exit code 0/],
    ['exit-early', { code: 7 }, 'CRASHED', /exit code 7/],
    ['leave-daemon', {}, 'CRASHED', /exit code 3/],
    ['spin', {}, 'TIMEOUT', /longer than its 0.3 s/],
    ['throw-later', {}, 'HANDLER_ERROR', /from a timer/],
    ['return-nonsense', {}, 'RESULT_INVALID', /circular/],
  ])('ends %s %o as %s and goes on', async (definitionKey, params, code, message) => {
    const paramsJson = JSON.stringify(params);
    const job = await ended(await enqueueOne(database, { definitionKey, paramsJson }));
    expect(job).toMatchObject({ status: 'failed', error: { code } });
    expect(job.error?.message).toMatch(message);
    const next = await ended(await enqueueOne(database, { definitionKey: 'echo' }));
    expect(next.status).toBe('succeeded');
  });

  it('retries a job whose process is killed', async () => {
    const file = join(folder, 'killed');
    const untilFile = `${file}-end`;
    const id = await enqueueOne(database, {
      definitionKey: 'record',
      paramsJson: JSON.stringify({ file, untilFile }),
    });
    const line = await until('it has started', () =>
      existsSync(file) ? readFileSync(file, 'utf8') : null,
    );
    process.kill(Number(line.trim().split(' ').at(-1)), 'SIGKILL');
    writeFileSync(untilFile, '');
    expect(await ended(id)).toMatchObject({ status: 'succeeded', attempts: 2 });
  });

  it('cancels a job that listens, and one that does not', async () => {
    for (const definitionKey of ['wait-for-abort', 'ignore-abort']) {
      const id = await enqueueOne(database, { definitionKey });
      await begun(id);
      expect(await cancelJob(database.db, 'default', id)).toMatchObject({ status: 'cancelling' });
      expect(await ended(id)).toMatchObject({ status: 'cancelled', error: null });
    }
  });

  it('lets a job snooze as often as it likes without using an attempt', async () => {
    const file = join(folder, 'awake');
    const paramsJson = JSON.stringify({ file });
    const jobId = await enqueueOne(database, { definitionKey: 'sleepy', paramsJson });
    await until('it was claimed three times', async () => {
      const [row] = await database.sql<{ claim_no: number }>(
        `select claim_no from longshore.running where id = $1
         union all select claim_no from longshore.waiting where id = $1`,
        [jobId],
      );
      return row && row.claim_no > 2;
    });
    await writeFile(file, '');
    const job = await ended(jobId);
    expect(job).toMatchObject({ status: 'succeeded', attempts: 1, result: { attempt: 1 } });
  });

  it('gives its jobs no secrets of the server', async () => {
    const job = await ended(await enqueueOne(database, { definitionKey: 'environment' }));
    expect(job.result).toContain('PATH');
    expect(JSON.stringify(job.result)).not.toMatch(/DATABASE_URL|LONGSHORE|VITEST/);
  });

  it('leaves jobs alone whose definition it does not have', async () => {
    const unknown = await enqueueOne(database, { definitionKey: 'no-such-package' });
    await ended(await enqueueOne(database, { definitionKey: 'echo' }));
    expect(await getJob(database.db, 'default', unknown)).toMatchObject({ status: 'queued' });
  });

  it('never runs more jobs than it has slots', async () => {
    const ids = await Promise.all(
      Array.from(
        { length: 5 },
        async () => await enqueueOne(database, { definitionKey: 'wait-for-abort' }),
      ),
    );
    await until('all slots are taken', async () => {
      const rows = await database.sql('select id from longshore.running');
      expect(rows.length).toBeLessThanOrEqual(3);
      return rows.length === 3;
    });
    for (const id of ids) await cancelJob(database.db, 'default', id);
    for (const id of ids) await ended(id);
    expect(runners().length).toBeLessThanOrEqual(3);
  });
});

describe('a worker that stops', () => {
  it('waits for its jobs, then gives back what does not end, without charging it', async () => {
    const other = newWorker({ drainMs: 100, cancelGraceMs: 100 });
    await worker.stop();
    await other.start();
    const id = await enqueueOne(database, { definitionKey: 'wait-for-abort' });
    await begun(id);
    const before = runners().map(({ pid }) => pid);
    await other.stop();
    expect(await getJob(database.db, 'default', id)).toMatchObject({
      status: 'queued',
      attempts: 0,
      error: { code: 'INTERRUPTED' },
    });
    expect(before.filter(isAlive)).toEqual([]);
    await cancelJob(database.db, 'default', id);
    await worker.start();
  });
});

describe('a worker that is gone', () => {
  it('loses its jobs to another one when its lease is over', async () => {
    await worker.stop();
    const paramsJson = JSON.stringify({ file: join(folder, 'lost') });
    const id = await enqueueOne(database, { definitionKey: 'record', priority: 9, paramsJson });
    const gone = await registered(database);
    expect(await claimAny(database, gone, 1)).toMatchObject([{ id }]);
    await database.sql('update longshore.worker set lease_until = now() where instance = $1', [
      gone,
    ]);
    await worker.start();
    const job = await ended(id);
    expect(job).toMatchObject({ status: 'succeeded', attempts: 2 });
    const attempts = await database.sql<{ error_code: string }>(
      'select error_code from longshore.attempt where job_id = $1',
      [id],
    );
    expect(attempts).toEqual([{ error_code: 'LEASE_EXPIRED' }]);
  });
});

describe('broken definition files', () => {
  it('are reported with their path while the good ones run', async () => {
    const other = newWorker({ jobs: join(FIXTURES, 'broken') });
    await other.start();
    const { definitions, problems } = other.report;
    expect(definitions.map(({ key }) => key)).toEqual(['good']);
    expect(problems).toHaveLength(5);
    expect(problems.join('\n')).toMatch(/mistyped\.ts: .*did you mean "maxAttempts"/);
    expect(problems.join('\n')).toMatch(/syntax\.ts: /);
    expect(problems.join('\n')).toMatch(/lonely\.js: it imports no-such-package, .* npm install/);
    expect(problems.join('\n')).toMatch(/odd\.js: it threw a value that is not an Error: {}/);
    expect(problems.join('\n')).toMatch(/throws\.ts: .*throws while it is loaded/);
    const job = await ended(await enqueueOne(database, { definitionKey: 'good' }));
    expect(job.result).toBe('still here');
    await other.stop();
  });
});
