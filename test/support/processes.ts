import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { compileCache } from './compile-cache.ts';
import { until } from './until.ts';

/** Real processes of the real program, as a user starts them. */

export const BIN = fileURLToPath(new URL('../../bin/longshore.js', import.meta.url));
export const FIXTURES = fileURLToPath(new URL('./fixtures/', import.meta.url));

export interface Running {
  role: string;
  pid: number;
  /** What it said on stdout once it was up. */
  summary: { address: string; definitions: { key: string }[]; problems: string[] };
  /** Everything it wrote to stderr so far. */
  stderr(): string;
  signal(signal: NodeJS.Signals): void;
  exited: Promise<{ code: number | null; signal: string | null }>;
}

export interface LaunchOptions {
  /** Flags of the role. */
  args?: readonly string[];
  env?: Record<string, string>;
  cwd?: string;
  /** Without --json: what a person sees. */
  plain?: true;
  /** It leads a process group of its own, as a command in a terminal does. */
  detached?: true;
  /** Whom it runs as, if we are root. */
  user?: { uid?: number; gid?: number };
}

/**
 * The jobs of most tests leave evidence in a folder of the test, which users of their own could not
 * write to. Tests of these users say otherwise.
 */
const DEFAULTS = { LONGSHORE_PORT: '0', LONGSHORE_RUNNER_UIDS: 'none' };

const started = new Set<ChildProcess>();

/** One that may not be up yet. */
export interface Starting extends Omit<Running, 'summary'> {
  /** What it said on stdout once it was up; null until then. */
  summary(): Running['summary'] | null;
}

/** Starts `longshore ROLE --json` and waits for nothing. */
export function begin(role: string, options: LaunchOptions = {}): Starting {
  const how = options.plain ? [] : ['--json'];
  const child = spawn(process.execPath, [BIN, role, ...how, ...(options.args ?? [])], {
    env: { PATH: process.env['PATH'], ...DEFAULTS, ...compileCache(), ...options.env },
    cwd: options.cwd ?? process.cwd(),
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: options.detached ?? false,
    ...options.user,
  });
  started.add(child);
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const exited = new Promise<{ code: number | null; signal: string | null }>((resolve) => {
    child.once('close', (code, signal) => resolve({ code, signal }));
  });
  return {
    role,
    pid: child.pid ?? 0,
    summary: () => parsed(stdout) as Running['summary'] | null,
    stderr: () => stderr,
    signal: (signal) => void child.kill(signal),
    exited,
  };
}

/** Starts `longshore ROLE --json` and waits until it says that it is up. */
export async function launch(role: string, options: LaunchOptions = {}): Promise<Running> {
  const starting = begin(role, options);
  const summary = await until(`${role} is up`, () => {
    if (!isAlive(starting.pid)) throw new Error(`${role} ended at once:\n${starting.stderr()}`);
    return starting.summary();
  });
  return { ...starting, summary };
}

export interface Finished {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Runs a command to its end. */
export async function run(
  args: readonly string[],
  { env = {}, cwd, stdin = '' }: LaunchOptions & { stdin?: string } = {},
): Promise<Finished> {
  const child = spawn(process.execPath, [BIN, ...args], {
    env: { PATH: process.env['PATH'], ...compileCache(), ...env },
    cwd: cwd ?? process.cwd(),
  });
  started.add(child);
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  child.stdin.end(stdin);
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, stdout, stderr };
}

/** Waits until what was started has ended by itself, for `graceMs` at most. */
export async function ended(graceMs: number): Promise<void> {
  const ends = living().map((child) => new Promise((resolve) => child.once('exit', resolve)));
  await Promise.race([Promise.all(ends), sleep(graceMs, undefined, { ref: false })]);
}

/** Ends what tests left running. Children of a killed parent end by themselves. */
export async function endAll(): Promise<void> {
  const left = living();
  for (const child of left) child.kill('SIGTERM');
  await Promise.all(
    left.map(async (child) => {
      const timer = setTimeout(() => child.kill('SIGKILL'), 20_000);
      await new Promise<void>((resolve) => {
        if (child.exitCode !== null || child.signalCode) resolve();
        child.once('exit', () => resolve());
      });
      clearTimeout(timer);
    }),
  );
  started.clear();
}

function living(): ChildProcess[] {
  return [...started].filter((child) => child.exitCode === null && !child.signalCode);
}

export interface ProcessInfo {
  pid: number;
  parent: number;
  command: string;
}

/** All processes below one, read from /proc. */
export function descendants(root: number): ProcessInfo[] {
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => describe(Number(name)) ?? []);
  const below: ProcessInfo[] = [];
  const parents = new Set([root]);
  for (let grew = true; grew;) {
    grew = false;
    for (const info of all) {
      if (!parents.has(info.pid) && parents.has(info.parent)) {
        parents.add(info.pid);
        below.push(info);
        grew = true;
      }
    }
  }
  return below;
}

export function isAlive(pid: number): boolean {
  return describe(pid) !== null;
}

/** Kills all of them. One may have ended by itself, for example because its parent was killed. */
export function killAll(pids: readonly number[]): void {
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
    }
  }
}

/** Kills a server with its workers, as the loss of its machine does. Alone, they would end their jobs first. */
export async function killWhole(server: Running): Promise<void> {
  killAll([server.pid, ...descendants(server.pid).map(({ pid }) => pid)]);
  await server.exited;
}

function describe(pid: number): ProcessInfo | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (state === 'Z') return null;
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
    return { pid, parent: Number(parent), command };
  } catch {
    return null;
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}
