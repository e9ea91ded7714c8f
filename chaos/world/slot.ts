import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { until } from '../../test/support/until.ts';
import { nowMicros } from '../history/now.ts';
import type { Recorder } from '../history/recorder.ts';
import type { Link } from './link.ts';
import { noticeIn } from './notices.ts';
import { workerProcessesOf } from './worker-processes.ts';

export type Role = 'api' | 'worker' | 'scheduler' | 'start';

export interface SlotOptions {
  name: string;
  role: Role;
  /** Its way to the database. */
  link: Link;
  env: Record<string, string>;
  program: readonly string[];
  recorder: Recorder;
  /** Told where an API listens, whenever it has started. */
  onAddress?: (port: number) => void;
}

const RESTART_MS = 300;
const LOOK_MS = 50;

/**
 * A place in the world that a process of the real program fills. Whatever ends the process, the
 * next one is started soon after, as an operating system would do it.
 */
export class Slot {
  readonly name: string;
  readonly role: Role;
  readonly link: Link;
  readonly #options: SlotOptions;
  #child: ChildProcess | undefined;
  #up = false;
  #vacant = false;
  #stopping = false;
  #supervision: Promise<void> | undefined;

  constructor(options: SlotOptions) {
    this.name = options.name;
    this.role = options.role;
    this.link = options.link;
    this.#options = options;
  }

  /** The process that fills it, from its first moment on. */
  get pid(): number | undefined {
    const child = this.#child;
    return child && child.exitCode === null && child.signalCode === null ? child.pid : undefined;
  }

  /** Whether its process has said that it is up. */
  get isUp(): boolean {
    return this.#up;
  }

  start(): void {
    this.#supervision ??= this.#supervise();
  }

  async up(patienceMs = 300_000): Promise<void> {
    await until(`${this.name} is up`, () => this.#up, patienceMs);
  }

  /** Waits until another process than this one fills it. It may still be starting. */
  async refilled(pid: number): Promise<void> {
    await until(`${this.name} has a new process`, () => (this.pid ?? pid) !== pid);
  }

  /** Signals the process, up or not; answers with its number. */
  signal(signal: NodeJS.Signals): number | undefined {
    const { pid } = this;
    if (pid !== undefined) this.#child?.kill(signal);
    return pid;
  }

  /** A process that ends is not started again until the slot is opened. */
  leaveVacant(vacant: boolean): void {
    this.#vacant = vacant;
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    this.signal('SIGCONT');
    this.signal('SIGTERM');
    const patience = setTimeout(() => this.signal('SIGKILL'), 20_000);
    await this.#supervision;
    clearTimeout(patience);
  }

  async #supervise(): Promise<void> {
    while (!this.#stopping) {
      if (!this.#vacant) await this.#live();
      if (!this.#stopping) await pause(RESTART_MS);
    }
  }

  async #live(): Promise<void> {
    const { name, role, env, program, recorder } = this.#options;
    const child = spawn(process.execPath, [...program, role, '--json'], {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    const pid = child.pid ?? 0;
    recorder.write('processes', { at: nowMicros(), slot: name, pid, phase: 'spawn' });
    let said = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      if (!this.#up) this.#announce(said, pid);
    });
    createInterface({ input: child.stderr }).on('line', (line) => {
      recorder.line(`${name}.log`, line);
      const notice = noticeIn(line);
      if (notice) recorder.write('notices', { at: nowMicros(), slot: name, ...notice });
    });
    const watch = role === 'start' ? this.#watchWorkers(pid) : undefined;
    const [code, signal] = await new Promise<[number | null, string | null]>((resolve) => {
      child.once('error', () => resolve([null, null]));
      child.once('exit', (...exit) => resolve(exit));
    });
    clearInterval(watch);
    this.#up = false;
    const exit = { phase: 'exit', code, signal } as const;
    recorder.write('processes', { at: nowMicros(), slot: name, pid, ...exit });
  }

  /** Its workers are processes of their own, and register under their own numbers. */
  #watchWorkers(parent: number): NodeJS.Timeout {
    const { name: slot, recorder } = this.#options;
    let known: number[] = [];
    const tell = (pid: number, phase: 'spawn' | 'exit') =>
      recorder.write('processes', { at: nowMicros(), slot, pid, phase, parent });
    return setInterval(() => {
      const now = workerProcessesOf(parent);
      for (const pid of now) if (!known.includes(pid)) tell(pid, 'spawn');
      for (const pid of known) if (!now.includes(pid)) tell(pid, 'exit');
      known = now;
    }, LOOK_MS);
  }

  #announce(said: string, pid: number): void {
    const summary = summaryIn(said);
    if (!summary) return;
    this.#up = true;
    if (summary.address) this.#options.onAddress?.(Number(new URL(summary.address).port));
    const { name, recorder } = this.#options;
    recorder.write('processes', { at: nowMicros(), slot: name, pid, phase: 'up' });
  }
}

function summaryIn(text: string): { address: string | null } | null {
  try {
    return JSON.parse(text) as { address: string | null };
  } catch {
    return null;
  }
}
