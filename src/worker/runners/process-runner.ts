import { resolve } from 'node:path';
import { failureOf } from '../../core/failure/failure.ts';
import { programFile } from '../../runtime/code.ts';
import { withDeadline } from '../../runtime/deadline.ts';
import { usageOf } from '../../runtime/processes/process-usage.ts';
import { StartRefusal } from '../../runtime/start-refusal.ts';
import { tracingUrl } from '../../signals/load-tracing.ts';
import { LINE_COST, Throttle } from '../isolation/byte-rate.ts';
import type { Sandbox } from '../isolation/sandbox.ts';
import { GuardedProcess } from '../isolation/guarded-process.ts';
import {
  type AbortReason,
  LineReader,
  type LoadPlan,
  messageLine,
  type RunCommand,
  runLine,
  type SaveAnswer,
} from '../ipc.ts';
import { IdleCheck } from './idle-check.ts';
import type { GroupJob, RunnerEvents, RunnerExit, RunnerReport, SpawnedRunner } from './runner.ts';
import { groupLines, type OutcomeMessage, RunnerChannel } from './runner-channel.ts';
import { Recycling } from './recycling.ts';

const READY_MS = 60_000;
/** The exit codes of a shell that could not start the program. */
const EXEC_FAILED = [126, 127];
/** How long a process may take to exit after its socket closed. Only a live one takes longer. */
const CLOSED_MS = 1_000;
const MEGABYTE = 1_048_576;
/** What Node needs besides the heap of the job. */
const OUTSIDE_HEAP_MB = 32;
/** A process that grew this large is not used again, so that leaks do not add up. */
const WORN_BYTES = 512 * MEGABYTE;
const WORN_PART = 0.8;
/** The mapped program and libraries count in the size of a Node process, but not in its limit. */
const MAPPED_BYTES = 64 * MEGABYTE;

export interface ProcessRunnerOptions {
  jobsPath: string;
  memoryMb: number | null;
  /** The number of jobs before it is replaced; see `recycling.ts`. */
  maxJobs: number;
  /** A file to import before anything else. */
  tracing?: string | null;
  plan: LoadPlan;
}

/**
 * A Node process that has loaded the definitions and runs one job after the other, each in the
 * folder and under the limits of its sandbox. It gets a job as a line on a socket, and reports the
 * same way.
 */
export class ProcessRunner implements SpawnedRunner {
  readonly exited: Promise<RunnerExit>;
  readonly #process: GuardedProcess;
  readonly #sandbox: Sandbox;
  readonly #recycling: Recycling;
  readonly #recycleBytes: number;
  readonly #channel: RunnerChannel;
  readonly #reader = new LineReader();
  #retired = false;
  /** Made when it is idle for the first time. */
  #idle: IdleCheck | undefined;
  readonly #jobsPath: string;
  /** The usage and peak of the process when its last job ended. */
  #earlier = { cpuMs: 0, peakRssBytes: 0 };

