import type { Command } from 'commander';
import type { Shard, Shards } from '../../../client/index.ts';
import { age } from '../../../core/values/duration.ts';
import type { Cli } from '../../cli.ts';
import { clientOf, outputOf } from '../../session.ts';
import { columns } from '../../text/columns.ts';

export function addShards(program: Command, cli: Cli): void {
  program
    .command('shards')
    .summary('show where each shard lives, its depth, rates and lag')
    .description(
      'Show each shard: its database, its jobs by state, the wait of its oldest queued job, and its rates.',
    )
    .allowExcessArguments(false)
    .action(async (_: object, command: Command) => {
      const out = outputOf(cli, command);
      const shards = await clientOf(cli, command).shards();
      if (out.json) return out.document(shards);
      out.table(columns([HEADER, ...shards.shards.map(rowOf)], out.width));
      out.note(...notesOf(shards));
    });
}

const HEADER =
  'SHARD NODE QUEUED RUNNING SCHEDULED RETRYING SUSPENDED OLDEST LATE IN/S OUT/S WORKERS DEAD'.split(
    ' ',
  );

function rowOf({ shard, node, jobs, workers, ...one }: Shard): string[] {
  return [
    String(shard),
    node ?? '-',
    numberOr(jobs?.queued),
    numberOr(jobs && jobs.running + jobs.cancelling),
    numberOr(jobs && jobs.scheduled + jobs.created),
    numberOr(jobs?.retrying),
    numberOr(jobs?.suspended),
    one.oldestAgeMs === null ? '-' : age(one.oldestAgeMs),
    one.lateMs === null || one.lateMs === 0 ? '-' : age(one.lateMs),
    numberOr(one.enqueuedPerSecond),
    numberOr(one.endedPerSecond),
    numberOr(workers?.live),
    numberOr(workers?.dead),
  ];
}

function numberOr(value: number | null | undefined): string {
  return value === null || value === undefined ? '-' : String(value);
}

function notesOf({ shards, windowSeconds }: Shards): string[] {
  const failed = shards.flatMap(({ shard, problem }) =>
    problem === null ? [] : [`Shard ${shard} could not be read: ${problem}`],
  );
  const nodes = new Set(shards.flatMap(({ node }) => node ?? []));
  const where =
    shards.length === 1
      ? 'There is one shard (LONGSHORE_SHARDS); it is set at the first migration.'
      : `${shards.length} shards on ${nodes.size} database${nodes.size === 1 ? '' : 's'}.`;
  return [...failed, `${where} Rates are of the last ${windowSeconds} s.`];
}
