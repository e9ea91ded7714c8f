import { fork } from 'node:child_process';
import { type Command, InvalidArgumentError } from 'commander';
import { type Job, type JobOutcomes, type JobSteps, NotFound } from '../../../client/index.ts';
import { ownEnvironment } from '../../../config/environment.ts';
import { SETTINGS } from '../../../config/schema.ts';
import { REDACTED } from '../../../core/access/redact.ts';
import {
  knownChildren,
  ownSteps,
  parentOutcomes,
  type ReplayEnd,
  type ReplayLine,
  type ReplayMessage,
  type ReplayRequest,
  reusedSteps,
} from '../../../core/job/replay.ts';
import { duration } from '../../../core/values/duration.ts';
import { unknownName } from '../../../core/values/nearest.ts';
import { printable, printableJson, printableLines } from '../../../core/values/printable.ts';
import { errorWords } from '../../../core/failure/failure-words.ts';
import { ownFrames } from '../../../core/failure/own-frames.ts';
import { programFile } from '../../../runtime/code.ts';
import type { Cli } from '../../cli.ts';
import { exitCode } from '../../exit-codes.ts';
import { findJobId } from '../../options/find-id.ts';
import { eachOf } from '../../options/option-values.ts';
import { addServerFlags } from '../../options/setting-options.ts';
import { UsageError } from '../../options/usage-error.ts';
import { clientOf, configOf, outputOf } from '../../session.ts';
import { readOutcomes } from './read-outcomes.ts';
import type { Output } from '../../text/output.ts';

const INSPECT_PORT = 9229;

interface Options {
  fromStep?: string;
  inspect?: true | number;
  reveal?: true;
  secret?: string[];
}

export function addReplay(program: Command, cli: Cli): void {
  const command = program
    .command('replay')
    .summary('run a job here, to find its error')
    .description(
      'Run a job here with the code of --jobs, its stored params and steps. The job on the ' +
        'server does not change; the effects of the code are real.',
    )
    .argument('<id>', 'the id of the job')
    .option('--from-step <name>', 'run this step and later ones again; default: reuse all')
    .option('--inspect [port]', `wait for a debugger; default port ${INSPECT_PORT}`, portNumber)
    .option('--reveal', 'read redacted values; needs jobs:reveal, and is audited')
    .option('--secret <name>', 'give it this variable as a secret; may be repeated', eachOf)
    .action(async (typed: string, options: Options, self: Command) => {
      const out = outputOf(cli, self);
      const client = clientOf(cli, self);
      const { jobs } = configOf(cli, self, 'server').config;
      const job = await client.get(await findJobId(client, typed), options);
      const stored = await client.steps(job.jobId, options);
      refuseUnknownStep(stored, options.fromStep);
      const params = job.largeParams
        ? await client.value(job.jobId, 'params', options)
        : job.params;
      const outcomes = await readOutcomes(client, job.jobId, options);
      const request = requestOf(cli, jobs, { ...job, params }, stored, outcomes, options);
      tellPlan(out, job, request, stored);
      if (!outcomes.complete) {
        out.note('warning: not all results of its parents and children fit; the others are null');
      }
      const end = await runHere(cli, out, request);
      tellEnd(out, end);
      cli.exitCode = exitCode(end.status === 'succeeded' ? 'ok' : 'failed');
    });
  addServerFlags(command, ['jobs']);
}

function portNumber(value: string): number {
  const port = Number(value);
  if (/^\d{1,5}$/.test(value) && port < 65_536) return port;
  throw new InvalidArgumentError('Must be a port.');
}

function refuseUnknownStep({ steps }: JobSteps, name: string | undefined): void {
  const names = ownSteps(steps.map((step) => step.name));
  if (name === undefined || names.includes(name)) return;
  if (names.length === 0) {
    throw new UsageError('--from-step: the job has stored no step, so leave the flag out');
  }
  throw new UsageError(
    `--from-step: ${unknownName('stored step', name, names)} (without it, all stored steps are reused)`,
  );
}

function requestOf(
  cli: Cli,
  jobs: string,
  job: Job,
  stored: JobSteps,
  { parents, children }: JobOutcomes,
  { fromStep, inspect, secret = [] }: Options,
): ReplayRequest {
  const env = cli.env ?? ownEnvironment();
  const missing = secret.find((name) => env[name] === undefined);
  if (missing !== undefined) {
    throw new UsageError(`--secret: the variable ${missing} is not set here`);
  }
  return {
    jobs,
    jobId: job.jobId,
    key: job.definitionKey,
    version: job.definitionVersion,
    params: job.params,
    paramsShape: job.paramsShape,
    attempt: Math.max(1, job.attempts),
    maxAttempts: job.maxAttempts,
    ...reusedSteps(stored, fromStep ?? null),
    parents: parentOutcomes(parents),
    children: knownChildren(children),
    secrets: Object.fromEntries(secret.map((name) => [name, env[name] ?? ''])),
    inspectPort: inspect === undefined ? null : inspect === true ? INSPECT_PORT : inspect,
  };
}

