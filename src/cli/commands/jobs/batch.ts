import { Readable } from 'node:stream';
import { type Command, InvalidArgumentError } from 'commander';
import type { Batch, BatchOptions, Longshore } from '../../../client/index.ts';
import {
  BATCHES_PAGE_MAX,
  countsText,
  MEMBER_STATES,
  type MemberState,
} from '../../../core/batch/batch.ts';
import { age } from '../../../core/values/duration.ts';
import { unknownName } from '../../../core/values/nearest.ts';
import type { Cli } from '../../cli.ts';
import { exitCode } from '../../exit-codes.ts';
import { findBatchId } from '../../options/find-id.ts';
import { readJobLines, readSomeJobLines } from './job-lines.ts';
import { secondsAsMs, whole } from '../../options/option-values.ts';
import { readParams } from '../../options/params-argument.ts';
import { UsageError } from '../../options/usage-error.ts';
import { clientOf, outputOf } from '../../session.ts';
import { columns } from '../../text/columns.ts';
import { awaitWorker, warningText } from './wait/await-worker.ts';
import { unheardBatch, waitForBatch } from './wait/wait-for-batch.ts';

export function addBatch(program: Command, cli: Cli): void {
  const batch = program
    .command('batch')
    .summary('make, list, fill, close, retry and cancel batches')
    .description('Manage batches: jobs that end together, with jobs that run after the last.');
  addCreate(batch, cli);
  addList(batch, cli);
  addJobs(batch, cli);
  addAdd(batch, cli);
  const change = (
    name: string,
    about: string,
    work: (client: Longshore, id: string) => Promise<Batch>,
  ) =>
    batch
      .command(name)
      .description(about)
      .argument('<id>', 'the id of the batch')
      .action(async (typed: string, _options: unknown, command: Command) => {
        const client = clientOf(cli, command);
        print(cli, command, await work(client, await findBatchId(client, typed)));
      });
  change('show', 'Show a batch.', async (client, id) => await client.batches.get(id));
  change('close', 'Accept no more jobs.', async (client, id) => await client.batches.close(id));
  change(
    'retry',
    'Retry the jobs of a batch that failed or were cancelled.',
    async (client, id) => await client.batches.retry(id),
  );
  change(
    'cancel',
    'Cancel a batch and its jobs.',
    async (client, id) => await client.batches.cancel(id),
  );
}

function print(cli: Cli, command: Command, batch: Batch): void {
  const out = outputOf(cli, command);
  if (out.json) return out.document(batch);
  const { id, name, status } = batch;
  const callbacks = (['onComplete', 'onSuccess'] as const).flatMap((field) =>
    batch[field] === null ? [] : [`${field.padEnd(10)}  ${batch[field]}`],
  );
  const title = name === null ? '' : `  ${name}`;
  out.lines([`${id}  ${status}${title}`, countsText(batch), ...callbacks]);
}

interface CreateFlags {
  idempotencyKey?: string;
  onComplete?: string;
  onCompleteParams?: string;
  onSuccess?: string;
  onSuccessParams?: string;
  name?: string;
  open?: boolean;
  wait?: boolean;
  timeout?: number;
}

function addCreate(batch: Command, cli: Cli): void {
  batch
    .command('create')
    .description('Make a batch of the jobs of a file.')
    .argument('<file>', FILE)
    .option('--on-complete <key>', 'the definition of a job to run when all have ended')
    .option('--on-complete-params <params>', 'its params: JSON or @file')
    .option('--on-success <key>', 'the definition of a job to run when all have succeeded')
    .option('--on-success-params <params>', 'its params: JSON or @file')
    .option('--name <name>', 'the name of the batch')
    .option('--open', 'accept more jobs until it is closed')
    .option('--idempotency-key <key>', KEY)
    .option('--wait', 'wait until it has ended; exit 0 if it succeeded, else 1')
    .option('--timeout <seconds>', 'maximum time to wait (exit 7)', secondsAsMs)
    .action(async (file: string, flags: CreateFlags, command: Command) => {
      const { onComplete, onSuccess, name, open = false, wait = false, timeout } = flags;
      const { idempotencyKey } = flags;
      if (open && wait) {
        throw new UsageError('an open batch does not end: leave out --open or --wait');
      }
      if (timeout !== undefined && !wait) throw new UsageError('--timeout needs --wait');
      const options: BatchOptions = {
        open,
        name,
        idempotencyKey,
        onComplete: await callback('complete', onComplete, flags.onCompleteParams),
        onSuccess: await callback('success', onSuccess, flags.onSuccessParams),
      };
      const read = open ? readJobLines : readSomeJobLines;
      const lines = await read(file, cli.stdin);
      const client = clientOf(cli, command);
      const made = await client.batch(lines.jobs, options).catch((error) => lines.refused(error));
      const out = outputOf(cli, command);
      out.note(`batch ${made.id}`);
      const keys = [...lines.jobs.map(({ definition }) => definition), onComplete, onSuccess];
      const named = keys.filter((key) => key !== undefined);
      const unheard = await unheardBatch(client, made.id, named);
      if (wait) await awaitWorker(cli, out, unheard, timeout);
      else for (const detail of unheard.details) out.note(warningText(out, detail));
      const done = wait ? await waitForBatch(cli, out, made, timeout) : await made.status();
      print(cli, command, done);
      if (done.status === 'failed' || done.status === 'cancelled')
        cli.exitCode = exitCode('failed');
      if (done.status === 'open') {
        out.note(`It accepts jobs until you close it: ${out.next(`batch close ${done.id}`)}`);
      }
    });
}

