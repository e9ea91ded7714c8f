import type { Command } from 'commander';
import type { PreviewOptions } from '../../client/index.ts';
import type { Cli } from '../cli.ts';
import { definitionOption } from '../options/definition-option.ts';
import { findSchedule } from '../options/find-schedule.ts';
import { noteUnknown } from '../options/known-definition.ts';
import { whole } from '../options/option-values.ts';
import { addPage, type PageFlags } from '../options/page-options.ts';
import { scheduleTable, scheduleText, slotTable, upcomingTable } from '../text/schedule-text.ts';
import { clientOf, outputOf } from '../session.ts';
import { addDstPolicies, addScheduleChanges } from './change-schedules.ts';

export function addSchedules(program: Command, cli: Cli): void {
  const schedules = program
    .command('schedules')
    .summary('list and change schedules')
    .description('List, show, create and change schedules.');
  addList(schedules, cli);
  addShow(schedules, cli);
  addNext(schedules, cli);
  addPreview(schedules, cli);
  addSlots(schedules, cli);
  addScheduleChanges(schedules, cli);
}

function addList(schedules: Command, cli: Cli): void {
  const list = schedules
    .command('list')
    .description('List schedules, newest first, one page at a time.')
    .addOption(definitionOption('only schedules of this definition'));
  type Flags = PageFlags & { definitionKey?: string };
  addPage(list).action(async (flags: Flags, command: Command) => {
    const out = outputOf(cli, command);
    const client = clientOf(cli, command);
    const page = await client.schedules.list(flags);
    if (out.json) return out.document(page);
    if (page.schedules.length === 0) {
      out.note('No matching schedules.');
      await noteUnknown(out, client, flags.definitionKey);
    } else out.table(scheduleTable(page.schedules, cli.clock.now(), out.width));
    out.noteMore(page.nextCursor);
  });
}

function addShow(schedules: Command, cli: Cli): void {
  schedules
    .command('show')
    .description('Show the state and all data of a schedule.')
    .argument('<schedule>', 'id or name of the schedule')
    .action(async (name: string, _options: unknown, command: Command) => {
      const out = outputOf(cli, command);
      const client = clientOf(cli, command);
      const schedule = await findSchedule(client, name);
      if (out.json) return out.document(schedule);
      out.lines(scheduleText(schedule, cli.clock.now()));
      await noteUnknown(out, client, schedule.definitionKey);
    });
}

function addNext(schedules: Command, cli: Cli): void {
  schedules
    .command('next')
    .description('Preview its next runs, with the effect of DST changes.')
    .argument('<schedule>', 'id or name of the schedule')
    .option('--count <number>', 'number of runs: 1 to 100, default 5', whole)
    .action(async (name: string, options: { count?: number }, command: Command) => {
      const out = outputOf(cli, command);
      const client = clientOf(cli, command);
      const { id } = await findSchedule(client, name);
      const next = await client.schedules.next(id, options.count);
      if (out.json) return out.document({ next });
      if (next.length === 0) out.note('No more runs.');
      else out.table(upcomingTable(next, cli.clock.now(), out.width));
    });
}

function addPreview(schedules: Command, cli: Cli): void {
  const preview = schedules
    .command('preview')
    .description('Preview the runs of a cron expression, without a schedule.')
    .argument('<cron>', 'a cron expression in quotes, or a nickname like @daily')
    .option('--count <number>', 'number of runs: 1 to 100, default 5', whole)
    .option('--timezone <zone>', 'an IANA time zone like Europe/Berlin; default UTC')
    .option('--start-at <time>', 'no slot before this time, like 2030-01-31T08:00:00Z')
    .option('--end-at <time>', 'no slot at this time or later');
  addDstPolicies(preview);
  type Flags = PreviewOptions & { count?: number };
  preview.action(async (cron: string, { count, ...timing }: Flags, command: Command) => {
    const out = outputOf(cli, command);
    const next = await clientOf(cli, command).schedules.preview(cron, timing, count);
    if (out.json) out.document({ next });
    else out.table(upcomingTable(next, cli.clock.now(), out.width));
  });
}

function addSlots(schedules: Command, cli: Cli): void {
  const slots = schedules
    .command('slots')
    .description('List its slots and their outcomes, newest first.')
    .argument('<schedule>', 'id or name of the schedule');
  addPage(slots).action(async (name: string, flags: PageFlags, command: Command) => {
    const out = outputOf(cli, command);
    const client = clientOf(cli, command);
    const { id } = await findSchedule(client, name);
    const page = await client.schedules.slots(id, flags);
    if (out.json) return out.document(page);
    if (page.slots.length === 0) out.note('No slots yet.');
    else out.table(slotTable(page.slots, out.width));
    out.noteMore(page.nextCursor);
  });
}
