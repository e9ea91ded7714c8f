import { closeSync, openSync } from 'node:fs';
import type { CommandInfo } from '../../core/definition/definition.ts';
import { type FailureCode, failureOf } from '../../core/failure/failure.ts';
import { programError } from '../../core/failure/program-error.ts';
import type { Outcome } from '../../core/job/lifecycle.ts';
import { RESULT_MAX_BYTES } from '../../core/job/result.ts';
import { commandLine, type CommandMessage } from './command-messages.ts';
import { programProblem } from './find-program.ts';
import { LINE_COST, Throttle } from '../isolation/byte-rate.ts';
import type { Sandbox } from '../isolation/sandbox.ts';
import { GuardedProcess } from '../isolation/guarded-process.ts';
import { lineMaxOf, LineReader, type RunCommand } from '../ipc.ts';
import { PLAIN_EXIT, type Runner, type RunnerEvents, type RunnerExit } from './runner.ts';

const SAMPLE_MS = 500;
const LAST_LINES = 10;
const LAST_LINES_CHARACTERS = 2_000;

/**
 * Runs a program in any language, one process per job, without Node in between. It gets its params
 * on stdin and in a file, writes messages to file descriptor 3 (`command-messages.ts`), and its
 * exit code decides.
 *
 * The schema is code in the definition's file, which is not loaded here: the params of a command
 * are validated on enqueue only, by the published JSON Schema.
 *
 * A program has no abort signal. A stop request is SIGTERM at once, to all of its processes; the
 * rest is as for any job.
 */
export class CommandRunner implements Runner {
  readonly #sandbox: Sandbox;
  readonly #command: CommandInfo;
  #process: GuardedProcess | undefined;
  #events: RunnerEvents | undefined;
  #claim = 0;
  #resultMaxBytes: number | undefined;
  #resultJson: string | null = null;
  #failure: Outcome | null = null;
  /** The first line that may have been meant as the result, and its problem. */
  #unclear: string | null = null;
  #stopping = false;
  #stderr: string[] = [];
  #done: () => void = () => undefined;
  /** Resolves when nothing of it is left, also when it never started. */
  readonly exited: Promise<void>;

  constructor(sandbox: Sandbox, command: CommandInfo) {
    this.#sandbox = sandbox;
    this.#command = command;
    this.exited = new Promise((resolve) => (this.#done = resolve));
  }

  get pid(): number | null {
    return this.#process?.pid ?? null;
  }

  get alive(): boolean {
    return this.#process === undefined;
  }

  give(command: Omit<RunCommand, 'params'>, paramsJson: string, events: RunnerEvents): void {
    const { argv, cwd } = this.#command;
    const [program = ''] = argv;
    const folder = cwd ?? process.cwd();
    this.#events = events;
    this.#claim = command.claim;
    this.#resultMaxBytes = command.resultMaxBytes;
    // In a rolling deploy the program may arrive after the definition, so this is retried.
    const problem = programProblem(program, folder, this.#sandbox.env['PATH'] ?? '');
    if (problem !== null) return this.#neverBegins(failure(problem));
    try {
      this.#begin(command, paramsJson, folder);
    } catch (error) {
      // The job has not started, so it can be given to another runner.
      this.#neverBegins(null);
      throw error;
    }
  }

  giveGroup(): never {
    throw new Error('a program runs one job at a time');
  }

  forget(): void {
    this.#events = undefined;
  }

  abort(): void {
    this.terminate();
  }

  /** A program has no steps. */
  saved(): void {}

  terminate(): void {
    this.#stopping = true;
    this.#process?.signal('SIGTERM');
  }

  kill(): void {
    if (this.#process) return this.#process.kill();
    this.#neverBegins(null);
  }

  #begin(command: Omit<RunCommand, 'params'>, paramsJson: string, cwd: string): void {
    const { id, attempt, traceparent, secrets } = command;
    const paramsFile = this.#sandbox.writeParams(paramsJson);
    const env = {
      ...secrets,
      LONGSHORE_JOB_ID: id,
      LONGSHORE_ATTEMPT: String(attempt),
      LONGSHORE_PARAMS_FILE: paramsFile,
      // The variable that traced programs read.
      ...(traceparent !== undefined && { TRACEPARENT: traceparent }),
    };
    const stdin = openSync(paramsFile, 'r');
    try {
      const entrance = { cwd, env, stdin };
      this.#process = new GuardedProcess(
        this.#sandbox,
        this.#command.argv,
        entrance,
        (...output) => this.#output(...output),
        () => this.#events?.onPartOfLine(),
      );
    } finally {
      closeSync(stdin);
    }
    if (this.#process.pid === null) throw new Error(`"${this.#command.argv[0]}" was not started`);
    this.#listen(this.#process);
    this.#sandbox.memory?.watch(() => this.kill());
  }

  #neverBegins(outcome: Outcome | null): void {
    void this.#sandbox.remove(null).then(() => {
      if (outcome) this.#report(outcome, PLAIN_EXIT);
      this.#done();
    });
  }

