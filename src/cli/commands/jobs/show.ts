import type { Command } from 'commander';
import type {
  Job,
  JobAttempt,
  JobEvent,
  JobLog,
  Longshore,
  WorkerInfo,
} from '../../../client/index.ts';
import { isTerminal, OWNED_STATES } from '../../../core/job/job.ts';
import { timeSince } from '../../../core/values/duration.ts';
import { printable } from '../../../core/values/printable.ts';
import { whyNotRunning } from '../../../core/views/why-not-running.ts';
import type { Cli } from '../../cli.ts';
import { clip } from '../../text/columns.ts';
import { jobText } from '../../text/jobs/job-text.ts';
import { findJobId } from '../../options/find-id.ts';
import type { Output } from '../../text/output.ts';
import { clientOf, outputOf } from '../../session.ts';
import { attemptRows, eventText } from '../../text/jobs/history-text.ts';

const LAST_EVENTS = 10;

export function addShow(program: Command, cli: Cli): void {
  program
    .command('show')
    .summary('show one job')
    .description('Show the state and all data of a job.')
    .argument('<id>', 'the id of the job')
    .option('--params', 'print the params in full as JSON, also if they are large')
    .option('--result', 'print the result in full as JSON, also if it is large')
    .option('--events', 'print all events of the job instead')
    .option('--reveal', 'show redacted values; needs jobs:reveal, and is audited')
    .action(async (typed: string, options: Options, command: Command) => {
      const { events, reveal } = options;
      const out = outputOf(cli, command);
      const client = clientOf(cli, command);
      const id = await findJobId(client, typed);
      const kind = options.params ? 'params' : options.result ? 'result' : null;
      if (kind) out.lines([JSON.stringify(await client.value(id, kind, { reveal }))]);
      else if (events) await showEvents(out, client, id);
      else await showJob(out, client, id, cli.clock.now(), reveal);
    });
}

interface Options {
  params?: true;
  result?: true;
  events?: true;
  reveal?: true;
}

async function showJob(
  out: Output,
  client: Longshore,
  id: string,
  now: Date,
  reveal: true | undefined,
): Promise<void> {
  const job = await client.get(id, { reveal });
  if (out.json) {
    out.document(job);
    return;
  }
  const attempts = await client.attempts(id);
  const workers = await knownWorkers(client, job, attempts);
  const { last, earlier } = await lastEvents(client, id);
  out.lines(jobText(job, now, workers));
  section(out, isTerminal(job.status) ? [] : await whyLines(out, client, job, workers, now));
  section(out, attemptRows(attempts, workers, out.width));
  section(out, [
    ...(earlier > 0 ? [`… ${earlier} earlier events: ${out.next(`show ${id} --events`)}`] : []),
    ...last.map((event) => clip(eventText(event), out.width)),
  ]);
}

/** A job that has ended needs them for their names only. */
async function knownWorkers(
  client: Longshore,
  job: Job,
  attempts: readonly JobAttempt[],
): Promise<WorkerInfo[]> {
  if (!isTerminal(job.status)) return await client.workers();
  return attempts.length === 0 ? [] : await client.workers().catch(() => []);
}

/** Why it does not run, or whether it is stuck. */
async function whyLines(
  out: Output,
  client: Longshore,
  job: Job,
  workers: readonly WorkerInfo[],
  now: Date,
): Promise<string[]> {
  const [definitions, pauses, tenant] = await Promise.all([
    client.definitions(),
    client.flow.pauses(),
    client.tenant(),
  ]);
  const related = job.waitsFor?.jobs ? await client.related(job.jobId) : undefined;
  const jobs = { parents: related?.parents, children: related };
  const why = whyNotRunning(job, { workers, definitions, pauses, tenant, ...jobs }, now);
  if (why === null) return [];
  const title = job.status === 'running' ? 'Is it stuck?' : 'Why isn’t it running?';
  const todo = why.todo === null ? [] : [`→ ${why.todo}`];
  const lines = job.status === 'cancelling' ? [] : [title];
  const log = OWNED_STATES.some((state) => state === job.status)
    ? await logLines(out, client, job, now)
    : [];
  return [
    ...lines,
    ...[why.headline, ...why.facts, ...todo, ...log].map((line) => `  ${printable(line)}`),
  ];
}

/** Lines read to find the last one. */
const LOG_LINES_MAX = 5_000;

/** The last thing that the running attempt said, and where to read the rest. */
async function logLines(out: Output, client: Longshore, job: Job, now: Date): Promise<string[]> {
  let last: JobLog | null = null;
  let count = 0;
  for await (const line of client.logs(job.jobId, { attempt: job.attempts })) {
    last = line;
    count += 1;
    if (count >= LOG_LINES_MAX) break;
  }
  const rest = `→ ${out.next(`logs ${job.jobId}`)}`;
  if (last === null) return ['No log output in this attempt.'];
  if (count >= LOG_LINES_MAX) return [`More than ${LOG_LINES_MAX} log lines.`, rest];
  return [`Last log line, ${timeSince(last.at, now)} ago: ${last.message.trim()}`, rest];
}

function section(out: Output, lines: readonly string[]): void {
  if (lines.length > 0) out.lines(['', ...lines]);
}

async function lastEvents(
  client: Longshore,
  id: string,
): Promise<{ last: JobEvent[]; earlier: number }> {
  const last: JobEvent[] = [];
  let earlier = 0;
  for await (const event of client.events(id)) {
    last.push(event);
    if (last.length > LAST_EVENTS) {
      last.shift();
      earlier += 1;
    }
  }
  return { last, earlier };
}

async function showEvents(out: Output, client: Longshore, id: string): Promise<void> {
  for await (const event of client.events(id)) {
    if (out.json) out.record(event);
    else out.lines([eventText(event)]);
    await out.drained();
  }
}
