import type { ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import { sleep } from '../../runtime/deadline.ts';
import { type ProcessUsage, usageOf } from '../../runtime/processes/process-usage.ts';
import { PLAIN_EXIT, type RunnerExit } from '../runners/runner.ts';
import { LINE_COST, Throttle } from './byte-rate.ts';
import type { Sandbox, Entrance } from './sandbox.ts';
import { OutputLines } from './output-lines.ts';

export type OutputStream = 'stdout' | 'stderr';
export type OutputListener = (stream: OutputStream, line: string) => void;

/** How long to wait for the last output of a process after its exit. */
const LAST_WORDS_MS = 200;

/** What programs print when they exit for lack of memory. */
const OUT_OF_MEMORY =
  /heap out of memory|process out of memory|bad_alloc|Allocation failed|MemoryError|Cannot allocate memory/;

const ENDED_FROM_OUTSIDE = ['SIGKILL', 'SIGTERM', 'SIGINT', 'SIGHUP'];

/**
 * A process that runs user code: its output, its end, and its remains. When it exits, its children
 * are ended too, also those that left its process group; then `exited` resolves.
 */
export class GuardedProcess {
  readonly pid: number | null;
  /** Its file descriptor 3. */
  readonly socket: Socket;
  readonly exited: Promise<RunnerExit>;
  readonly #child: ChildProcess;
  readonly #sandbox: Sandbox;
  readonly #listener: OutputListener;
  /** It wrote something that is not a whole line yet. */
  readonly #onPartOfLine: () => void;
  readonly #streams: { lines: OutputLines; throttle: Throttle }[] = [];
  #running: boolean;
  #cause: RunnerExit['cause'] = null;
  #reportedOutOfMemory = false;
  #lastUsage: ProcessUsage | null = null;

  constructor(
    sandbox: Sandbox,
    argv: readonly string[],
    entrance: Entrance,
    listener: OutputListener = () => undefined,
    onPartOfLine: () => void = () => undefined,
  ) {
    this.#sandbox = sandbox;
    this.#listener = listener;
    this.#onPartOfLine = onPartOfLine;
    this.#child = sandbox.enter(argv, entrance);
    this.pid = this.#child.pid ?? null;
    this.#running = this.pid !== null;
    this.socket = this.#child.stdio[3] as Socket;
    this.socket.on('error', () => undefined);
    const closed = new Promise<void>((resolve) => this.#child.once('close', () => resolve()));
    this.exited = new Promise((resolve) => {
      this.#child.once('error', (error) => {
        if (this.pid === null) resolve(this.#neverBegan(error));
      });
      this.#child.once('exit', (code, signal) => resolve(this.#ended(code, signal, closed)));
    });
    this.#read('stdout');
    this.#read('stderr');
  }

  get running(): boolean {
    return this.#running;
  }

  /** Never after its exit, when the pid may be reused. */
  signal(signal: 'SIGTERM' | 'SIGKILL'): void {
    if (this.pid === null || !this.#running) return;
    this.sampleUsage();
    try {
      process.kill(-this.pid, signal);
    } catch {
      // The group is empty.
    }
  }

  /** The first reason counts. */
  kill(cause: RunnerExit['cause'] = null): void {
    if (this.#running) this.#cause ??= cause;
    this.signal('SIGKILL');
  }

  /** Its current usage; the last sample is kept for a process that is killed. */
  sampleUsage(): ProcessUsage | null {
    if (this.pid !== null && this.#running) this.#lastUsage = usageOf(this.pid) ?? this.#lastUsage;
    return this.#lastUsage;
  }

  /**
   * Calls back when everything written before has been read. A process writes its output before it
   * reports its outcome on the socket, but the socket may be read first.
   */
  afterOutput(then: () => void): void {
    const settle = () => {
      for (const { lines } of this.#streams) lines.flush();
      then();
    };
    const paused = this.#streams.some(({ throttle }) => throttle.paused);
    for (const { throttle } of this.#streams) if (throttle.paused) throttle.lift();
    // One round of the event loop reads every readable stream; a paused one needs two.
    if (paused) setImmediate(() => setImmediate(settle));
    else setImmediate(settle);
  }

  async #ended(
    code: number | null,
    signal: string | null,
    closed: Promise<void>,
  ): Promise<RunnerExit> {
    // Kill its process group first.
    this.signal('SIGKILL');
    this.#running = false;
    for (const { throttle } of this.#streams) throttle.lift();
    if (this.pid !== null) await this.#sandbox.sweep(this.pid);
    const patience = new AbortController();
    void closed.then(() => patience.abort());
    await sleep(LAST_WORDS_MS, patience.signal);
    this.#closePipes();
    const { memory } = this.#sandbox;
    const exit: RunnerExit = {
      code,
      signal,
      peakRssBytes: memory?.peakBytes ?? this.#lastUsage?.peakRssBytes ?? null,
      cpuMs: this.#lastUsage?.cpuMs ?? null,
      cause: this.#memoryCause(code, signal) ?? this.#cause,
    };
    await this.#sandbox.remove(this.pid);
    return exit;
  }

  async #neverBegan(error: Error): Promise<RunnerExit> {
    this.#closePipes();
    await this.#sandbox.remove(null);
    const message = `the process could not be started: ${error.message}`;
    return { ...PLAIN_EXIT, cause: { code: 'CRASHED', message } };
  }

  #memoryCause(code: number | null, signal: string | null): RunnerExit['cause'] {
    const { memory } = this.#sandbox;
    if (code === 0) return null;
    if (memory?.exceeded) return { code: 'OUT_OF_MEMORY', message: memory.sentence };
    // Without a limit, such output counts only when the process aborted right after it.
    const abort = signal === null ? code === 134 : !ENDED_FROM_OUTSIDE.includes(signal);
    if (!this.#reportedOutOfMemory || !(abort || (memory && signal === null))) return null;
    const message = memory?.sentence ?? 'the job needed more memory than its process may use';
    return { code: 'OUT_OF_MEMORY', message };
  }

  #closePipes(): void {
    this.socket.destroy();
    this.#child.stdout?.destroy();
    this.#child.stderr?.destroy();
    for (const { lines } of this.#streams) lines.flush();
  }

  #read(name: OutputStream): void {
    const stream = this.#child[name];
    if (!stream) return;
    const throttle = new Throttle(stream, this.#sandbox.clock);
    const lines = new OutputLines((line) => {
      if (name === 'stderr' && OUT_OF_MEMORY.test(line)) this.#reportedOutOfMemory = true;
      this.#listener(name, line);
    });
    this.#streams.push({ lines, throttle });
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      const count = lines.push(chunk);
      if (count === 0) this.#onPartOfLine();
      throttle.spend(chunk.length + count * LINE_COST);
    });
  }
}
