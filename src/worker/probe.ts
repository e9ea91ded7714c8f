import {
  accessSync,
  chmodSync,
  constants,
  copyFileSync,
  existsSync,
  mkdtempSync,
  writeFileSync,
} from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { programFile } from '../runtime/code.ts';
import { withDeadline } from '../runtime/deadline.ts';
import { Sandboxes } from './isolation/sandboxes.ts';
import { GuardedProcess } from './isolation/guarded-process.ts';
import type { Attempt, ProbeTargets } from './probe/escape.ts';
import type { StartCheckOptions } from './runners/start-check.ts';
import { Watchdog } from './watchdog.ts';

export type ProbeOptions = StartCheckOptions &
  Pick<ProbeTargets, 'databaseFile' | 'configFile' | 'openServer'>;

export interface Probe {
  attempts: Attempt[];
  /** Whether jobs have users of their own here. */
  hasUsers: boolean;
}

/** Has params, prints that it started, and waits. */
const NEIGHBOUR = ['/bin/sh', '-c', 'echo secret > "$TMPDIR/params"; echo begun; exec sleep 300'];
const MEMORY_MB = 512;
/** More than a job may have (`isolation/sandboxes.ts`). */
const PROCESSES = 640;
const PROBE_MS = 60_000;

/**
 * Starts two processes exactly as a worker starts those of jobs: an idle neighbour, and one that
 * tries every escape (`probe/main.ts`), on the neighbour, on this process in place of the worker,
 * and on files made for it. Leaves nothing behind.
 */
export async function probeIsolation(options: ProbeOptions): Promise<Probe> {
  const { jobs, clock, log, databaseFile, configFile, openServer, ...settings } = options;
  const watchdog = new Watchdog(clock, log);
  const room = new Sandboxes({ ...settings, jobs, slots: 2, watchdog, clock, log });
  const stage = mkdtempSync(join(tmpdir(), 'longshore-probe-'));
  await watchdog.start();
  try {
    await room.start();
    const home = room.sandbox(null);
    const begun = Promise.withResolvers<void>();
    const neighbour = new GuardedProcess(home, NEIGHBOUR, {}, () => begun.resolve());
    try {
      await withDeadline(Promise.race([begun.promise, neighbour.exited]), PROBE_MS, 'a process');
      const targets: ProbeTargets = {
        workerPid: process.pid,
        neighbour: { pid: neighbour.pid ?? 0, file: join(home.folder, 'params') },
        privateFile: privateFile(stage),
        databaseFile,
        configFile,
        code: [programFile('worker/probe/main'), ...(existsSync(jobs) ? [jobs] : [])],
        setuidProgram: setuidProgram(stage),
        openServer,
        processes: PROCESSES,
      };
      return { attempts: await runProbe(room, targets), hasUsers: room.hasUsers };
    } finally {
      neighbour.kill();
      await neighbour.exited;
    }
  } finally {
    await room.stop();
    await watchdog.stop();
    await rm(stage, { recursive: true, force: true });
  }
}

async function runProbe(room: Sandboxes, targets: ProbeTargets): Promise<Attempt[]> {
  const lines: string[] = [];
  const argv = [
    process.execPath,
    '--disable-warning=ExperimentalWarning',
    programFile('worker/probe/main'),
    JSON.stringify(targets),
  ];
  const probe = new GuardedProcess(room.sandbox(MEMORY_MB), argv, {}, (_, line) =>
    lines.push(line),
  );
  try {
    await withDeadline(probe.exited, PROBE_MS, 'the probe');
  } finally {
    probe.kill();
    await probe.exited;
  }
  const report = lines.find((line) => line.startsWith('[{"escape"'));
  if (report === undefined)
    throw new Error(`the probe printed no report: ${lines.join(' ').slice(0, 300)}`);
  return JSON.parse(report) as Attempt[];
}

/** In a folder that others may enter, so that only its own mode protects it. */
function privateFile(stage: string): string {
  chmodSync(stage, 0o755);
  const file = join(stage, 'private');
  writeFileSync(file, 'secret', { mode: 0o600 });
  return file;
}

/** It prints its uid, and so whether a job that runs it became root. */
function setuidProgram(stage: string): string | null {
  if (process.getuid?.() !== 0) return null;
  const id = '/usr/bin/id';
  try {
    accessSync(id, constants.X_OK);
    const program = join(stage, 'id');
    copyFileSync(id, program);
    chmodSync(program, 0o4755);
    return program;
  } catch {
    return null;
  }
}
