import type { Command } from 'commander';
import type {
  EnqueueOptions,
  JobHandle,
  Longshore,
  OnParentFailure,
} from '../../../client/index.ts';
import type { UniqueWhile } from '../../../core/job/unique.ts';
import type { Cli } from '../../cli.ts';
import {
  eachOf,
  onParentFailure,
  secondsAsMs,
  uniqueWhile,
  whole,
} from '../../options/option-values.ts';
import type { Output } from '../../text/output.ts';
import { findJobId } from '../../options/find-id.ts';
import { readParams } from '../../options/params-argument.ts';
import { clientOf, outputOf } from '../../session.ts';
import { UsageError } from '../../options/usage-error.ts';
import { awaitWorker, unheardJob, warningText } from './wait/await-worker.ts';
import { streamJob } from './stream.ts';
import { waitForJob } from './wait/wait-for-job.ts';

interface Options {
  params?: string;
  wait?: true;
  stream?: true;
  timeout?: number;
  priority?: number;
  delayMs?: number;
  runAt?: string;
  idempotencyKey?: string;
  concurrencyKey?: string;
  tag?: string[];
  maxAttempts?: number;
  hold?: true;
  definitionVersion?: number;
  paramsShape?: number;
  skipValidation?: true;
  requireRegistered?: true;
  unique?: UniqueWhile;
  uniqueKey?: string;
  replace?: true;
  maxWaitMs?: number;
  expiresAt?: string;
  after?: string[];
  onParentFailure?: OnParentFailure;
}

export function addEnqueue(program: Command, cli: Cli): void {
  program
    .command('enqueue')
    .summary('enqueue a job')
    .description('Enqueue a job and print its id, or wait until it finishes with --wait.')
    .argument('<key>', 'the key of the definition')
    .argument('[params]', 'JSON, @file, or - to read stdin; default {}')
    .option('--params <params>', 'the same as the argument: JSON, @file, or - to read stdin')
    .option('--wait', 'wait until the job finishes; exit 0 if it succeeded, else 1')
    .option('--stream', 'print what the job sends with ctx.stream until it finishes')
    .option('--timeout <seconds>', 'maximum time to wait (exit 7)', secondsAsMs)
    .option('--priority <number>', 'higher runs first; default 0', whole)
    .option('--delay-ms <ms>', 'delay before it may run', whole)
    .option('--run-at <time>', 'earliest time to run, like 2030-01-31T08:00:00Z')
    .option('--idempotency-key <key>', 'enqueueing with the same key again returns the same job')
    .option('--concurrency-key <key>', 'apply the per-key limits with this key, like customer-17')
    .option('--after <id>', 'run after this job has succeeded; may be repeated', eachOf)
    .option(
      '--on-parent-failure <answer>',
      'if a job of --after does not succeed: fail (default), run or cancel',
      onParentFailure,
    )
    .option('--tag <tag>', 'a tag to find the job by; may be repeated', eachOf)
    .option('--max-attempts <number>', 'maximum number of attempts', whole)
    .option('--hold', 'hold the job until `longshore release`')
    .option(
      '--unique <while>',
      'no duplicate while one is queued, active, or younger than this many ms',
      uniqueWhile,
    )
    .option('--unique-key <key>', 'key that identifies duplicates; default: the params')
    .option('--replace', 'update params, priority and run time of the existing job')
    .option(
      '--max-wait-ms <ms>',
      'with --replace: due at the latest so long after the first',
      whole,
    )
    .option('--expires-at <time>', 'fail if not started by then')
    .option('--skip-validation', 'do not validate the params when enqueueing')
    .option('--require-registered', 'refuse the job if no worker has registered its definition')
    .option('--definition-version <number>', 'default: the highest published version', whole)
    .option('--params-shape <number>', 'shape of the params; default: the current one', whole)
    .action(
      async (key: string, argument: string | undefined, options: Options, command: Command) => {
        if (options.wait && options.stream) throw new UsageError('use --wait or --stream');
        if (options.timeout !== undefined && !options.wait) {
          throw new UsageError('--timeout needs --wait');
        }
        if ((options.uniqueKey !== undefined || options.replace) && options.unique === undefined) {
          throw new UsageError('--unique-key and --replace need --unique');
        }
        if (options.maxWaitMs !== undefined && !options.replace) {
          throw new UsageError('--max-wait-ms needs --replace');
        }
        if (options.onParentFailure !== undefined && options.after === undefined) {
          throw new UsageError('--on-parent-failure needs --after');
        }
        if (argument !== undefined && options.params !== undefined) {
          throw new UsageError('give the params as an argument or as --params');
        }
        const out = outputOf(cli, command);
        const client = clientOf(cli, command);
        const params = await readParams(argument ?? options.params, cli.stdin);
        const after = options.after && (await findJobIds(client, options.after));
        const asked = { ...requestOptions(options), after };
        const handle = await client.enqueue(key, params, asked);
        if (options.wait || options.stream) {
          await awaitWorker(cli, out, unheardJob(client, handle, key), options.timeout);
        }
        if (options.wait) await waitForJob(cli, out, handle, options.timeout);
        else if (options.stream) await followNew(cli, out, handle);
        else acknowledge(out, handle);
      },
    );
}

async function followNew(cli: Cli, out: Output, handle: JobHandle): Promise<void> {
  out.note(`job ${handle.id}`);
  await streamJob(cli, out, handle);
}

async function findJobIds(client: Longshore, typed: readonly string[]): Promise<string[]> {
  const ids: string[] = [];
  for (const one of typed) ids.push(await findJobId(client, one));
  return ids;
}

function requestOptions(options: Options): EnqueueOptions {
  const { params: _p, wait: _w, stream: _s, timeout: _t, tag, unique, ...more } = options;
  const { uniqueKey, replace, maxWaitMs, ...rest } = more;
  if (unique === undefined) return { ...rest, tags: tag };
  const onConflict = replace && 'replace';
  return { ...rest, tags: tag, unique: { key: uniqueKey, while: unique, onConflict, maxWaitMs } };
}

/** Prints only the id to stdout, so that `ID=$(longshore enqueue …)` works. */
function acknowledge(out: Output, { id, status, warnings }: JobHandle): void {
  if (out.json) {
    out.document({ jobId: id, status, ...(warnings.length > 0 && { warnings }) });
    return;
  }
  out.lines([id]);
  for (const { detail } of warnings) out.note(warningText(out, detail));
  out.note(`${status}; show it with: ${out.next(`show ${id}`)}`);
}
