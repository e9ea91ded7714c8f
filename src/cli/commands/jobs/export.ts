import { createWriteStream } from 'node:fs';
import { once } from 'node:events';
import { finished } from 'node:stream/promises';
import { type Command, Option } from 'commander';
import type { ExportOptions } from '../../../client/index.ts';
import {
  EXPORT_FORMATS,
  EXPORT_ROWS_MAX,
  ExportCount,
  type ExportFormat,
} from '../../../core/search/job-export.ts';
import type { Cli } from '../../cli.ts';
import { addJobFilter, searchFilter } from '../../options/job-filter-options.ts';
import { whole } from '../../options/option-values.ts';
import { filterOfView } from '../../options/saved-view.ts';
import { clientOf, outputOf } from '../../session.ts';

type Options = Omit<ExportOptions, 'signal'> & {
  format?: ExportFormat;
  output?: string;
  view?: string;
};

export function addExport(program: Command, cli: Cli): void {
  const command = program
    .command('export')
    .summary('write jobs to a CSV or JSONL file')
    .description('Write all matching jobs as CSV or JSONL, newest first. Secrets are redacted.');
  addJobFilter(command)
    .addOption(
      new Option('--format <format>', 'default: by the name of the file, else csv').choices(
        EXPORT_FORMATS,
      ),
    )
    .option('--output <file>', 'write to this file instead of stdout')
    .option(
      '--limit <number>',
      `maximum number of jobs: 1 to ${EXPORT_ROWS_MAX}, the default`,
      whole,
    )
    .option('--after <id>', 'continue after this job: the last one of the previous export')
    .option('--sort <order>', '-createdAt (newest first) or createdAt')
    .option('--view <name>', 'a saved view of jobs; see longshore views')
    .action(async (words: string[], options: Options, own: Command) => {
      const { format: asked, output, view, ...filter } = options;
      const out = outputOf(cli, own);
      const client = clientOf(cli, own);
      const format = asked ?? (out.json || output?.endsWith('.jsonl') ? 'jsonl' : 'csv');
      const { q: saved = '', ...kept } = await filterOfView(client, view, cli.clock.now());
      const search = searchFilter([saved, ...words], { ...kept, ...filter });
      const count = new ExportCount(format);
      const parts = client.export(format, search);
      // A refusal comes before the file is created.
      const first = await parts.next();
      const file = output === undefined ? null : createWriteStream(output);
      const target = file ?? cli.stdout;
      const write = async (text: string) => {
        count.add(text);
        if (!target.write(text)) await once(target, 'drain');
      };
      if (!first.done) await write(first.value);
      for await (const part of parts) await write(part);
      if (file) {
        file.end();
        await finished(file);
      }
      const { rows, lastId } = count;
      out.note(`${rows.toLocaleString('en')} ${rows === 1 ? 'job' : 'jobs'}.`);
      if (rows >= (filter.limit ?? EXPORT_ROWS_MAX) && lastId !== null) {
        out.note(`The limit is reached. There may be more: --after ${lastId}`);
      }
    });
}