function tellPlan(out: Output, job: Job, request: ReplayRequest, stored: JobSteps): void {
  out.note(printable(`Replaying ${job.jobId} (${job.definitionKey}, ${job.status}) here.`));
  out.note('The job on the server does not change. The effects of its code are real.');
  const reused = ownSteps(Object.keys(request.steps));
  if (reused.length > 0) out.note(printable(`Reused steps: ${reused.join(', ')}`));
  if (request.checkpoint !== undefined) out.note('Reused: the checkpoint.');
  const { parents, children } = request;
  if (parents.length > 0) out.note(`Its parents: ${endsOf(parents.map(({ state }) => state))}`);
  if (children.length > 0) {
    out.note(`Its children: ${endsOf(children.map(({ outcome }) => outcome?.state ?? 'open'))}`);
  }
  if (!stored.complete) out.note('warning: it has more steps than can be read; they run again');
  if (isRedacted([request.params, request.steps, request.checkpoint, parents, children])) {
    out.note(
      `warning: some values are ${REDACTED}; --reveal reads them, with the scope jobs:reveal`,
    );
  }
}

/** "2 succeeded, 1 failed" */
function endsOf(states: readonly string[]): string {
  const all = [...Map.groupBy(states, (state) => state)];
  return all.map(([state, some]) => `${some.length} ${state}`).join(', ');
}

function isRedacted(value: unknown): boolean {
  return JSON.stringify(value)?.includes(REDACTED) ?? false;
}

/** In a process of its own: its code may end the process, and a debugger stops only it. */
async function runHere(cli: Cli, out: Output, request: ReplayRequest): Promise<ReplayEnd> {
  const child = fork(programFile('testing/replay-process'), {
    env: { ...environment(cli), ...request.secrets },
    execArgv: ['--disable-warning=ExperimentalWarning'],
    // What the job prints is no data of this command.
    stdio: ['ignore', 2, 2, 'ipc'],
  });
  cli.onSignal = (signal) => child.kill(signal);
  let end: ReplayEnd | null = null;
  let refused: string | null = null;
  child.on('message', (message: ReplayMessage) => {
    if ('line' in message) out.note(...lineText(message.line));
    else if ('note' in message) out.note(printable(message.note));
    else {
      if ('refused' in message) refused = message.refused;
      else end = message.ended;
      // Otherwise it would stay until the debugger leaves.
      if (request.inspectPort !== null) child.kill('SIGKILL');
    }
  });
  child.send(request, () => undefined);
  const left = await new Promise<string>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve(signal ?? `exit code ${code}`));
  });
  if (refused !== null) throw new NotFound(404, 'NOT_FOUND', refused);
  if (end === null) throw new Error(`the process of the job ended before the job: ${left}`);
  return end;
}

/** The variables of this shell, without what only Longshore needs. */
function environment(cli: Cli): NodeJS.ProcessEnv {
  const own = SETTINGS.flatMap(({ env, aliases = [] }) => [env, ...aliases]);
  const isOwn = (name: string) => own.some((one) => name === one || name === `${one}_FILE`);
  return Object.fromEntries(
    Object.entries(cli.env ?? ownEnvironment()).filter(([name]) => !isOwn(name)),
  );
}

function lineText({ level, message }: ReplayLine): string[] {
  return printableLines(message).map((line) => `${level.padEnd(5)} ${line}`);
}

function endWords(status: string): string {
  return status === 'failed' ? 'It fails here' : `It does not succeed here: it would be ${status}`;
}

function tellEnd(out: Output, end: ReplayEnd): void {
  if (out.json) return out.document(end);
  const { status, result, error, nextInMs, spawned } = end;
  if (spawned.length > 0) {
    const names = spawned.map(({ name, definitionKey }) => `${name} (${definitionKey})`);
    out.note(printable(`It would spawn, and nothing is started: ${names.join(', ')}`));
  }
  if (status === 'succeeded') {
    out.note('It succeeds here:');
    out.lines([printableJson(result)]);
    return;
  }
  const why = error ? `: ${errorWords(error)}` : '';
  out.trouble(printable(`${endWords(status)}${why}`));
  if (nextInMs !== null) out.note(`It would continue in ${duration(nextInMs)}.`);
  out.note(
    ...ownFrames(error?.stack ?? '', process.cwd()).map((frame) => printable(`    ${frame}`)),
  );
}
