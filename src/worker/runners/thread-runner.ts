import type { Readable } from 'node:stream';
import { Worker } from 'node:worker_threads';
import { THREAD_MEMORY_MB } from '../../core/definition/definition.ts';
import type { Clock } from '../../runtime/clock.ts';
import { programFile } from '../../runtime/code.ts';
import { withDeadline } from '../../runtime/deadline.ts';
import { ByteRate, LINE_COST, Throttle } from '../isolation/byte-rate.ts';
import { tracingUrl } from '../../signals/load-tracing.ts';
import type { Sandbox } from '../isolation/sandbox.ts';
import { OutputLines } from '../isolation/output-lines.ts';
import {
  type AbortReason,
  type LoadPlan,
  messageLine,
  type RunCommand,
  runLine,
  type SaveAnswer,
} from '../ipc.ts';
import {
  type GroupJob,
  PLAIN_EXIT,
  type RunnerEvents,
  type RunnerExit,
  type RunnerReport,
  type SpawnedRunner,
} from './runner.ts';
import { Credit } from '../runner/credit.ts';
import { groupLines, type OutcomeMessage, RunnerChannel } from './runner-channel.ts';
import { Recycling } from './recycling.ts';

const READY_MS = 60_000;
/** A thread in native code does not end on request; after this time it is abandoned. */
const GIVE_UP_MS = 10_000;

export interface ThreadRunnerOptions {
  jobsPath: string;
  memoryMb: number | null;
  maxJobs: number;
  /** A file to import before anything else. */
  tracing?: string | null;
  plan: LoadPlan;
}

/**
 * Runs jobs in a thread of the worker, for definitions with `isolation: 'thread'`: faster to start
 * and lighter than a process, and a busy one delays no other job. It can be ended at any time, and
 * its JavaScript heap is limited. The price: it shares the process, so a crash in native code, or
 * the end of a frozen worker, ends all threads; memory outside the heap (Buffers) is neither
 * limited nor measured; processes that it starts are children of the worker and are not ended.
 */
export class ThreadRunner implements SpawnedRunner {
  readonly pid = process.pid;
  readonly exited: Promise<RunnerExit>;
  readonly #worker: Worker;
  readonly #clock: Clock;
  readonly #memoryMb: number;
  readonly #channel: RunnerChannel;
  readonly #lines: OutputLines[] = [];
  readonly #rate = new ByteRate();
  readonly #credit = new Credit();
  readonly #recycling: Recycling;
  #giveUp: (exit: RunnerExit) => void = () => undefined;
  #cause: RunnerExit['cause'] = null;
  #ending = false;
  #retired = false;

