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
    .description('Make a schedule and print its id.')
    .argument('<key>', 'the key of the definition')
    .argument('<cron>', 'a cron expression in quotes, or a nickname like @daily')
    .option('--paused', 'do not run before `longshore schedules resume`')
    .action(async (key: string, cron: string, options: Options, command: Command) => {
      const out = outputOf(cli, command);
      const { paused, ...given } = options;
      const wanted = { ...(await readOptions(given, cli)), enabled: paused ? false : undefined };
      tell(cli, out, await clientOf(cli, command).schedules.create(key, cron, wanted));
    });
  addPolicies(create);

  const update = schedules
    .command('update')
    .description('Change a schedule; what is not named stays as it is.')
    .argument('<schedule>', 'its id, or its name')
    .option('--cron <cron>', 'a cron expression in quotes, or a nickname like @daily')
    .action(async (name: string, options: Options, command: Command) => {
      if (Object.keys(options).length === 0) throw new UsageError('say what to change, by a flag');
      const out = outputOf(cli, command);
      const client = clientOf(cli, command);
      const { id } = await findSchedule(client, name);
      tell(cli, out, await client.schedules.update(id, await readOptions(options, cli)));
    });
  addPolicies(update);

  for (const [verb, description] of [
    ['pause', 'Pause schedules: no slot fires until they are resumed.'],
    ['resume', 'Resume schedules: they go on with their first slot from now on.'],
  ] as const) {
    schedules
      .command(verb)
      .description(description)
      .argument('<schedule...>', 'their ids, or names')
      .action(async (names: string[], _options: unknown, command: Command) => {
        const out = outputOf(cli, command);
        await changeEach(cli, out, clientOf(cli, command), names, verb);
      });
  }

  schedules
    .command('trigger')
    .description('Make one of its jobs now, also while it is paused, and print the id of the job.')
    .argument('<schedule>', 'its id, or its name')
    .action(async (name: string, _options: unknown, command: Command) => {
      const out = outputOf(cli, command);
      const client = clientOf(cli, command);
      const { id } = await findSchedule(client, name);
      const made = await client.schedules.trigger(id);
      if (out.json) return out.document(made);
      out.lines([made.jobId]);
      out.note(`look at it with: longshore show ${made.jobId}`);
    });

  schedules
    .command('delete')
    .description('Delete a schedule with its slots. Jobs that it made go on.')
    .argument('<schedule>', 'its id, or its name')
    .option('--yes', 'do not ask')
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
    if (!out.json) tell(cli, out, schedule);
  }
  if (out.json) out.document({ schedules: changed });
}

/** The id alone is on stdout, so that it can be used by the next command. */
function tell(cli: Cli, out: Output, schedule: Schedule): void {
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
    .option('--name <name>', 'a word to know it by')
    .option('--timezone <zone>', 'an IANA time zone like Europe/Berlin; UTC is usual')
    .option('--params <params>', 'JSON, @file, or - to read stdin')
    .option('--priority <number>', 'the priority of its jobs', whole)
    .option('--definition-version <number>', 'default: the highest published one', whole)
    .option('--start-at <time>', 'no slot before this time, like 2030-01-31T08:00:00Z')
    .option('--end-at <time>', 'no slot at this time or later')
    .option('--jitter-ms <ms>', 'spread jobs over so long after their slot', whole)
    .option('--catch-up-window-ms <ms>', 'make good for nothing older than this', whole)
    .option('--catch-up-max <number>', 'with --catch-up all, the newest so many at most', whole);
  policy('--dst-gap', 'a local time that does not exist', DST_GAPS);
  policy('--dst-repeat', 'a local time that comes twice', DST_REPEATS);
  policy('--catch-up', 'slots that nobody saw', CATCH_UPS);
  policy('--overlap', 'while an earlier job goes on', OVERLAPS);
}
