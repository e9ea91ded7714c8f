import { spawn, type ChildProcess } from 'node:child_process';
import { systemClock } from '../runtime/clock.ts';
import { sleep } from '../runtime/deadline.ts';
import type { Log } from '../runtime/log.ts';
import type { Cluster } from './cluster-folder.ts';
import { readPostmasterFile } from './postmaster-file.ts';
import { ServerLog } from './server-log.ts';
import type { Launch } from './server-user.ts';
import { obstacleIn, StartFailure } from './start-failure.ts';

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
  error?: Error;
}

/** One run of the server process, from spawn to exit. */
export class Postmaster {
  readonly exited: Promise<Exit>;
  readonly #child: ChildProcess;
  readonly #log: Log;
  readonly #serverLog: ServerLog;
  readonly #folder: string;
  #exit: Exit | undefined;

  /** `unrelatedPid`: a process that `postmaster.pid` names although it is not a server. */
  static async launch(
    { folder, launch }: Pick<Cluster, 'folder' | 'launch'>,
    settings: Record<string, string>,
    log: Log,
    unrelatedPid: number | undefined,
  ): Promise<Postmaster> {
    const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const args = (path: string) => ['-D', path, ...flags];
    return new Postmaster(
      folder,
      await launch({ program: 'postgres', folder, args }),
      log,
      unrelatedPid,
    );
  }

  private constructor(folder: string, launch: Launch, log: Log, unrelatedPid: number | undefined) {
    const { env } = launch.options;
    this.#child = spawn(launch.command, launch.args, {
      ...launch.options,
      // PostgreSQL treats a lock file that names its own ancestor as stale. This is the supported
      // way to say so; all its other checks stay, and we never touch the file.
      env: unrelatedPid === undefined ? env : { ...env, PG_GRANDPARENT_PID: `${unrelatedPid}` },
      stdio: ['ignore', 'ignore', 'pipe'],
      // Its own process group, so that Ctrl-C does not reach the database while jobs run.
      detached: true,
    });
    this.exited = this.#watch();
    this.#folder = folder;
    this.#log = log;
    this.#serverLog = new ServerLog(this.#child.stderr, log);
  }

  get pid(): number | undefined {
    return this.#exit ? undefined : this.#child.pid;
  }

  /**
   * Resolves when connections are accepted. Crash recovery may take any time, so there is no time
   * limit: only the exit of the process is a failure. Reads the server's status file, as pg_ctl
   * does; connection attempts would fill the log with refusals.
   */
  async ready(signal: AbortSignal): Promise<void> {
    const startedMs = systemClock.monotonicMs();
    let reportAtMs = 5_000;
    for (;;) {
      if (this.#exit) throw await this.#failure(this.#exit);
      signal.throwIfAborted();
      const file = await readPostmasterFile(this.#folder);
      if (file?.pid === this.#child.pid && file?.status === 'ready') {
        this.#serverLog.attentive = true;
        return;
      }
      const waitedMs = systemClock.monotonicMs() - startedMs;
      if (waitedMs >= reportAtMs) {
        this.#log.info({ waitedMs: Math.round(waitedMs) }, 'still waiting for PostgreSQL');
        reportAtMs += 5_000;
      }
      await sleep(20, signal);
    }
  }

  /** Stops the server and waits for it. Safe at any time. */
  async stop(): Promise<void> {
    this.#serverLog.attentive = false;
    const { pid } = this;
    if (pid === undefined) return;
    await shutDown(pid, this.exited, this.#log);
  }

  async #watch(): Promise<Exit> {
    // When this process exits without a stop (an uncaught error), the server is stopped as well.
    const goToo = () => this.#child.kill('SIGINT');
    process.once('exit', goToo);
    const exit = await new Promise<Exit>((resolve) => {
      this.#child.once('exit', (code, signal) => resolve({ code, signal }));
      this.#child.once('error', (error) => resolve({ code: null, signal: null, error }));
    });
    process.off('exit', goToo);
    this.#exit = exit;
    this.#serverLog.attentive = false;
    return exit;
  }

  async #failure(exit: Exit): Promise<StartFailure> {
    // Backends that outlive a killed server may keep the pipe open, hence the limit.
    await Promise.race([this.#serverLog.closed, sleep(1_000)]);
    const ended = exit.error?.message ?? `it ended with ${exit.signal ?? `code ${exit.code}`}`;
    const { lastComplaint, text } = this.#serverLog;
    return new StartFailure(lastComplaint ?? ended, obstacleIn(text, exit.signal));
  }
}

/**
 * A fast shutdown (SIGINT) writes a checkpoint, which may take long on a slow disk. After a minute
 * follows an immediate one (SIGQUIT), which is safe but needs recovery at the next start.
 */
export async function shutDown(pid: number, gone: Promise<unknown>, log: Log): Promise<void> {
  let isGone = false;
  const end = gone.then(() => {
    isGone = true;
  });
  const steps = [
    ['SIGINT', 60_000],
    ['SIGQUIT', 30_000],
    ['SIGKILL', 10_000],
  ] as const;
  for (const [signal, patienceMs] of steps) {
    if (signal !== 'SIGINT')
      log.warn({ pid, signal }, 'PostgreSQL does not stop; sending a stronger signal');
    try {
      process.kill(pid, signal);
    } catch {
      // It exited between the check and the signal.
    }
    const enough = new AbortController();
    await Promise.race([end, sleep(patienceMs, enough.signal)]);
    enough.abort();
    if (isGone) return;
  }
}
