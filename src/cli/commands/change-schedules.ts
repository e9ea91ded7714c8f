import { type Command, Option } from 'commander';
import type { Longshore, Schedule, ScheduleOptions } from '../../client/index.ts';
import { CATCH_UPS, DST_GAPS, DST_REPEATS, OVERLAPS } from '../../core/schedule/schedule.ts';
import type { Cli } from '../cli.ts';
import { confirm } from '../options/confirm.ts';
import { findSchedule } from '../options/find-schedule.ts';
import { whole } from '../options/option-values.ts';
import type { Output } from '../text/output.ts';
import { readParams } from '../options/params-argument.ts';
import { printable } from '../text/printable.ts';
import { scheduleSentence } from '../text/schedule-text.ts';
import { clientOf, outputOf } from '../session.ts';
import { UsageError } from '../options/usage-error.ts';

type Options = Omit<ScheduleOptions, 'params'> & { params?: string; paused?: true; cron?: string };

export function addScheduleChanges(schedules: Command, cli: Cli): void {
  const create = schedules
    .command('create')
    .description('Create a schedule and print its id.')
    .argument('<key>', 'the key of the definition')
    .argument('<cron>', 'a cron expression in quotes, or a nickname like @daily')
    .option('--paused', 'create it paused; start it with `longshore schedules resume`')
    .action(async (key: string, cron: string, options: Options, command: Command) => {
      const out = outputOf(cli, command);
      const { paused, ...given } = options;
      const wanted = { ...(await readOptions(given, cli)), enabled: paused ? false : undefined };
      printId(cli, out, await clientOf(cli, command).schedules.create(key, cron, wanted));
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

  for (const [verb, description] of [
    ['pause', 'Pause schedules: no slot fires until they are resumed.'],
    ['resume', 'Resume schedules: they continue with their next slot.'],
  ] as const) {
    schedules
      .command(verb)
      .description(description)
      .argument('<schedule...>', 'ids or names of schedules')
      .action(async (names: string[], _options: unknown, command: Command) => {
        const out = outputOf(cli, command);
        await changeEach(cli, out, clientOf(cli, command), names, verb);
      });
  }

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
      out.note(`show it with: longshore show ${made.jobId}`);
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
  out: Output,
  client: Longshore,
  names: readonly string[],
  verb: 'pause' | 'resume',
): Promise<void> {
  const changed: Schedule[] = [];
  for (const name of names) {
    const { id } = await findSchedule(client, name);
    const schedule = await client.schedules[verb](id);
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

async function readOptions({ params, ...options }: Options, cli: Cli) {
  const read = await readParams(params, cli.stdin);
  return { ...options, ...(read !== undefined && { params: read }) };
}

function addPolicies(command: Command): void {
  const policy = (flag: string, help: string, choices: readonly string[]) =>
    command.addOption(new Option(`${flag} <policy>`, help).choices(choices));
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
  policy('--dst-gap', 'a local time skipped by DST', DST_GAPS);
  policy('--dst-repeat', 'a local time repeated by DST', DST_REPEATS);
  policy('--catch-up', 'slots missed while no scheduler ran', CATCH_UPS);
  policy('--overlap', 'when an earlier job is still running', OVERLAPS);
}
