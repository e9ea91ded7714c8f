import { pino } from 'pino';
import { expect, it } from 'vitest';
import { defineJob, NonRetryable } from '../../../src/core/definition/define.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { JobLog } from '../../../src/signals/job-log.ts';
import { Enqueuer } from '../../../src/enqueue/enqueuer.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { blocksOf } from '../../support/checks/docs-blocks.ts';
import { claimAny, request } from '../../support/jobs.ts';
import { until } from '../../support/until.ts';
import { workerOn } from '../../support/servers/worker.ts';

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
  defineJob({
    key: 'talkative',
    isolation: 'inline',
    run: (_, ctx) => ctx.emitEvent('said', UNSPEAKABLE),
  }),
];

const UNSPEAKABLE = 'what this database cannot store';

const database = sharedDatabase();

type Line = Record<string, unknown> & { msg: string; jobId: string };

/** Those that name a job, each of which must say all that is known of it. */
function wholeLinesOf(lines: readonly Line[]): Line[] {
  const whole = lines.filter(({ jobId }) => jobId !== undefined);
  for (const line of whole) {
    expect(line).toMatchObject({ tenant: 'default', traceId: TRACEPARENT.slice(3, 35) });
    expect(line['definition']).toEqual(expect.any(String));
    expect(line['attempt']).toBe(line.msg === 'job.enqueued' ? undefined : 1);
  }
  return whole;
}

/** Runs one job of each kind; answers with their ids and the lines about them. */
async function linesWith(logJobs: string) {
  const lines: Line[] = [];
  const log = pino({ base: null }, { write: (line) => lines.push(JSON.parse(line) as Line) });
  const { db, waker } = database;
  const jobLog = new JobLog(log, logJobs);
  const worker = workerOn(database, { jobs: JOBS, log, logJobs });
  await worker.worker.start();
  const enqueuer = new Enqueuer(db, waker, systemClock, null, jobLog);
  const ids: string[] = [];
  for (const definitionKey of ['fine', 'flaky', 'hopeless']) {
    const paramsJson = JSON.stringify({ password: 'hunter2' });
    const asked = request({ definitionKey, paramsJson, traceparent: TRACEPARENT });
    const [made] = await enqueuer.start([asked]);
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
  const about = wholeLinesOf(lines).filter(({ msg }) => msg.startsWith('job.'));
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
  const linesOf = (n: number) =>
    of(n).map(({ level, msg, code, next }) => ({ level, msg, code, next }));
  expect(linesOf(1)).toEqual([
    { level: 30, msg: 'job.enqueued' },
    { level: 30, msg: 'job.claimed' },
    { level: 30, msg: 'job.failed', code: 'HANDLER_ERROR', next: 'retrying' },
  ]);
  expect(linesOf(2).at(-1)).toEqual({
    level: 40,
    msg: 'job.failed',
    code: 'NON_RETRYABLE',
    next: 'failed',
  });
  const [shown] = blocksOf('docs/operate/logging.md', 'json');
  const factsShown = Object.keys(JSON.parse(shown?.text ?? '{}') as Line);
  expect(factsShown.sort()).toEqual(Object.keys(of(2).at(-1) ?? {}).sort());
  // What a job says may be secret: the log has its code only.
  expect(JSON.stringify(lines)).not.toContain('hunter2');
});

it('has messages and stacks of errors on request, with secrets masked', async () => {
  const { of } = await linesWith('failures+errors');
  const [flaky] = of(1);
  expect(flaky).toMatchObject({ msg: 'job.failed', message: 'of password [redacted]' });
  expect(flaky?.['stack']).toMatch(/^Error: of password \[redacted\]\n +at /);
});

it('has all that is known of a job in every line that names one', async () => {
  const lines: Line[] = [];
  const log = pino({ base: null }, { write: (line) => lines.push(JSON.parse(line) as Line) });
  const { db, waker, sql } = database;
  await sql(`alter table longshore.event add check (payload::text not like '%${UNSPEAKABLE}%')`);
  const worker = workerOn(database, { jobs: JOBS, log, logJobs: 'all', heartbeatMs: 100 });
  await worker.worker.start();
  const enqueuer = new Enqueuer(db, waker, systemClock, null, new JobLog(log, 'all'));
  const make = async (definitionKey: string) =>
    await enqueuer.start([request({ definitionKey, traceparent: TRACEPARENT })]);
  // A claim whose answer never arrived: the worker owns a job that it does not run.
  await make('unheard-of');
  const [instance] = await sql<{ instance: string }>(
    `select instance from longshore.worker where dead_at is null`,
  );
  expect(await claimAny(database, instance?.instance ?? '', 1)).toHaveLength(1);
  await make('flaky');
  await make('talkative');
  const logged = (text: string) => lines.some(({ msg }) => msg.includes(text));
  await until('both rare lines are there', () =>
    ['does not run here', 'cannot store the log or events', 'job.failed', 'job.succeeded'].every(
      logged,
    ),
  );
  await worker.stop();
  const whole = wholeLinesOf(lines).map(({ msg }) => msg);
  expect(whole).toContain('a job of ours does not run here; returning it');
  expect(whole).toContain('cannot store the log or events of a job');
});

it.each([
  ['failures', ['job.failed', 'job.failed']],
  ['0', ['job.failed', 'job.failed']],
  ['off', []],
])('with %s, it has %j', async (logJobs, expected) => {
  expect((await linesWith(logJobs)).lines.map(({ msg }) => msg)).toEqual(expected);
});
