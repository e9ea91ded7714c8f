import type { Command } from 'commander';
import { type Environment, ownEnvironment } from '../../../config/environment.ts';
import type { ImportReport } from '../../../import/report.ts';
import type { Source } from '../../../import/source.ts';
import type { Cli } from '../../cli.ts';
import { exitCode } from '../../exit-codes.ts';
import { eachOf } from '../../options/option-values.ts';
import { UsageError } from '../../options/usage-error.ts';
import { clientOf, outputOf } from '../../session.ts';
import { importText, progressText } from '../../text/import-text.ts';

interface Options {
  from: string;
  queue?: string[];
  map?: string[];
  dryRun?: true;
  remove?: true;
  schema: string;
  prefix: string;
}

export function addImport(program: Command, cli: Cli): void {
  const group = program
    .command('import')
    .summary('import waiting jobs of pg-boss or BullMQ')
    .description(
      'Import jobs and schedules that wait in another system, over the API. A second run imports ' +
        'nothing twice. See docs/moving.',
    );
  const pgBoss = group
    .command('pg-boss')
    .description('Import the waiting jobs and the schedules of pg-boss 10 or newer.')
    .requiredOption('--from <url>', 'its database: a URL, or an environment variable that has it')
    .option('--queue <name>', 'only this queue; may be repeated', eachOf)
    .option('--schema <name>', 'schema of pg-boss', 'pgboss');
  addCommon(pgBoss, 'a queue becomes this definition, OLD=NEW; may be repeated').action(
    async (options: Options, command: Command) => {
      const url = sourceUrl(options.from, cli.env ?? ownEnvironment(), /^postgres(ql)?:/);
      await run(cli, command, options, async () => {
        const { PgBossSource } = await import('../../../import/pg-boss/pg-boss-source.ts');
        return await PgBossSource.open({
          url,
          schema: options.schema,
          queues: options.queue ?? [],
          lock: options.remove === true && !options.dryRun,
          now: () => cli.clock.now(),
        });
      });
    },
  );
  const bullmq = group
    .command('bullmq')
    .description(
      'Import the waiting jobs and the job schedulers of queues of BullMQ 5 or 6 in Redis. Needs ' +
        'the package bullmq.',
    )
    .requiredOption('--from <url>', 'its Redis: a URL, or an environment variable that has it')
    .requiredOption('--queue <name>', 'a queue; may be repeated', eachOf)
    .option('--prefix <name>', 'prefix of its keys', 'bull');
  addCommon(bullmq, 'jobs of a name become this definition, OLD=NEW; may be repeated').action(
    async (options: Options, command: Command) => {
      const url = sourceUrl(options.from, cli.env ?? ownEnvironment(), /^rediss?:/);
      await run(cli, command, options, async () => {
        const { BullmqSource } = await import('../../../import/bullmq/bullmq-source.ts');
        return await BullmqSource.open({
          url,
          prefix: options.prefix,
          queues: options.queue ?? [],
          refuseWorkers: !options.dryRun,
        });
      });
    },
  );
}

function addCommon(command: Command, map: string): Command {
  return command
    .option('--map <old=new>', map, eachOf)
    .option('--dry-run', 'only count')
    .option('--remove', 'delete there what is stored here');
}

async function run(
  cli: Cli,
  command: Command,
  options: Options,
  open: () => Promise<Source>,
): Promise<void> {
  const out = outputOf(cli, command);
  const client = clientOf(cli, command);
  const { DefinitionMap } = await import('../../../import/definition-map.ts');
  const { importJobs } = await import('../../../import/import-jobs.ts');
  const { ImportRefused } = await import('../../../import/source.ts');
  const { dryRun = false, remove = false } = options;
  try {
    const map = DefinitionMap.parse(options.map ?? []);
    const source = await open();
    try {
      const onProgress = (jobs: number) => out.isTerminal && out.status(progressText(jobs));
      const report = await importJobs({ source, client, map, dryRun, remove, onProgress });
      if (out.isTerminal) out.status('');
      if (out.json) out.document(report satisfies ImportReport);
      else out.lines(importText(report, out.width));
      if (report.refused > 0) cli.exitCode = exitCode('failed');
    } finally {
      await source.close();
    }
  } catch (error) {
    if (error instanceof ImportRefused) throw new UsageError(error.message, { cause: error });
    throw error;
  }
}

/** A URL with a password comes from the environment: other users can read the command line. */
function sourceUrl(from: string, env: Environment, scheme: RegExp): string {
  const isUrl = from.includes('://');
  const url = isUrl ? from : env[from];
  if (url === undefined) {
    throw new UsageError(`--from: there is neither a URL nor an environment variable "${from}"`);
  }
  if (!URL.canParse(url) || !scheme.test(url)) {
    const wanted = scheme.test('redis:') ? 'redis:// or rediss://' : 'postgres://';
    throw new UsageError(`--from must be a ${wanted} URL`);
  }
  if (isUrl && new URL(url).password !== '') {
    throw new UsageError(
      'other users can read a password on the command line: set an environment variable to the ' +
        'URL, and use --from NAME',
    );
  }
  return url;
}
