import type { Command } from 'commander';
import type { Cli } from '../cli.ts';
import { findSchedule } from '../options/find-schedule.ts';
import { whole } from '../options/option-values.ts';
import { addPage, type PageFlags } from '../options/page-options.ts';
import { scheduleTable, scheduleText, slotTable, upcomingTable } from '../text/schedule-text.ts';
import { clientOf, outputOf } from '../session.ts';
import { addScheduleChanges } from './change-schedules.ts';

export function addSchedules(program: Command, cli: Cli): void {
  const schedules = program
    .command('schedules')
    .summary('look at schedules and change them')
    .description('Look at what makes jobs by the clock, and change it.');
  addList(schedules, cli);
  addShow(schedules, cli);
  addNext(schedules, cli);
  addSlots(schedules, cli);
  addScheduleChanges(schedules, cli);
}

function addList(schedules: Command, cli: Cli): void {
  const list = schedules
    .command('list')
    .description('List schedules, the newest first, one page at a time.')
    .option('--definition-key <key>', 'only of this definition');
  type Flags = PageFlags & { definitionKey?: string };
  addPage(list).action(async (flags: Flags, command: Command) => {
    const out = outputOf(cli, command);
    const page = await clientOf(cli, command).schedules.list(flags);
    if (out.json) return out.document(page);
    if (page.schedules.length === 0) out.note('No schedules match.');
    else out.table(scheduleTable(page.schedules, cli.clock.now(), out.width));
    out.noteMore(page.nextCursor);
  });
}

function addShow(schedules: Command, cli: Cli): void {
  schedules
    .command('show')
    .description('Show how a schedule is, in a sentence, and everything that is known of it.')
    .argument('<schedule>', 'its id, or its name')
    .action(async (name: string, _options: unknown, command: Command) => {
      const out = outputOf(cli, command);
      const schedule = await findSchedule(clientOf(cli, command), name);
      if (out.json) out.document(schedule);
      else out.lines(scheduleText(schedule, cli.clock.now()));
    });
}

function addNext(schedules: Command, cli: Cli): void {
  schedules
    .command('next')
    .description('Preview when it will run, with what clocks going forward or back do to it.')
    .argument('<schedule>', 'its id, or its name')
    .option('--count <number>', 'how many instants: 1 to 100, default 5', whole)
    .action(async (name: string, options: { count?: number }, command: Command) => {
      const out = outputOf(cli, command);
      const client = clientOf(cli, command);
      const { id } = await findSchedule(client, name);
      const next = await client.schedules.next(id, options.count);
      if (out.json) return out.document({ next });
      if (next.length === 0) out.note('It will not run any more.');
      else out.table(upcomingTable(next, cli.clock.now(), out.width));
    });
}

function addSlots(schedules: Command, cli: Cli): void {
  const slots = schedules
    .command('slots')
    .description('List what became of its slots, the newest first.')
    .argument('<schedule>', 'its id, or its name');
  addPage(slots).action(async (name: string, flags: PageFlags, command: Command) => {
    const out = outputOf(cli, command);
    const client = clientOf(cli, command);
    const { id } = await findSchedule(client, name);
    const page = await client.schedules.slots(id, flags);
    if (out.json) return out.document(page);
    if (page.slots.length === 0) out.note('Nothing was due yet.');
    else out.table(slotTable(page.slots, out.width));
    out.noteMore(page.nextCursor);
  });
}
