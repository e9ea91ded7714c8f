import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { childEnvironment } from '../runtime/environment.ts';
import { withDeadline } from '../runtime/deadline.ts';
import { heard } from './heard.ts';
import { type AbortReason, LineReader, messageLine, type RunCommand, runLine } from './ipc.ts';
import type { Runner, RunnerEvents, RunnerExit, RunnerReport } from './runner.ts';

/**
 * A child process that runs user code, seen from the worker. It leads its own process group, so
 * that a kill reaches whatever the job has started, and Ctrl-C in a terminal does not reach it. It
 * is trusted with nothing: what it says is matched to the claim it was given, and what it does not
 * say in time is not waited for.
 */

// The child is started from the same kind of file as this one: .ts in a checkout, .js when built.
const MAIN = fileURLToPath(
  new URL(`./runner/main${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url),
);
const READY_MS = 60_000;
const OUTPUT_LINE_MAX = 8_192;
/** How long what a process wrote last may take to arrive after its end. */
const LAST_WORDS_MS = 200;

export class ProcessRunner implements Runner {
  readonly pid: number | null;
  /** Resolves when the process is gone and what it said has been read. */
  readonly exited: Promise<RunnerExit>;
  readonly #child: ChildProcess;
  readonly #socket: Socket;
  #events: RunnerEvents | undefined;
  #onReady: ((report: RunnerReport) => void) | undefined;
  #alive = true;

  constructor(jobsPath: string) {
    this.#child = spawn(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', MAIN, jobsPath],
      { stdio: ['ignore', 'pipe', 'pipe', 'pipe'], env: childEnvironment(), detached: true },
    );
    // A start that fails is told later as well, as an event that would end the worker if unheard.
    this.#child.on('error', () => undefined);
    if (this.#child.pid === undefined) throw new Error('no process could be started');
    this.pid = this.#child.pid;
    this.#socket = this.#child.stdio[3] as Socket;
    this.#socket.on('error', () => undefined);
    this.exited = new Promise((resolve) => {
      this.#child.once('close', (code, signal) => resolve({ code, signal }));
      this.#child.once('exit', (code, signal) => {
        // What the job left running in its group must not outlive it.
        this.#signalGroup('SIGKILL');
        this.#alive = false;
        // What it started in a group of its own may hold our pipes open; nobody waits for that.
        setTimeout(() => resolve({ code, signal }), LAST_WORDS_MS).unref();
      });
    });
    void this.exited.then(() => this.#closePipes());
    void this.exited.then((exit) => this.#events?.onExit(exit));
    this.#readMessages();
    this.#readOutput('stdout');
    this.#readOutput('stderr');
  }

  get alive(): boolean {
    return this.#alive;
  }

  /** Waits until the definitions are loaded. Rejects when the process ends or takes too long. */
  async ready(): Promise<RunnerReport> {
    const ready = new Promise<RunnerReport>((resolve) => (this.#onReady = resolve));
    const ended = this.exited.then(({ code, signal }): never => {
      throw new Error(`the runner ended while loading (${signal ?? `exit code ${code}`})`);
    });
    try {
      return await withDeadline(Promise.race([ready, ended]), READY_MS, 'loading the definitions');
    } catch (error) {
      this.kill();
      throw error;
    }
  }

  give(command: Omit<RunCommand, 'params'>, paramsJson: string, events: RunnerEvents): void {
    this.#events = events;
    if (!this.#alive) void this.exited.then((exit) => this.#events?.onExit(exit));
    this.#socket.write(runLine(command, paramsJson));
  }

  forget(): void {
    this.#events = undefined;
  }

  abort(claim: number, reason: AbortReason): void {
    this.#socket.write(messageLine({ type: 'abort', claim, reason }));
  }

  terminate(): void {
    this.#signalGroup('SIGTERM');
  }

  kill(): void {
    this.#signalGroup('SIGKILL');
  }

  #closePipes(): void {
    this.#socket.destroy();
    this.#child.stdout?.destroy();
    this.#child.stderr?.destroy();
  }

  /** Never after its end, when the number may belong to somebody else. */
  #signalGroup(signal: 'SIGTERM' | 'SIGKILL'): void {
    if (this.pid === null || !this.#alive) return;
    try {
      process.kill(-this.pid, signal);
    } catch {
      // Nobody is left in the group.
    }
  }

  #readMessages(): void {
    const reader = new LineReader();
    this.#socket.setEncoding('utf8');
    this.#socket.on('data', (chunk: string) => {
      const lines = reader.push(chunk);
      if (!lines) return this.kill();
      for (const line of lines) this.#receive(line);
    });
  }

  #receive(line: string): void {
    const message = heard(line);
    if (!message) return this.kill();
    if (message.type === 'ready') this.#onReady?.(message);
    else this.#events?.onMessage(message);
  }

  #readOutput(stream: 'stdout' | 'stderr'): void {
    let rest = '';
    this.#child[stream]?.setEncoding('utf8').on('data', (chunk: string) => {
      const lines = (rest + chunk).split('\n');
      rest = (lines.pop() ?? '').slice(0, OUTPUT_LINE_MAX);
      for (const line of lines) this.#events?.onOutput(stream, line.slice(0, OUTPUT_LINE_MAX));
    });
  }
}
