import type { Command } from 'commander';
import type { JobEvent, Longshore } from '../../../client/index.ts';
import type { Cli } from '../../cli.ts';
import { clip } from '../../text/columns.ts';
import { jobText } from '../../text/job-text.ts';
import type { Output } from '../../text/output.ts';
import { clientOf, outputOf } from '../../session.ts';
import { attemptRows, eventText } from '../../text/history-text.ts';

const LAST_EVENTS = 10;

export function addShow(program: Command, cli: Cli): void {
  program
    .command('show')
    .summary('show one job')
    .description('Show the state and all data of a job.')
    .argument('<id>', 'the id of the job')
    .option('--events', 'print all events of the job instead')
    .option('--reveal', 'show redacted values; needs jobs:reveal, and is audited')
    .action(async (id: string, { events, reveal }: Options, command: Command) => {
      const out = outputOf(cli, command);
      const client = clientOf(cli, command);
      if (events) await showEvents(out, client, id);
      else await showJob(out, client, id, cli.clock.now(), reveal);
    });
}

interface Options {
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
  const { last, earlier } = await lastEvents(client, id);
  out.lines(jobText(job, now));
  section(out, attemptRows(attempts, out.width));
  section(out, [
    ...(earlier > 0 ? [`… ${earlier} earlier events: longshore show ${id} --events`] : []),
    ...last.map((event) => clip(eventText(event), out.width)),
  ]);
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