  /** Of the sandbox it uses the folder and the environment; the rest is for processes. */
  constructor(sandbox: Sandbox, options: ThreadRunnerOptions) {
    const { jobsPath, memoryMb, maxJobs, plan, tracing = null } = options;
    this.#clock = sandbox.clock;
    this.#memoryMb = memoryMb ?? THREAD_MEMORY_MB;
    this.#recycling = new Recycling(sandbox.clock, maxJobs);
    this.#channel = new RunnerChannel((message, report) => this.#outcome(message, report));
    this.#worker = new Worker(programFile('worker/runner/thread'), {
      name: 'longshore job',
      workerData: { jobsPath, folder: sandbox.folder, shared: this.#credit.shared, plan },
      env: sandbox.env,
      // Not those of the worker.
      execArgv: tracing === null ? [] : ['--import', tracingUrl(tracing)],
      stdout: true,
      stderr: true,
      resourceLimits: { maxOldGenerationSizeMb: this.#memoryMb },
    });
    const ended = new Promise<RunnerExit>((resolve) => {
      this.#giveUp = resolve;
      this.#worker.once('exit', (code) => resolve(this.#ended(code)));
    });
    this.exited = ended.then(async (exit) => {
      await sandbox.remove(null);
      return exit;
    });
    void this.exited.then((exit) => this.#channel.exit(exit));
    this.#worker.on('error', (error) => (this.#cause ??= this.#causeOf(error)));
    this.#worker.on('message', (line: unknown) => this.#receive(line));
    this.#read('stdout', this.#worker.stdout);
    this.#read('stderr', this.#worker.stderr);
  }

  get alive(): boolean {
    return !this.#ending && !this.#retired;
  }

  async ready(): Promise<RunnerReport> {
    const ended = this.exited.then(({ cause }): never => {
      throw new Error(`the runner exited while loading (${cause?.message ?? 'it was ended'})`);
    });
    const ready = Promise.race([this.#channel.report, ended]);
    try {
      return await withDeadline(ready, READY_MS, 'loading the definitions');
    } catch (error) {
      this.kill();
      throw error;
    }
  }

  give(command: Omit<RunCommand, 'params'>, paramsJson: string, events: RunnerEvents): void {
    const claim = this.#channel.begin(command.claim, events, command.resultMaxBytes);
    this.#worker.postMessage(runLine({ ...command, claim }, paramsJson));
  }

  giveGroup(jobs: readonly GroupJob[]): void {
    for (const line of groupLines(this.#channel, jobs)) this.#worker.postMessage(line);
  }

  forget(): void {
    this.#channel.forget();
  }

  abort(claim: number, reason: AbortReason): void {
    const run = this.#channel.runOf(claim);
    if (run === null) return;
    this.#worker.postMessage(messageLine({ type: 'abort', claim: run, reason }));
  }

  saved(claim: number, seq: number, answer: SaveAnswer): void {
    const run = this.#channel.runOf(claim);
    if (run === null) return;
    this.#worker.postMessage(messageLine({ type: 'saved', claim: run, seq, ...answer }));
  }

  /** A thread has no signals. */
  terminate(): void {
    this.kill();
  }

  kill(): void {
    this.#end(null);
  }

  #end(message: string | null): void {
    if (message !== null) this.#cause ??= { code: 'CRASHED', message };
    if (this.#ending) return;
    this.#ending = true;
    void this.#worker.terminate();
    setTimeout(() => {
      const cause = 'the thread of the job does not end: it is abandoned and may still run';
      this.#giveUp({ ...PLAIN_EXIT, cause: { code: 'CRASHED', message: cause } });
    }, GIVE_UP_MS).unref();
  }

  #receive(line: unknown): void {
    if (
      typeof line !== 'string' ||
      line.length > this.#channel.lineMax ||
      !this.#channel.receive(line)
    ) {
      return this.#end('the job wrote on the connection between its thread and the worker');
    }
    const { length } = line;
    const pauseMs = this.#rate.spend(length + LINE_COST, this.#clock.monotonicMs());
    if (pauseMs < 1) this.#credit.payBack(length);
    else setTimeout(() => this.#credit.payBack(length), pauseMs).unref();
  }

  #outcome(message: OutcomeMessage, report: (message: OutcomeMessage) => void): void {
    this.#retired = this.#recycling.count() || message.spent;
    // Its output has arrived, but is reported a moment later than its messages.
    setImmediate(() => {
      for (const lines of this.#lines) lines.flush();
      report(message);
    });
  }

  #ended(code: number): RunnerExit {
    for (const lines of this.#lines) lines.flush();
    const wasAsked = this.#ending;
    this.#ending = true;
    const message = `the thread of the job ended itself with exit code ${code}`;
    const cause = this.#cause ?? (wasAsked ? null : ({ code: 'CRASHED', message } as const));
    return { ...PLAIN_EXIT, cause };
  }

  #causeOf(error: unknown): NonNullable<RunnerExit['cause']> {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== 'ERR_WORKER_OUT_OF_MEMORY') return { code: 'CRASHED', message };
    return {
      code: 'OUT_OF_MEMORY',
      message: `the job needed more memory than the ${this.#memoryMb} MB of its thread`,
    };
  }

  #read(name: 'stdout' | 'stderr', stream: Readable): void {
    const throttle = new Throttle(stream, this.#clock);
    const lines = new OutputLines((line) => this.#channel.output(name, line));
    this.#lines.push(lines);
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      const count = lines.push(chunk);
      if (count === 0) this.#channel.partOfLine();
      throttle.spend(chunk.length + count * LINE_COST);
    });
  }
}
