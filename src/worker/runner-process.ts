import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { DefinitionInfo } from '../core/definition.ts';
import { childEnvironment } from '../runtime/environment.ts';
import { withDeadline } from '../runtime/deadline.ts';
import { type AbortReason, type FromRunner, LineReader, messageLine } from './ipc.ts';

/**
 * One child process that runs user code, seen from the worker. It leads its own process group, so
 * that a kill reaches whatever the job has started, and Ctrl-C in a terminal does not reach it. It
 * is trusted with nothing: what it says is matched to the claim it was given, and what it does not
 * say in time is not waited for.
 */

export interface RunnerReport {
  definitions: DefinitionInfo[];
  problems: string[];
}

export interface RunnerExit {
  code: number | null;
  signal: string | null;
}

/** What a runner says about the job it was given. */
export type JobMessage = Exclude<FromRunner, { type: 'ready' }>;

export interface RunnerEvents {
  onMessage(message: JobMessage): void;
  onOutput(stream: 'stdout' | 'stderr', line: string): void;
}

// The child is started from the same kind of file as this one: .ts in a checkout, .js when built.
const MAIN = fileURLToPath(
  new URL(`./runner/main${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url),
);
const READY_MS = 60_000;
const OUTPUT_LINE_MAX = 8_192;

export class RunnerProcess {
  readonly pid: number | undefined;
  /** Resolves when the process and its pipes are gone. */
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
    this.pid = this.#child.pid;
    this.#socket = this.#child.stdio[3] as Socket;
    this.#socket.on('error', () => undefined);
    this.exited = new Promise((resolve) => {
      this.#child.once('error', () => resolve({ code: null, signal: null }));
      this.#child.once('close', (code, signal) => resolve({ code, signal }));
    });
    this.#child.once('exit', () => {
      this.#alive = false;
      // What the job left running in its group must not outlive it, nor keep our pipes open.
      this.#signalGroup('SIGKILL');
    });
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

  /** Gives the process a job. Everything it says from now on goes to these events. */
  give(line: string, events: RunnerEvents): void {
    this.#events = events;
    this.#socket.write(line);
  }

  /** Nobody listens any more; a late word about an ended job falls to the floor. */
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

  #signalGroup(signal: 'SIGTERM' | 'SIGKILL'): void {
    if (this.pid === undefined) return;
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
    let message: FromRunner;
    try {
      message = JSON.parse(line) as FromRunner;
    } catch {
      return this.kill();
    }
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
