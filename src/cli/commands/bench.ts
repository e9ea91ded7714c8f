import { setTimeout as pause } from 'node:timers/promises';
import { randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import type { Job, Longshore } from '../../client/index.ts';
import { isTerminal } from '../../core/job/job.ts';
import { unknownName } from '../../core/values/nearest.ts';
import type { Cli } from '../cli.ts';
import { columns } from '../text/columns.ts';
import { exitCode } from '../exit-codes.ts';
import { secondsAsMs, whole } from '../options/option-values.ts';
import { readParams } from '../options/params-argument.ts';
import { type Percentiles, percentiles } from '../text/percentiles.ts';
import { ProgressLine } from '../text/progress-line.ts';
import { clientOf, outputOf } from '../session.ts';
import { UsageError } from '../options/usage-error.ts';

interface Options {
  jobs?: number;
  callers?: number;
  timeout?: number;
}

const LOOK_MS = 250;

export function addBench(program: Command, cli: Cli): void {
  program
    .command('bench')
    .summary('measure the throughput of a running server')
    .description(
      'Enqueue many jobs of a definition over HTTP, wait until they finish, and print latencies. ' +
        'The jobs really run: choose a definition without side effects.',
    )
    .argument('<key>', 'the key of the definition')
    .argument('[params]', 'JSON, @file, or - to read stdin; {} when left out')
    .option('-n, --jobs <number>', 'number of jobs; default 500', whole)
    .option('--callers <number>', 'number of concurrent requests; default 8', whole)
    .option('--timeout <seconds>', 'how long to wait for the last job; default 120', secondsAsMs)
    .action(async (key: string, argument: string | undefined, options: Options, self: Command) => {
      const { jobs = 500, callers = 8, timeout: timeoutMs = 120_000 } = options;
      if (jobs < 1 || callers < 1) throw new UsageError('--jobs and --callers must be at least 1');
      const out = outputOf(cli, self);
      const client = clientOf(cli, self);
      const params = await readParams(argument, cli.stdin);
      await refuseUnknown(client, key);
      const progress = new ProgressLine(cli.stderr, !out.json, cli.clock);
      const plan = { key, params, jobs, callers, tag: `bench-${randomUUID()}`, timeoutMs };
      const report = await measure(client, plan, cli, progress);
      progress.end();
      if (out.json) out.document(report);
      else out.lines(reportLines(report));
      if (report.ended < jobs) {
        out.trouble(`Timed out: ${jobs - report.ended} jobs have not finished yet; they continue.`);
        cli.exitCode = exitCode('timeout');
      } else if (report.succeeded < jobs) cli.exitCode = exitCode('failed');
    });
}

/** Without a worker for the definition, no job would finish. */
async function refuseUnknown(client: Longshore, key: string): Promise<void> {
  const keys = [...new Set((await client.definitions()).map((definition) => definition.key))];
  if (!keys.includes(key)) throw new UsageError(unknownName('definition', key, keys));
}

interface Plan {
  key: string;
  params: unknown;
  jobs: number;
  callers: number;
  tag: string;
  timeoutMs: number;
}

interface Report {
  jobs: number;
  callers: number;
  ended: number;
  succeeded: number;
  enqueuedPerSecond: number;
  endedPerSecond: number;
  /** Response time of enqueue requests, by this process's clock. */
  enqueueMs: Percentiles;
  /** Queue time and run time, by the clock of the database. */
  waitMs: Percentiles;
  runMs: Percentiles;
}

async function measure(
  client: Longshore,
  plan: Plan,
  { clock }: Cli,
  progress: ProgressLine,
): Promise<Report> {
  const { key, params, jobs, callers, tag, timeoutMs } = plan;
  const startMs = clock.monotonicMs();
  const enqueueMs: number[] = [];
  let begun = 0;
  const caller = async () => {
    while (begun < jobs) {
      begun += 1;
      const sentMs = clock.monotonicMs();
      await client.enqueue(key, params, { tags: [tag] });
      enqueueMs.push(clock.monotonicMs() - sentMs);
      progress.show('enqueued', enqueueMs.length, jobs);
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  const enqueuedMs = clock.monotonicMs() - startMs;
  const limitMs = clock.monotonicMs() + timeoutMs;
  const ended = await untilEnded(client, tag, jobs, () => clock.monotonicMs() > limitMs, progress);
  const first = Math.min(...ended.map(({ createdAt }) => Date.parse(createdAt)));
  const last = Math.max(...ended.map(({ finishedAt }) => Date.parse(finishedAt ?? '')));
  const rate = (count: number, ms: number) => (ms > 0 ? Math.round((count * 1_000) / ms) : count);
  return {
    jobs,
    callers,
    ended: ended.length,
    succeeded: ended.filter(({ status }) => status === 'succeeded').length,
    enqueuedPerSecond: rate(jobs, enqueuedMs),
    endedPerSecond: ended.length === 0 ? 0 : rate(ended.length, last - first),
    enqueueMs: percentiles(enqueueMs),
    waitMs: percentiles(ended.map(({ queuedAt, startedAt }) => between(queuedAt, startedAt))),
    runMs: percentiles(ended.map(({ startedAt, finishedAt }) => between(startedAt, finishedAt))),
  };
}

/**
 * Reads all jobs only once no open job is found, since reading loads the server. A job that changes
 * state in between may be missed, so finished jobs are counted.
 */
async function untilEnded(
  client: Longshore,
  tag: string,
  jobs: number,
  isOver: () => boolean,
  progress: ProgressLine,
): Promise<Job[]> {
  for (;;) {
    const [open] = (await client.list({ tag, status: OPEN, limit: 1 })).jobs;
    if (!open || isOver()) {
      const ended: Job[] = [];
      for await (const job of client.listAll({ tag, limit: 200 })) {
        if (isTerminal(job.status)) ended.push(job);
        progress.show('ended', ended.length, jobs);
      }
      if (ended.length === jobs || isOver()) return ended;
    }
    await pause(LOOK_MS);
  }
}

const OPEN = ['queued', 'running', 'retrying', 'scheduled', 'cancelling'] as const;

function between(from: string | null, to: string | null): number {
  return from === null || to === null ? 0 : Math.max(0, Date.parse(to) - Date.parse(from));
}

function reportLines(report: Report): string[] {
  const { jobs, callers, succeeded, ended, enqueuedPerSecond, endedPerSecond } = report;
  const row = (name: string, { p50, p95, p99 }: Percentiles) =>
    [name, ...[p50, p95, p99].map((ms) => (Number.isNaN(ms) ? '-' : `${ms} ms`))] as const;
  return [
    `${jobs} jobs by ${callers} callers: ${succeeded} succeeded, ${ended - succeeded} did not`,
    `enqueued ${enqueuedPerSecond}/s, finished ${endedPerSecond}/s (first created to last finished)`,
    '',
    ...columns([
      ['', 'P50', 'P95', 'P99'],
      row('enqueue response', report.enqueueMs),
      row('queue time', report.waitMs),
      row('run time', report.runMs),
    ]),
    '',
    'Measured by this process: the numbers include the network and other load of the server.',
  ];
}