  constructor(sandbox: Sandbox, options: ProcessRunnerOptions) {
    const { jobsPath, memoryMb, maxJobs, plan, tracing = null } = options;
    this.#sandbox = sandbox;
    this.#jobsPath = jobsPath;
    this.#recycling = new Recycling(sandbox.clock, maxJobs);
    this.#recycleBytes =
      memoryMb === null ? WORN_BYTES : WORN_PART * memoryMb * MEGABYTE + MAPPED_BYTES;
    this.#channel = new RunnerChannel(
      (message, report) => this.#outcome(message, report),
      (busy) => this.#idle?.answered(busy),
    );
    this.#process = new GuardedProcess(
      sandbox,
      nodeLine([resolve(jobsPath), sandbox.folder], memoryMb, tracing),
      {},
      (stream, line) => this.#channel.output(stream, line),
      () => this.#channel.partOfLine(),
    );
    this.exited = this.#process.exited.then((exit) => this.#explained(exit));
    void this.exited.then((exit) => this.#channel.exit(exit));
    this.#listen();
    this.#process.socket.write(messageLine({ type: 'load', ...plan }));
  }

  get pid(): number | null {
    return this.#process.pid;
  }

  get alive(): boolean {
    return this.#process.running && !this.#retired;
  }

  /** Waits until the definitions are loaded. Rejects when the process exits or takes too long. */
  async ready(): Promise<RunnerReport> {
    const ended = this.exited.then(({ code, signal, cause }): never => {
      const how = cause?.message ?? signal ?? `exit code ${code}`;
      const itself = code !== null && !EXEC_FAILED.includes(code) && !this.#retired;
      if (itself && cause?.code !== 'OUT_OF_MEMORY') throw badDefinitions(this.#jobsPath, code);
      throw new Error(`the runner exited while loading (${how})`);
    });
    const ready = Promise.race([this.#channel.report, ended]);
    try {
      const report = await withDeadline(ready, READY_MS, 'loading the definitions');
      this.#earlier.cpuMs = (this.pid === null ? null : usageOf(this.pid))?.cpuMs ?? 0;
      return report;
    } catch (error) {
      this.kill();
      throw error;
    }
  }

  give(command: Omit<RunCommand, 'params'>, paramsJson: string, events: RunnerEvents): void {
    this.#idle?.stop();
    const claim = this.#channel.begin(command.claim, events, command.resultMaxBytes);
    this.#reader.lineMax = this.#channel.lineMax;
    this.#process.socket.write(runLine({ ...command, claim }, paramsJson));
    this.#sandbox.memory?.watch(() => this.kill());
  }

  giveGroup(jobs: readonly GroupJob[]): void {
    this.#idle?.stop();
    const lines = groupLines(this.#channel, jobs);
    this.#reader.lineMax = this.#channel.lineMax;
    for (const line of lines) this.#process.socket.write(line);
    this.#sandbox.memory?.watch(() => this.kill());
  }

  forget(): void {
    this.#channel.forget();
    if (!this.alive) return;
    this.#idle ??= new IdleCheck({
      ask: () => this.#process.socket.write(messageLine({ type: 'ask-idle' })),
      cpuMs: () => (this.pid === null ? null : (usageOf(this.pid)?.cpuMs ?? null)),
      end: () => this.kill(),
    });
    this.#idle.begin();
  }

  abort(claim: number, reason: AbortReason): void {
    const run = this.#channel.runOf(claim);
    if (run === null) return;
    this.#process.socket.write(messageLine({ type: 'abort', claim: run, reason }));
  }

  saved(claim: number, seq: number, answer: SaveAnswer): void {
    const run = this.#channel.runOf(claim);
    if (run === null) return;
    this.#process.socket.write(messageLine({ type: 'saved', claim: run, seq, ...answer }));
  }

  terminate(): void {
    this.#retired = true;
    this.#process.signal('SIGTERM');
  }

  kill(): void {
    this.#end(null);
  }

  #end(message: string | null): void {
    this.#retired = true;
    this.#process.kill(message === null ? null : { code: 'CRASHED', message });
  }

  #listen(): void {
    const { socket } = this.#process;
    const throttle = new Throttle(socket, this.#sandbox.clock);
    socket.setEncoding('utf8');
    socket.on('data', (chunk: string) => {
      const lines = this.#reader.push(chunk);
      if (!lines) {
        return this.#end(`the job sent a message of more than ${this.#reader.lineMax} characters`);
      }
      for (const line of lines) {
        if (!this.#channel.receive(line)) {
          return this.#end('the job wrote on the connection between its process and the worker');
        }
      }
      throttle.spend(chunk.length + lines.length * LINE_COST);
    });
    socket.once('end', () => {
      const message = 'the job closed the connection between its process and the worker';
      setTimeout(() => this.#end(message), CLOSED_MS).unref();
    });
  }

  /**
   * The outcome of a job that started processes is reported after they are gone: with the runner,
   * which is ended with its children.
   */
  #outcome(message: OutcomeMessage, report: (message: OutcomeMessage) => void): void {
    const { cpuMs, peakRssBytes, spent } = message;
    this.#sandbox.memory?.unwatch();
    this.#earlier.cpuMs += cpuMs ?? 0;
    this.#earlier.peakRssBytes = Math.max(this.#earlier.peakRssBytes, peakRssBytes ?? 0);
    const large = peakRssBytes !== null && peakRssBytes > this.#recycleBytes;
    if (this.#recycling.count() || spent || large) this.#retired = true;
    if (!spent) return this.#process.afterOutput(() => report(message));
    this.#process.afterOutput(() => this.kill());
    void this.exited.then(({ cause }) => report(withMemory(message, cause)));
  }

  /** Explains an exit without an outcome to the author of the job. */
  #explained(exit: RunnerExit): RunnerExit {
    const { cpuMs, peakRssBytes } = this.#earlier;
    const { code, signal, cause } = exit;
    const usage = this.#process.sampleUsage();
    // An already reported peak belongs to an earlier job; of this one only the last size is known.
    const earlierPeak = usage !== null && usage.peakRssBytes <= peakRssBytes;
    return {
      ...exit,
      cpuMs: exit.cpuMs === null ? null : Math.max(0, exit.cpuMs - cpuMs),
      peakRssBytes: earlierPeak ? usage.rssBytes : exit.peakRssBytes,
      cause: cause ?? this.#unexpected(code, signal),
    };
  }

  #unexpected(code: number | null, signal: string | null): RunnerExit['cause'] {
    if (this.#retired) return null;
    const how =
      code === null
        ? `was ended by ${signal}, which did not come from Longshore`
        : `ended itself with exit code ${code}`;
    const hint =
      signal === 'SIGKILL'
        ? ': perhaps the machine ran out of memory'
        : code === null
          ? ''
          : ': a job returns or throws, it does not call process.exit';
    return { code: 'CRASHED', message: `the process of the job ${how}${hint}` };
  }
}

/** Our own code never exits before the definitions are loaded; so one of them did. */
function badDefinitions(jobsPath: string, code: number): StartRefusal {
  const what = `a definition in ${jobsPath} ended the process that loads it (exit code ${code})`;
  const advice = 'a file of definitions must not call process.exit or let an error escape';
  return new StartRefusal('definitions', `${what}: ${advice}`);
}

/**
 * Adds the out-of-memory cause: a job whose child the kernel killed knows only that the child is
 * gone.
 */
function withMemory(message: OutcomeMessage, cause: RunnerExit['cause']): OutcomeMessage {
  if (message.outcome.kind !== 'failure' || cause?.code !== 'OUT_OF_MEMORY') return message;
  const error = { ...failureOf(cause.code, cause.message), cause: message.outcome.error };
  return { ...message, outcome: { ...message.outcome, error } };
}

/** With a heap limit, V8 collects garbage in time instead of hitting the memory limit. */
function nodeLine(args: string[], memoryMb: number | null, tracing: string | null): string[] {
  const heapMb = memoryMb === null ? null : Math.max(memoryMb / 2, memoryMb - OUTSIDE_HEAP_MB);
  return [
    process.execPath,
    '--disable-warning=ExperimentalWarning',
    // Another job must not be able to open a debugger in this one.
    '--disable-sigusr1',
    ...(heapMb === null ? [] : [`--max-old-space-size=${Math.floor(heapMb)}`]),
    ...(tracing === null ? [] : ['--import', tracingUrl(tracing)]),
    programFile('worker/runner/main'),
    ...args,
  ];
}
