import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { defineJob, NonRetryable } from '../../src/core/define.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { JobLog } from '../../src/signals/job-log.ts';
import { Inbox } from '../../src/store/inbox.ts';
import { testDatabase, type TestDatabase } from '../support/database.ts';
import { blocksOf } from '../support/docs-blocks.ts';
import { request } from '../support/jobs.ts';
import { until } from '../support/until.ts';
import { workerOn } from '../support/worker.ts';

const TRACEPARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

const JOBS = [
  defineJob({ key: 'fine', isolation: 'inline', run: () => 1 }),
  defineJob({
    key: 'flaky',
    isolation: 'inline',
    run() {
      throw new Error('of password hunter2');
    },
  }),
  defineJob({
    key: 'hopeless',
    isolation: 'inline',
    run() {
      throw new NonRetryable('no');
    },
  }),
];

let database: TestDatabase;
beforeAll(async () => (database = await testDatabase()));
afterAll(async () => await database.close());

type Line = Record<string, unknown> & { msg: string; jobId: string };

/** Runs one job of each kind; answers with their ids and the lines about them. */
async function linesWith(logJobs: string) {
  const lines: Line[] = [];
  const log = pino({ base: null }, { write: (line) => lines.push(JSON.parse(line) as Line) });
  const { db, waker } = database;
  const jobLog = new JobLog(log, logJobs);
  const worker = workerOn(database, { jobs: JOBS, log, logJobs });
  await worker.worker.start();
  const inbox = new Inbox(db, waker, systemClock, null, null, jobLog);
  const ids: string[] = [];
  for (const definitionKey of ['fine', 'flaky', 'hopeless']) {
    const asked = request({ definitionKey, traceparent: TRACEPARENT });
    const [made] = await inbox.start([asked]);
    ids.push(made?.jobId ?? '');
  }
  await until('all of them ran', async () => {
    const rows = await database.sql(
      `select 1 from longshore.done where id = any ($1) union all
       select 1 from longshore.attempt where job_id = any ($1) and next = 'retrying'`,
      [ids],
    );
    return rows.length === 3;
  });
  await worker.stop();
  const about = lines.filter(({ msg }) => msg.startsWith('job.'));
  return { lines: about, of: (n: number) => about.filter(({ jobId }) => jobId === ids[n]), ids };
}

it('has one line for each thing that happens to a job', async () => {
  const { of, lines, ids } = await linesWith('all');
  const traceId = TRACEPARENT.slice(3, 35);
  const facts = { jobId: ids[0], definition: 'fine', tenant: 'default', traceId };
  const anyNumber = expect.any(Number) as number;
  expect(of(0)).toMatchObject([
    { msg: 'job.enqueued', ...facts, status: 'queued' },
    { msg: 'job.claimed', ...facts, attempt: 1 },
    { msg: 'job.succeeded', ...facts, attempt: 1, durationMs: anyNumber },
  ]);
  const told = (n: number) =>
    of(n).map(({ level, msg, code, next }) => ({ level, msg, code, next }));
  expect(told(1)).toEqual([
    { level: 30, msg: 'job.enqueued' },
    { level: 30, msg: 'job.claimed' },
    { level: 30, msg: 'job.failed', code: 'HANDLER_ERROR', next: 'retrying' },
  ]);
  expect(told(2).at(-1)).toEqual({
    level: 40,
    msg: 'job.failed',
    code: 'NON_RETRYABLE',
    next: 'failed',
  });
  const [shown] = blocksOf('docs/logging.md', 'json');
  const factsShown = Object.keys(JSON.parse(shown?.text ?? '{}') as Line);
  expect(factsShown.sort()).toEqual(Object.keys(of(2).at(-1) ?? {}).sort());
  // What a job says may be secret: the log has its code only.
  expect(JSON.stringify(lines)).not.toContain('hunter2');
});

it.each([
  ['failures', ['job.failed', 'job.failed']],
  ['0', ['job.failed', 'job.failed']],
  ['off', []],
])('with %s, it has %j', async (logJobs, expected) => {
  expect((await linesWith(logJobs)).lines.map(({ msg }) => msg)).toEqual(expected);
});
