import type { Command } from 'commander';
import type { DefinitionScale, Scale } from '../../../client/index.ts';
import { age, duration } from '../../../core/values/duration.ts';
import { limitedWords } from '../../../core/views/limited-words.ts';
import type { Cli } from '../../cli.ts';
import { whole } from '../../options/option-values.ts';
import { clientOf, outputOf } from '../../session.ts';
import { columns } from '../../text/columns.ts';

export function addScale(program: Command, cli: Cli): void {
  program
    .command('scale')
    .summary('show how many slots the load needs')
    .description('Show arrivals, run times and wanted slots per definition, for an autoscaler.')
    .option('--target-seconds <n>', 'in which time the backlog should drain; default 60', whole)
    .allowExcessArguments(false)
    .action(async ({ targetSeconds }: { targetSeconds?: number }, command: Command) => {
      const out = outputOf(cli, command);
      const scale = await clientOf(cli, command).scale({ targetSeconds });
      if (out.json) return out.document(scale);
      if (scale.definitions.length === 0) return out.note('No jobs yet.');
      out.table(columns([HEADER, ...scale.definitions.map(rowOf)], out.width));
      out.note(totalsText(scale));
      for (const one of scale.limited) out.note(limitedWords(one));
    });
}

const HEADER = 'DEFINITION WAITING RUNNING OLDEST ARRIVALS/S RUN WANTED SLOTS'.split(' ');

function rowOf(one: DefinitionScale): string[] {
  return [
    one.key,
    String(one.waiting),
    String(one.running),
    one.oldestAgeMs === null ? '-' : age(one.oldestAgeMs),
    String(Math.round(one.arrivalsPerSecond * 100) / 100),
    one.runMs === null ? '-' : duration(Math.round(one.runMs)),
    String(one.wantedSlots),
    String(one.slots),
  ];
}

function totalsText({ wantedSlots, slots, allTenants }: Scale): string {
  const whose = allTenants ? 'of all tenants' : 'of your tenant';
  return `Total ${whose}: ${wantedSlots} slots wanted, ${slots} present.`;
}
