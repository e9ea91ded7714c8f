import type { Command } from 'commander';
import type { DefinitionStats, Stats } from '../../../client/index.ts';
import { JOB_STATES } from '../../../core/job/job.ts';
import type { Cli } from '../../cli.ts';
import { columns } from '../../text/columns.ts';
import { age } from '../../../core/values/duration.ts';
import { rangeText } from '../../../core/series/histogram.ts';
import { whole } from '../../options/option-values.ts';
import { clientOf, outputOf } from '../../session.ts';

export function addStats(program: Command, cli: Cli): void {
  program
    .command('stats')
    .summary('show statistics of the queues')
    .description('Show job counts, queue times, run times and success rates per definition.')
    .option('--window-minutes <n>', 'window of rates and times; default 60', whole)
    .allowExcessArguments(false)
    .action(async ({ windowMinutes }: { windowMinutes?: number }, command: Command) => {
      const out = outputOf(cli, command);
      const client = clientOf(cli, command);
      // The table has no column for the throughput, so only --json contains it.
      const stats = await client.stats({ windowMinutes, ...(!out.json && { seriesMinutes: 1 }) });
      if (out.json) return out.document(stats);
      if (stats.definitions.length === 0) return out.note('No jobs yet.');
      out.table(columns([HEADER, ...stats.definitions.map(rowOf)], out.width));
      out.note(totalsText(stats));
    });
}

const HEADER = `DEFINITION QUEUED RUNNING RETRYING SCHEDULED FAILED OLDEST SUCCESS WAIT-P95 RUN-P95
  RETRIES`.split(/\s+/);

function rowOf(one: DefinitionStats): string[] {
  const { states, oldestAgeMs, successRate, waitMs, runMs } = one;
  const { retrying, scheduled, failed } = states;
  const orNone = <T>(value: T | null, text: (value: T) => string) =>
    value === null ? '-' : text(value);
  return [
    one.key,
    ...[one.depth, one.running, retrying, scheduled, failed].map(String),
    orNone(oldestAgeMs, age),
    orNone(successRate, (rate) => `${Math.floor(rate * 1_000) / 10} %`),
    orNone(waitMs.p95, rangeText),
    orNone(runMs.p95, rangeText),
    String(one.retries),
  ];
}

function totalsText({ totals }: Stats): string {
  const present = JOB_STATES.filter((state) => totals[state] > 0);
  return `Total: ${present.map((state) => `${totals[state]} ${state}`).join(', ') || 'no jobs'}.`;
}
