import type { Command } from 'commander';
import type { Longshore } from '../../../client/index.ts';
import { BATCH_KEY } from '../../../core/batch/batch.ts';
import type { RetryMode, RetryVersion } from '../../../core/failure/retry.ts';
import type { Cli } from '../../cli.ts';
import type { EnqueueWarning } from '../../../core/definition/enqueue-warning.ts';
import { columns } from '../../text/columns.ts';
import { confirm } from '../../options/confirm.ts';
import { exitCode, exitNameOf } from '../../exit-codes.ts';
import type { Output } from '../../text/output.ts';
import { findJobId } from '../../options/find-id.ts';
import { readParams } from '../../options/params-argument.ts';
import { errorLines, type Problem, problemOf } from '../../report.ts';
import { addRetryRequest } from '../../options/retry-options.ts';
import { clientOf, outputOf } from '../../session.ts';
import { warningText } from './wait/await-worker.ts';

interface RetryFlags {
  mode?: RetryMode;
  runAt?: string;
  params?: string;
  code?: RetryVersion;
}

/** `cancel`, `release`, `retry`, `signal` and `delete`: one request per job. */
export function addChanges(program: Command, cli: Cli): void {
  program
    .command('cancel')
    .summary('cancel jobs')
    .description('Cancel jobs: waiting jobs end at once, running jobs are asked to stop.')
    .argument('<id...>', 'job ids')
    .option('--children', 'also the children that they have spawned, and theirs')
    .action(async (ids: string[], { children }: { children?: true }, command: Command) => {
      const client = clientOf(cli, command);
      const cancel = async (id: string) => await client.cancel(id, { children });
      await changeEach(cli, outputOf(cli, command), ids, client, cancel);
    });
  program
    .command('release')
    .summary('release held jobs')
    .description('Release jobs that were enqueued with --hold.')
    .argument('<id...>', 'job ids')
    .action(async (ids: string[], _options: unknown, command: Command) => {
      const client = clientOf(cli, command);
      await changeEach(cli, outputOf(cli, command), ids, client, (id) => client.release(id));
    });
  const retry = program
    .command('retry')
    .summary('retry failed or cancelled jobs')
    .description('Retry failed or cancelled jobs. For many jobs: longshore bulk retry.')
    .argument('<id...>', 'job ids');
  addRetryRequest(retry).action(
    async (ids: string[], { params, code: version, ...flags }: RetryFlags, command: Command) => {
      const client = clientOf(cli, command);
      const other = await readParams(params, cli.stdin);
      const options = { ...flags, version, ...(other !== undefined && { params: other }) };
      await changeEach(cli, outputOf(cli, command), ids, client, async (id) =>
        (await isBatch(client, id))
          ? await retryBatch(client, id)
          : await client.retry(id, options),
      );
    },
  );
  program
    .command('signal')
    .summary('send a signal to a job')
    .description('Send a signal to a job that waits for it with ctx.waitFor, or will wait.')
    .argument('<id>', 'job id')
    .argument('<name>', 'name of the signal')
    .option('--payload <json>', 'what ctx.waitFor returns: JSON, @file or - for stdin')
    .action(async (id: string, name: string, flags: { payload?: string }, command: Command) => {
      const client = clientOf(cli, command);
      const payload = (await readParams(flags.payload, cli.stdin)) ?? null;
      await changeEach(cli, outputOf(cli, command), [id], client, (jobId) =>
        client.signal(jobId, name, payload),
      );
    });
  program
    .command('delete')
    .summary('delete finished jobs')
    .description('Delete finished jobs with their attempts, events and logs.')
    .argument('<id...>', 'job ids')
    .option('--yes', 'do not ask for confirmation')
    .action(async (ids: string[], { yes }: { yes?: true }, command: Command) => {
      const client = clientOf(cli, command);
      const out = outputOf(cli, command);
      const question = `Delete ${ids.length === 1 ? 'this job' : `${ids.length} jobs`}? This can't be undone.`;
      if (!yes && !(await confirm(cli, question))) return out.note('Nothing was deleted.');
      await changeEach(cli, out, ids, client, async (jobId) => {
        await client.delete(jobId);
        return { jobId, status: 'deleted' };
      });
    });
}

/** False if the caller may not read jobs. */
async function isBatch(client: Longshore, id: string): Promise<boolean> {
  return await client.get(id).then(
    ({ definitionKey }) => definitionKey === BATCH_KEY,
    () => false,
  );
}

/** Alone, the job of a batch would fail again at once: its jobs have not succeeded. */
async function retryBatch(client: Longshore, id: string): Promise<Changed> {
  const { status } = await client.batches.retry(id);
  const detail = 'this is a batch: its jobs that did not succeed are retried';
  return { jobId: id, status, warnings: [{ code: 'BATCH', detail }] };
}

interface Changed {
  jobId: string;
  status: string;
  warnings?: EnqueueWarning[] | undefined;
}

/** One failure does not stop the others; the exit code is theirs if they all agree, else 1. */
async function changeEach(
  cli: Cli,
  out: Output,
  ids: readonly string[],
  client: Longshore,
  change: (id: string) => Promise<Changed>,
): Promise<void> {
  const answers: (Changed | { jobId: string; problem: Problem })[] = [];
  const codes = new Set<number>();
  for (const id of ids) {
    try {
      const receipt = await change(await findJobId(client, id));
      answers.push(receipt);
      if (!out.json) out.lines(columns([[receipt.jobId, receipt.status]]));
      for (const { detail } of receipt.warnings ?? []) out.note(warningText(out, detail));
    } catch (error) {
      codes.add(exitCode(exitNameOf(error)));
      answers.push({ jobId: id, problem: problemOf(error) });
      out.trouble(...errorLines(error, out.json));
      // The next request would fail the same way.
      if (exitNameOf(error) === 'unreachable') break;
    }
  }
  if (out.json) out.document({ jobs: answers });
  const [code = 0, ...others] = codes;
  cli.exitCode = others.length > 0 ? exitCode('failed') : code;
}
