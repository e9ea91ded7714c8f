import { type ChildProcess, fork } from 'node:child_process';
import { sleep } from '../deadline.ts';
import { childEnvironment } from './environment.ts';
import type { Log } from '../log.ts';
import { Backoff } from '../persist.ts';
import type { Service } from '../service.ts';
import { type RefusalKind, StartRefusal } from '../start-refusal.ts';

export interface ChildServiceOptions {
  name: string;
  /** A module that calls `serveAsChild`. */
  entry: string;
  /** Sent over the channel, not by argv or environment, since it may hold secrets. */
  message: Record<string, unknown>;
  /** Variables of ours that the child gets besides the harmless ones; see `environment.ts`. */
  environment?: string | null;
  log: Log;
  /** How long a stop may take before the process is killed. */
  stopMs: number;
  /** Called when a process that was up ended without being stopped. */
  onDeath?: ((death: Death) => void) | undefined;
}

export interface Death {
  pid: number;
  /** A signal such as `SIGKILL`, or `exit code 1`. */
  endedBy: string;
}

const HEALTHY_MS = 10_000;

/** What a child reports: that it is ready, or why it cannot start. */
interface ChildMessage<Ready> {
  ready?: Ready;
  refused?: { kind: RefusalKind; message: string };
  /** Why this start failed; the next one may work. */
  failed?: string;
}

/** How one run of the process ended. */
interface Life {
  wasUp: boolean;
  refused: StartRefusal | null;
  orderly: boolean;
  /** The exit code or signal, for people. */
  end: string;
  /** Null if the process was never up, or ended in order. */
  death: Death | null;
}

/**
 * A part of the server in its own process. It is restarted whenever it exits without being stopped,
 * also after an orderly exit. It may refuse to start only before it was ready for the first time.
 * It leads its own process group, so that Ctrl-C in a terminal reaches only the parent, which stops
 * its parts in order.
 */
export class ChildService<Ready> implements Service {
  readonly name: string;
  readonly #options: ChildServiceOptions;
  #stopping = new AbortController();
  #supervision: Promise<void> | undefined;
  #child: ChildProcess | undefined;
  #ready: Ready | undefined;
  /** Callbacks that wait for the next ready process, or for the end. */
  #awaited: (() => void)[] = [];

  constructor(options: ChildServiceOptions) {
    this.name = options.name;
    this.#options = options;
  }

