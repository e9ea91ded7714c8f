import type { Command } from 'commander';
import type { Cli } from '../cli.ts';
import { findSchedule } from '../find-schedule.ts';
import { whole } from '../option-values.ts';
import type { Output } from '../output.ts';
import { scheduleTable, scheduleText, slotTable, upcomingTable } from '../schedule-text.ts';
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
  interface Options {
    definitionKey?: string;
    limit?: number;
    cursor?: string;
  }
  schedules
    .command('list')
    .description('List schedules, the newest first, one page at a time.')
    .option('--definition-key <key>', 'only of this definition')
    .option('--limit <number>', 'how many at most: 1 to 200, default 50', whole)
    .option('--cursor <cursor>', 'go on where the page before ended')
    .action(async (options: Options, command: Command) => {
      const out = outputOf(cli, command);
      const page = await clientOf(cli, command).schedules.list(options);
      if (out.json) return out.document(page);
      if (page.schedules.length === 0) out.note('No schedules match.');
      else printTable(out, scheduleTable(page.schedules, cli.clock.now(), out.width));
      noteCursor(out, page.nextCursor);
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
      else printTable(out, upcomingTable(next, cli.clock.now(), out.width));
    });
}

function addSlots(schedules: Command, cli: Cli): void {
  schedules
    .command('slots')
    .description('List what became of its slots, the newest first.')
    .argument('<schedule>', 'its id, or its name')
    .option('--limit <number>', 'how many at most: 1 to 200, default 50', whole)
    .option('--cursor <cursor>', 'go on where the page before ended')
    .action(async (name: string, page: { limit?: number; cursor?: string }, command: Command) => {
      const out = outputOf(cli, command);
      const client = clientOf(cli, command);
      const { id } = await findSchedule(client, name);
      const { slots, nextCursor } = await client.schedules.slots(id, page);
      if (out.json) return out.document({ slots, nextCursor });
      if (slots.length === 0) out.note('Nothing was due yet.');
      else printTable(out, slotTable(slots, out.width));
      noteCursor(out, nextCursor);
    });
}

function printTable(out: Output, [header = '', ...lines]: readonly string[]): void {
  out.lines([out.paint('bold', header), ...lines]);
}

function noteCursor(out: Output, cursor: string | null): void {
  if (cursor !== null) out.note(`There are more: --cursor ${cursor}`);
}
