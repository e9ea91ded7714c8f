import { existsSync } from 'node:fs';
import { builtModules } from '../../runtime/code.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import { readTag } from '../../runtime/processes/name-tag.ts';
import { Sandboxes, type SandboxesSettings } from '../isolation/sandboxes.ts';
import { SHELL } from '../isolation/launcher.ts';
import { ProcessRunner } from './process-runner.ts';
import type { RunnerReport } from './runner.ts';
import { Watchdog } from '../watchdog.ts';

export interface StartCheckOptions extends SandboxesSettings {
  /** A file or folder of definitions. */
  jobs: string;
  clock: Clock;
  log: Log;
}

export interface StartCheck {
  /** What a worker would report about the definitions. */
  report: RunnerReport;
  shell: boolean;
  /** Whether the process could be found by its name tag. */
  found: boolean;
  /** Whether jobs have users of their own here, and a warning for the operator if not. */
  hasUsers: boolean;
  warning: string | null;
}

/**
 * Starts one runner exactly as a worker does, and ends it: shows the problems that a worker would
 * have. Rejects when the runner did not start. Leaves nothing behind.
 */
export async function tryRunner({
  jobs,
  clock,
  log,
  ...settings
}: StartCheckOptions): Promise<StartCheck> {
  // Before the sandboxes, whose view of the code shows what is built by then.
  const plan = { files: null, modules: builtModules() };
  const watchdog = new Watchdog(clock, log);
  // Without a memory limit it needs no control group.
  const noGroups = () => null;
  const room = new Sandboxes({
    ...settings,
    jobs,
    controlGroups: noGroups,
    slots: 1,
    watchdog,
    clock,
    log,
  });
  await watchdog.start();
  try {
    await room.start();
    const runner = new ProcessRunner(room.sandbox(null), {
      jobsPath: jobs,
      memoryMb: null,
      maxJobs: 1,
      plan,
    });
    try {
      const report = await runner.ready();
      const found = runner.pid !== null && readTag(runner.pid) !== null;
      const { hasUsers, warning } = room;
      return { report, shell: existsSync(SHELL), found, hasUsers, warning };
    } finally {
      runner.kill();
      await runner.exited;
    }
  } finally {
    await room.stop();
    await watchdog.stop();
  }
}