async function callback(
  name: 'complete' | 'success',
  definition: string | undefined,
  typed: string | undefined,
): Promise<BatchOptions['onComplete']> {
  const flag = `--on-${name}-params`;
  if (typed === '-') throw new UsageError(`${flag} takes JSON or @file: stdin is for the jobs`);
  if (definition === undefined) {
    if (typed !== undefined) throw new UsageError(`${flag} needs --on-${name}`);
    return undefined;
  }
  return { definition, params: await readParams(typed, Readable.from([])) };
}

const FILE = 'one job per line, like {"definitionKey":"hello","params":{}}; - to read stdin';
const KEY = 'the same command again with this key stores nothing twice';
const HEADER = ['ID', 'STATUS', 'JOBS', 'PENDING', 'FAILED', 'AGE', 'NAME'];

function addList(batch: Command, cli: Cli): void {
  batch
    .command('list')
    .description('List batches, newest first.')
    .option('--limit <number>', `how many, at most ${BATCHES_PAGE_MAX}; default 20`, whole)
    .option('--cursor <cursor>', 'continue after the previous page')
    .action(async (flags: { limit?: number; cursor?: string }, command: Command) => {
      const out = outputOf(cli, command);
      const page = await clientOf(cli, command).batches.list({ limit: 20, ...flags });
      if (out.json) return out.document(page);
      if (page.batches.length === 0) return out.note('No batches.');
      const now = cli.clock.now().getTime();
      const rows = page.batches.map(({ id, status, total, pending, failed, createdAt, name }) => {
        const numbers = [total, pending, failed].map(String);
        return [id, status, ...numbers, age(now - Date.parse(createdAt)), name ?? ''];
      });
      out.table(columns([HEADER, ...rows], out.width));
      out.noteMore(page.nextCursor);
    });
}

function memberState(text: string): MemberState {
  const state = MEMBER_STATES.find((one) => one === text);
  if (state === undefined)
    throw new InvalidArgumentError(unknownName('state', text, MEMBER_STATES));
  return state;
}

interface JobsFlags {
  state?: MemberState;
  limit?: number;
  cursor?: string;
}

function addJobs(batch: Command, cli: Cli): void {
  batch
    .command('jobs')
    .description('List the jobs of a batch.')
    .argument('<id>', 'the id of the batch')
    .option(
      '--state <state>',
      'only those that are pending, succeeded, failed or cancelled',
      memberState,
    )
    .option('--limit <number>', 'how many; default 50', whole)
    .option('--cursor <cursor>', 'continue after the previous page')
    .action(async (typed: string, flags: JobsFlags, command: Command) => {
      const out = outputOf(cli, command);
      const client = clientOf(cli, command);
      const page = await client.batches.jobs(await findBatchId(client, typed), flags);
      if (out.json) return out.document(page);
      if (page.jobs.length === 0) return out.note('No jobs.');
      const rows = page.jobs.map(({ jobId, definitionKey, status, position }) => {
        return [String(position), jobId, status ?? 'unknown', definitionKey ?? '(deleted)'];
      });
      out.table(columns([['PLACE', 'ID', 'STATUS', 'DEFINITION'], ...rows], out.width));
      out.noteMore(page.nextCursor);
    });
}

interface AddFlags {
  idempotencyKey?: string;
}

function addAdd(batch: Command, cli: Cli): void {
  batch
    .command('add')
    .description('Add the jobs of a file to an open batch.')
    .argument('<id>', 'the id of the batch')
    .argument('<file>', FILE)
    .option('--idempotency-key <key>', KEY)
    .action(async (typed: string, file: string, flags: AddFlags, command: Command) => {
      const client = clientOf(cli, command);
      const lines = await readSomeJobLines(file, cli.stdin);
      const id = await findBatchId(client, typed);
      const added = client.batches.add(id, lines.jobs, { idempotencyKey: flags.idempotencyKey });
      print(cli, command, await added.catch((error) => lines.refused(error)));
    });
}
