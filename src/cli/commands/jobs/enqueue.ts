import type { Command } from 'commander';
import { type EnqueueOptions, type Job, type JobHandle, NotFound } from '../../../client/index.ts';
import { duration } from '../../../core/values/duration.ts';
import { isTerminal } from '../../../core/job/job.ts';
import { sentence } from '../../../core/views/sentence.ts';
import type { UniqueWhile } from '../../../core/job/unique.ts';
import type { Cli } from '../../cli.ts';
import { exitCode } from '../../exit-codes.ts';
import { jobText } from '../../text/job-text.ts';
import { eachOf, secondsAsMs, uniqueWhile, whole } from '../../options/option-values.ts';
import type { Output } from '../../text/output.ts';
import { readParams } from '../../options/params-argument.ts';
import { printable } from '../../text/printable.ts';
import { clientOf, outputOf } from '../../session.ts';
import { UsageError } from '../../options/usage-error.ts';

interface Options {
  wait?: true;
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
  skipValidation?: true;
  unique?: UniqueWhile;
  uniqueKey?: string;
  replace?: true;
  expiresAt?: string;
}

export function addEnqueue(program: Command, cli: Cli): void {
  program
    .command('enqueue')
    .summary('enqueue a job')
    .description('Enqueue a job and print its id, or wait until it finishes with --wait.')
    .argument('<key>', 'the key of the definition')
    .argument('[params]', 'JSON, @file, or - to read stdin; default {}')
    .option('--wait', 'wait until the job finishes; exit 0 if it succeeded, else 1')
    .option('--timeout <seconds>', 'maximum time to wait (exit 7)', secondsAsMs)
    .option('--priority <number>', 'higher runs first; default 0', whole)
    .option('--delay-ms <ms>', 'delay before it may run', whole)
    .option('--run-at <time>', 'earliest time to run, like 2030-01-31T08:00:00Z')
    .option('--idempotency-key <key>', 'enqueueing with the same key again returns the same job')
    .option('--concurrency-key <key>', 'apply the per-key limits with this key, like customer-17')
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
    .option('--expires-at <time>', 'fail if not started by then')
    .option('--skip-validation', 'do not validate the params when enqueueing')
    .option('--definition-version <number>', 'default: the highest published version', whole)
    .action(
      async (key: string, argument: string | undefined, options: Options, command: Command) => {
        if (options.timeout !== undefined && !options.wait) {
          throw new UsageError('--timeout needs --wait');
        }
        if ((options.uniqueKey !== undefined || options.replace) && options.unique === undefined) {
          throw new UsageError('--unique-key and --replace need --unique');
        }
        const out = outputOf(cli, command);
        const client = clientOf(cli, command);
        const params = await readParams(argument, cli.stdin);
        const handle = await client.enqueue(key, params, requestOptions(options));
        if (options.wait) await finish(cli, out, handle, options.timeout);
        else acknowledge(out, handle);
      },
    );
}

function requestOptions(options: Options): EnqueueOptions {
  const { wait: _wait, timeout: _timeout, tag, unique, uniqueKey, replace, ...rest } = options;
  if (unique === undefined) return { ...rest, tags: tag };
  const onConflict = replace && 'replace';
  return { ...rest, tags: tag, unique: { key: uniqueKey, while: unique, onConflict } };
}

/** Prints only the id to stdout, so that `ID=$(longshore enqueue …)` works. */
function acknowledge(out: Output, { id, status, warnings }: JobHandle): void {
  if (out.json) {
    out.document({ jobId: id, status, ...(warnings.length > 0 && { warnings }) });
    return;
  }
  out.lines([id]);
  for (const { detail } of warnings) out.note(warningText(out, detail));
  out.note(`${status}; show it with: longshore show ${id}`);
}

async function finish(
  cli: Cli,
  out: Output,
  handle: JobHandle,
  timeoutMs: number | undefined,
): Promise<void> {
  cli.onSignal = () => {
    out.note(`The job continues. Show it with: longshore show ${handle.id}`);
    cli.exit(exitCode('interrupted'));
  };
  refuseEndlessWait(out, handle, timeoutMs);
  const job: Job = await handle.wait({ timeoutMs, onLook: waitNotes(cli, out) });
  if (out.json) out.document(job);
  else out.lines(jobText(job, cli.clock.now()));
  cli.exitCode = exitCode(job.status === 'succeeded' ? 'ok' : 'failed');
}

/** The job stays queued until a worker registers its definition, which may never happen. */
function refuseEndlessWait(out: Output, handle: JobHandle, timeoutMs: number | undefined): void {
  const [warning] = handle.warnings;
  if (warning === undefined) return;
  const detail = /[?.]$/.test(warning.detail) ? warning.detail : `${warning.detail}.`;
  if (timeoutMs !== undefined) {
    out.note(warningText(out, `${detail} Waiting ${duration(timeoutMs)} for one.`));
    return;
  }
  throw new NotFound(
    404,
    warning.code,
    `${detail} The job is stored and runs as soon as a worker registers its definition. ` +
      `Remove it: longshore cancel ${handle.id}. Wait for it: --wait --timeout SECONDS.`,
  );
}

/** On a terminal prints each state change; elsewhere only what may make the wait endless. */
function waitNotes(cli: Cli, out: Output): (job: Job) => void {
  let told = '';
  return (job) => {
    const stranded = job.warnings.some(({ code }) => code === 'UNHANDLED');
    const state = `${job.status} ${job.attempts} ${stranded}`;
    if (state === told || isTerminal(job.status)) return;
    told = state;
    if (stranded) {
      const detail = `no running worker has "${job.definitionKey}"; still waiting for one`;
      out.note(warningText(out, detail));
    } else if (out.isTerminal) out.note(printable(sentence(job, cli.clock.now())));
  };
}

function warningText(out: Output, detail: string): string {
  return `${out.paint('yellow', 'warning:', 'stderr')} ${printable(detail)}`;
}
