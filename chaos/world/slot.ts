import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { BIN } from '../../test/support/processes.ts';
import { until } from '../../test/support/until.ts';
import { nowMicros } from '../history/now.ts';
import type { Recorder } from '../history/recorder.ts';
import type { Link } from './link.ts';
import { noticeIn } from './notices.ts';

export type Role = 'api' | 'worker' | 'scheduler';

export interface SlotOptions {
  name: string;
  role: Role;
  /** Its way to the database. */
  link: Link;
  env: Record<string, string>;
  nodeArgs: readonly string[];
  recorder: Recorder;
  /** Told where an API listens, whenever it has started. */
  onAddress?: (port: number) => void;
}

const RESTART_MS = 300;

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

  /** The process that fills it, once that has said that it is up. */
  get pid(): number | undefined {
    return this.#up ? this.#child?.pid : undefined;
  }

  start(): void {
    this.#supervision ??= this.#supervise();
  }

  async up(patienceMs = 300_000): Promise<void> {
    await until(`${this.name} is up`, () => this.#up, patienceMs);
  }

  /** Signals the process, up or not; answers with its number. */
  signal(signal: NodeJS.Signals): number | undefined {
    const child = this.#child;
    if (!child?.pid || child.exitCode !== null || child.signalCode !== null) return undefined;
    child.kill(signal);
    return child.pid;
  }

  /** Nobody takes the place of a process that ends, until it is said otherwise. */
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
    const { name, role, env, nodeArgs, recorder } = this.#options;
    const child = spawn(process.execPath, [...nodeArgs, BIN, role, '--json'], {
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
    const [code, signal] = await new Promise<[number | null, string | null]>((resolve) => {
      child.once('error', () => resolve([null, null]));
      child.once('exit', (...exit) => resolve(exit));
    });
    this.#up = false;
    const exit = { phase: 'exit', code, signal } as const;
    recorder.write('processes', { at: nowMicros(), slot: name, pid, ...exit });
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