  /** The last ready message of the process. */
  get ready(): Ready | undefined {
    return this.#ready;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Resolves when the process is ready, after any number of restarts. */
  async start(signal?: AbortSignal): Promise<void> {
    if (this.#supervision) return;
    this.#stopping = new AbortController();
    const up = Promise.withResolvers<void>();
    this.#supervision = this.#supervise(this.#stopping.signal, up.resolve).then(
      () => up.reject(new Error(`the ${this.name} process was stopped before it was up`)),
      up.reject,
    );
    const stop = () => void this.stop();
    signal?.addEventListener('abort', stop, { once: true });
    try {
      if (signal?.aborted) stop();
      await up.promise;
    } finally {
      signal?.removeEventListener('abort', stop);
    }
  }

  /** Asks the process to exit in an orderly way; resolves when its successor is ready. */
  async renew(): Promise<void> {
    if (!this.#supervision) throw new Error(`the ${this.name} is not running`);
    const next = new Promise<void>((resolve) => this.#awaited.push(resolve));
    if (this.#child?.connected) this.#child.send({ stop: true });
    await next;
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    if (this.#child?.connected) this.#child.send({ stop: true });
    const patience = new AbortController();
    void sleep(this.#options.stopMs, patience.signal).then(() => {
      if (!patience.signal.aborted) this.#child?.kill('SIGKILL');
    });
    await this.#supervision;
    patience.abort();
    this.#supervision = undefined;
    this.#tellAwaited();
  }

  #tellAwaited(): void {
    for (const send of this.#awaited.splice(0)) send();
  }

  async #supervise(stopping: AbortSignal, up: () => void): Promise<void> {
    const { log, onDeath } = this.#options;
    const backoff = new Backoff();
    let everUp = false;
    while (!stopping.aborted) {
      const startMs = performance.now();
      const { wasUp, refused, orderly, end, death } = await this.#live(up);
      everUp ||= wasUp;
      if (refused && !everUp) throw refused;
      if (stopping.aborted) return;
      if (death !== null) onDeath?.(death);
      if (wasUp && (orderly || performance.now() - startMs > HEALTHY_MS)) backoff.reset();
      const about = { service: this.name, pauseMs: backoff.next() };
      if (orderly) log.info(about, 'stopped as asked; restarting');
      else log.warn(about, `${end}; starting it again`);
      await sleep(about.pauseMs, stopping);
    }
  }

  /** One run of the process, up to its exit. */
  async #live(up: () => void): Promise<Life> {
    const child = fork(this.#options.entry, {
      env: childEnvironment(this.#options.environment),
      execArgv: ['--disable-warning=ExperimentalWarning'],
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      detached: true,
    });
    this.#child = child;
    let wasUp = false;
    let refused: StartRefusal | null = null;
    let reason = '';
    child.on('message', (message: ChildMessage<Ready>) => {
      if (message.refused)
        refused = new StartRefusal(message.refused.kind, message.refused.message);
      reason = message.refused?.message ?? message.failed ?? '';
      if (message.ready === undefined) return;
      this.#ready = message.ready;
      wasUp = true;
      up();
      this.#tellAwaited();
    });
    const { message, stopMs } = this.#options;
    child.send({ ...message, stopMs }, () => undefined);
    const [exit, endedBy] = await new Promise<[string, string | null]>((resolve) => {
      child.once('exit', (code, signal) => {
        const exitCode = `exit code ${code}`;
        resolve(signal === null ? [exitCode, exitCode] : [`signal ${signal}`, signal]);
      });
      child.once('error', (error) => resolve([error.message, null]));
    });
    this.#child = undefined;
    const when = wasUp ? '' : ' during start-up';
    const end = `the ${this.name} process exited${when} (${exit})${reason && `: ${reason}`}`;
    const orderly = wasUp && exit === 'exit code 0';
    const { pid } = child;
    const isDeath = wasUp && !orderly && endedBy !== null && pid !== undefined;
    return { wasUp, refused, orderly, end, death: isDeath ? { pid, endedBy } : null };
  }
}

interface ServedChild<Ready> {
  ready: Ready;
  stop(): Promise<void>;
  leaves?: Promise<void> | undefined;
}

/**
 * The child's side: waits for the parent's message, starts, reports ready, and stops on request,
 * when it `leaves` by itself, or when the parent is gone: the channel of a killed parent closes.
 * `begin` must end early when its signal aborts.
 *
 * Without a parent, no process ends a stop that takes too long, such as one that waits for a database
 * that ended with the parent. So the child gives itself the time that the parent gave it, and a
 * second SIGTERM ends it at once.
 */
export function serveAsChild<Message, Ready>(
  begin: (message: Message, stopping: AbortSignal) => Promise<ServedChild<Ready>>,
): void {
  let running: ReturnType<typeof begin> | undefined;
  let stopMs = 0;
  const stopping = new AbortController();
  const send = (message: ChildMessage<Ready>, sent: () => void = () => undefined) =>
    process.send?.(message, sent);
  const end = () => {
    if (stopping.signal.aborted) return;
    stopping.abort();
    void (running ?? Promise.resolve(undefined))
      // A failed start has already been reported and cleaned up.
      .catch(() => undefined)
      .then(async (service) => await service?.stop())
      .then(
        () => process.exit(0),
        () => process.exit(1),
      );
  };
  process.on('message', (message: Message & { stop?: boolean; stopMs: number }) => {
    if (message.stop) return end();
    ({ stopMs } = message);
    running = begin(message, stopping.signal);
    running.then(
      ({ ready, leaves }) => {
        send({ ready });
        void leaves?.then(end);
      },
      (error: unknown) => {
        if (stopping.signal.aborted) return;
        const message = error instanceof Error ? error.message : String(error);
        const refused = error instanceof StartRefusal && { kind: error.kind, message: message };
        send(refused ? { refused } : { failed: message }, () => process.exit(1));
      },
    );
  });
  process.on('disconnect', () => {
    end();
    void sleep(stopMs).then(() => process.exit(1));
  });
  process.on('SIGTERM', () => {
    if (stopping.signal.aborted && !process.connected) process.exit(1);
    end();
  });
}