  #listen(child: GuardedProcess): void {
    const { socket } = child;
    const lineMax = lineMaxOf(this.#resultMaxBytes);
    const reader = new LineReader(lineMax);
    const throttle = new Throttle(socket, this.#sandbox.clock);
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      const lines = reader.push(chunk);
      if (!lines) {
        const message = `the command wrote a line of more than ${lineMax} characters on descriptor 3`;
        return child.kill({ code: 'CRASHED', message });
      }
      for (const line of lines) this.#receive(line);
      throttle.spend(chunk.length + lines.length * LINE_COST);
    });
    const sampling = setInterval(() => child.sampleUsage(), SAMPLE_MS).unref();
    void child.exited.then((exit) => {
      clearInterval(sampling);
      // The last line counts without a line break, too.
      for (const line of reader.push('\n') ?? []) this.#receive(line);
      this.#ended(exit);
      this.#done();
    });
  }

  #receive(line: string): void {
    if (line.trim() === '') return;
    const { messages, problems } = commandLine(line, this.#resultMaxBytes);
    for (const problem of problems) {
      const shown = line.length > 80 ? `${line.slice(0, 80)}…` : line;
      this.#events?.onOutput('stderr', `longshore: ignored on descriptor 3: ${problem}: ${shown}`);
      if (messages.some(({ type }) => type === 'unclear')) this.#unclear ??= `${problem}: ${shown}`;
    }
    for (const message of messages) this.#take(message);
  }

  #take(message: CommandMessage): void {
    const claim = this.#claim;
    switch (message.type) {
      case 'progress':
      case 'heartbeat':
      case 'event':
      case 'stream':
        return this.#events?.onMessage({ claim, ...message });
      case 'result':
        this.#resultJson = message.json;
        return;
      case 'result-too-large': {
        const limit = this.#resultMaxBytes ?? RESULT_MAX_BYTES;
        const text = `the result has ${message.bytes} bytes, the limit is ${limit}`;
        const error = failureOf('RESULT_TOO_LARGE', text);
        this.#failure = { kind: 'failure', error, retryAfterMs: null };
        return;
      }
      case 'error':
        this.#failure = {
          kind: 'failure',
          error: message.error,
          retryAfterMs: message.retryAfterMs,
        };
        return;
      case 'unclear':
    }
  }

  #output(stream: 'stdout' | 'stderr', line: string): void {
    if (stream === 'stderr') this.#stderr = [...this.#stderr.slice(1 - LAST_LINES), line];
    this.#events?.onOutput(stream, line);
  }

  #ended(exit: RunnerExit): void {
    if (exit.code === null || exit.cause) {
      const events = this.#events;
      this.#events = undefined;
      return events?.onExit(exit);
    }
    this.#report(this.#outcome(exit.code), exit);
  }

  /** Many programs exit with 0 when they are stopped; that alone is not a success. */
  #outcome(code: number): Outcome {
    if (this.#failure) return this.#failure;
    if (code === 0 && this.#stopping && this.#resultJson === null) {
      return failure('the command was stopped by SIGTERM and gave no result');
    }
    if (code === 0 && this.#unclear !== null && this.#resultJson === null) {
      const message = `the command gave no result, unless this on descriptor 3 was one: ${this.#unclear}`;
      return failure(message, 'RESULT_INVALID');
    }
    if (code === 0) return { kind: 'success', resultJson: this.#resultJson ?? 'null' };
    const lastLines = this.#stderr.join('\n').trim().slice(-LAST_LINES_CHARACTERS);
    return failure(programError(code, lastLines));
  }

  #report(outcome: Outcome, { code: exitCode, cpuMs, peakRssBytes }: RunnerExit): void {
    const claim = this.#claim;
    const usage = { cpuMs, peakRssBytes, spent: false };
    this.#events?.onMessage({ type: 'outcome', claim, outcome, exitCode, ...usage });
  }
}

function failure(message: string, code: FailureCode = 'HANDLER_ERROR'): Outcome {
  return { kind: 'failure', error: failureOf(code, message), retryAfterMs: null };
}
