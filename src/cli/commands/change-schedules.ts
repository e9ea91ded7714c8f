import { type Command, Option } from 'commander';
import type { Schedule, ScheduleOptions } from '../../client/index.ts';
import { CATCH_UPS, DST_GAPS, DST_REPEATS, OVERLAPS } from '../../core/schedule/schedule.ts';
import type { Cli } from '../cli.ts';
import { confirm } from '../options/confirm.ts';
import { findSchedule } from '../options/find-schedule.ts';
import { whole } from '../options/option-values.ts';
import type { Output } from '../text/output.ts';
import { readParams } from '../options/params-argument.ts';
import { printable } from '../../core/values/printable.ts';
import { scheduleSentence } from '../text/schedule-text.ts';
import { clientOf, outputOf } from '../session.ts';
import { UsageError } from '../options/usage-error.ts';
import { warningText } from './jobs/wait/await-worker.ts';

type Options = Omit<ScheduleOptions, 'params'> & { params?: string; paused?: true; cron?: string };

type CreateOptions = Options & { requireRegistered?: true };

export function addScheduleChanges(schedules: Command, cli: Cli): void {
  const create = schedules
    .command('create')
    .description('Create a schedule and print its id.')
    .argument('<key>', 'the key of the definition')
    .argument('<cron>', 'a cron expression in quotes, or a nickname like @daily')
    .option('--paused', 'create it paused; start it with `longshore schedules resume`')
    .option('--require-registered', 'refuse it if no worker has registered the definition')
    .action(async (key: string, cron: string, options: CreateOptions, command: Command) => {
      const out = outputOf(cli, command);
      const { paused, ...given } = options;
      const wanted = { ...(await readOptions(given, cli)), enabled: paused ? false : undefined };
      const made = await clientOf(cli, command).schedules.create(key, cron, wanted);
      printId(cli, out, made);
      // In JSON they are part of the schedule.
      if (!out.json)
        for (const { detail } of made.warnings ?? []) out.note(warningText(out, detail));
    });
  addPolicies(create);

  const update = schedules
    .command('update')
    .description('Change a schedule; other fields stay unchanged.')
    .argument('<schedule>', 'id or name of the schedule')
    .option('--cron <cron>', 'a cron expression in quotes, or a nickname like @daily')
    .action(async (name: string, options: Options, command: Command) => {
      if (Object.keys(options).length === 0)
        throw new UsageError('nothing to change: give at least one flag');
      const out = outputOf(cli, command);
      const client = clientOf(cli, command);
      const { id } = await findSchedule(client, name);
      printId(cli, out, await client.schedules.update(id, await readOptions(options, cli)));
    });
  addPolicies(update);

  schedules
    .command('pause')
    .description('Pause schedules: no slot fires until they are resumed.')
    .argument('<schedule...>', 'ids or names of schedules')
    .option('--reason <text>', 'the reason, shown to other users')
    .action(async (names: string[], { reason }: { reason?: string }, command: Command) => {
      const { schedules: client } = clientOf(cli, command);
      await changeEach(cli, command, names, async (id) => await client.pause(id, reason));
    });

  schedules
    .command('resume')
    .description('Resume schedules: they continue with their next slot.')
    .argument('<schedule...>', 'ids or names of schedules')
    .action(async (names: string[], _options: unknown, command: Command) => {
      const { schedules: client } = clientOf(cli, command);
      await changeEach(cli, command, names, async (id) => await client.resume(id));
    });

  schedules
    .command('trigger')
    .description('Enqueue one of its jobs now, even while it is paused, and print the job id.')
    .argument('<schedule>', 'id or name of the schedule')
    .action(async (name: string, _options: unknown, command: Command) => {
      const out = outputOf(cli, command);
      const client = clientOf(cli, command);
      const { id } = await findSchedule(client, name);
      const made = await client.schedules.trigger(id);
      if (out.json) return out.document(made);
      out.lines([made.jobId]);
      out.note(`show it with: ${out.next(`show ${made.jobId}`)}`);
    });

  schedules
    .command('delete')
    .description('Delete a schedule and its slots. Its jobs are kept.')
    .argument('<schedule>', 'id or name of the schedule')
    .option('--yes', 'do not ask for confirmation')
    .action(async (name: string, options: { yes?: true }, command: Command) => {
      const out = outputOf(cli, command);
      const client = clientOf(cli, command);
      const { id, definitionKey, cron } = await findSchedule(client, name);
      const question = `Delete the schedule "${cron}" of ${definitionKey}?`;
      if (!options.yes && !(await confirm(cli, printable(question)))) {
        return out.note('Nothing was deleted.');
      }
      await client.schedules.delete(id);
      if (out.json) out.document({ id, deleted: true });
      else out.lines([id]);
    });
}

async function changeEach(
  cli: Cli,
  command: Command,
  names: readonly string[],
  change: (id: string) => Promise<Schedule>,
): Promise<void> {
  const out = outputOf(cli, command);
  const client = clientOf(cli, command);
  const changed: Schedule[] = [];
  for (const name of names) {
    const { id } = await findSchedule(client, name);
    const schedule = await change(id);
    changed.push(schedule);
    if (!out.json) printId(cli, out, schedule);
  }
  if (out.json) out.document({ schedules: changed });
}

/** Prints only the id to stdout, for use by other commands. */
function printId(cli: Cli, out: Output, schedule: Schedule): void {
  if (out.json) return out.document(schedule);
  out.lines([schedule.id]);
  out.note(printable(scheduleSentence(schedule, cli.clock.now())));
}

async function readOptions<Given extends Options>({ params, ...options }: Given, cli: Cli) {
  const read = await readParams(params, cli.stdin);
  return { ...options, ...(read !== undefined && { params: read }) };
}

function addPolicies(command: Command): void {
  command
    .option('--name <name>', 'a name for the schedule')
    .option('--timezone <zone>', 'an IANA time zone like Europe/Berlin; default UTC')
    .option('--params <params>', 'JSON, @file, or - to read stdin')
    .option('--priority <number>', 'the priority of its jobs', whole)
    .option('--definition-version <number>', 'default: the highest published version', whole)
    .option('--start-at <time>', 'no slot before this time, like 2030-01-31T08:00:00Z')
    .option('--end-at <time>', 'no slot at this time or later')
    .option('--jitter-ms <ms>', 'delay each job by a random time up to this', whole)
    .option('--catch-up-window-ms <ms>', 'do not catch up slots older than this', whole)
    .option('--catch-up-max <number>', 'with --catch-up all, at most this many slots', whole);
  addDstPolicies(command);
  addPolicy(command, '--catch-up', 'slots missed while no scheduler ran', CATCH_UPS);
  addPolicy(command, '--overlap', 'when an earlier job is still running', OVERLAPS);
}

export function addDstPolicies(command: Command): void {
  addPolicy(command, '--dst-gap', 'a local time skipped by DST', DST_GAPS);
  addPolicy(command, '--dst-repeat', 'a local time repeated by DST', DST_REPEATS);
}

function addPolicy(command: Command, flag: string, help: string, choices: readonly string[]): void {
  command.addOption(new Option(`${flag} <policy>`, help).choices(choices));
}
