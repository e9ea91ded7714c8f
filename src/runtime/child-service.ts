import { type ChildProcess, fork } from 'node:child_process';
import { sleep } from './deadline.ts';
import { childEnvironment } from './environment.ts';
import type { Log } from './log.ts';
import type { Service } from './service.ts';

export interface ChildServiceOptions {
  name: string;
  /** A module that calls `serveAsChild`. */
  entry: string;
  /** Sent over the channel, not by argv or environment, since it may hold secrets. */
  message: Record<string, unknown>;
  /** Variables of ours that it gets besides the harmless ones; see `environment.ts`. */
  environment?: string | null;
  log: Log;
  /** How long a stop may take before the process is killed. */
  stopMs: number;
}

const RESTART_MS_MIN = 200;
const RESTART_MS_MAX = 5_000;
const HEALTHY_MS = 10_000;

/**
 * A part of the server that lives in its own process and is started again whenever it ends without
 * having been asked to, also when it left in good order because somebody else asked it. It leads its own process group, so that Ctrl-C in a terminal reaches only
 * the parent, which then stops its parts in order.
 */
export class ChildService<Ready> implements Service {
  readonly name: string;
  readonly #options: ChildServiceOptions;
  #stopping = new AbortController();
  #supervision: Promise<void> | undefined;
  #child: ChildProcess | undefined;
  #ready: Ready | undefined;
  /** Who waits for the next one to be up, or for the end of it all. */
  #awaited: (() => void)[] = [];

  constructor(options: ChildServiceOptions) {
    this.name = options.name;
    this.#options = options;
  }

  /** What the process said when it was last up. */
  get ready(): Ready | undefined {
    return this.#ready;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** The first start must succeed; later ones are tried until it does. */
  async start(): Promise<void> {
    if (this.#supervision) return;
    this.#stopping = new AbortController();
    let firstUp: (error?: Error) => void = () => undefined;
    const up = new Promise<void>((resolve, reject) => {
      firstUp = (error) => (error ? reject(error) : resolve());
    });
    this.#supervision = this.#supervise(this.#stopping.signal, firstUp);
    await up;
  }

  /** Asks the process to leave in good order; resolves when the next one is up in its place. */
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
    for (const tell of this.#awaited.splice(0)) tell();
  }

  async #supervise(stopping: AbortSignal, firstUp: (error?: Error) => void): Promise<void> {
    const { log } = this.#options;
    let pauseMs = RESTART_MS_MIN;
    for (let life = 1; !stopping.aborted; life += 1) {
      const startMs = performance.now();
      const { refusal, code } = await this.#live(firstUp);
      if (life === 1 && refusal) return firstUp(new Error(refusal));
      if (stopping.aborted) return;
      const orderly = refusal === null && code === 0;
      if (orderly || performance.now() - startMs > HEALTHY_MS) pauseMs = RESTART_MS_MIN;
      const about = { service: this.name, refusal, code, pauseMs };
      if (orderly) log.info(about, 'left in good order; starting a new one');
      else log.warn(about, 'ended unexpectedly; starting it again');
      await sleep(pauseMs, stopping);
      pauseMs = Math.min(RESTART_MS_MAX, pauseMs * 2);
    }
  }

  /** One life of the process, up to its end. `refusal` says why it never came up, if it did not. */
  async #live(up: () => void): Promise<{ refusal: string | null; code: number | null }> {
    const child = fork(this.#options.entry, {
      env: childEnvironment(this.#options.environment),
      execArgv: ['--disable-warning=ExperimentalWarning'],
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      detached: true,
    });
    this.#child = child;
    let refusal: string | null = 'it ended before it was up';
    child.on('message', (message: { ready?: Ready; refused?: string }) => {
      if (message.refused !== undefined) refusal = message.refused;
      if (message.ready === undefined) return;
      this.#ready = message.ready;
      refusal = null;
      up();
      this.#tellAwaited();
    });
    child.on('error', (error) => (refusal = error.message));
    child.send(this.#options.message, () => undefined);
    const code = await new Promise<number | null>((resolve) => {
      child.once('exit', resolve);
      child.once('error', () => resolve(null));
    });
    this.#child = undefined;
    return { refusal, code };
  }
}

interface ServedChild<Ready> {
  ready: Ready;
  stop(): Promise<void>;
  leaves?: Promise<void> | undefined;
}

/**
 * The other side: waits for the parent's message, starts, says so, and stops when it is told to, when
 * it `leaves` by itself, or when the parent is gone. A parent that was killed cannot say goodbye, but
 * its channel closes.
 */
export function serveAsChild<Message, Ready>(
  begin: (message: Message) => Promise<ServedChild<Ready>>,
): void {
  let running: ReturnType<typeof begin> | undefined;
  let ending = false;
  const end = () => {
    if (ending) return;
    ending = true;
    void (running ?? Promise.resolve(undefined))
      .then(async (service) => await service?.stop())
      .then(
        () => process.exit(0),
        () => process.exit(1),
      );
  };
  process.on('message', (message: Message & { stop?: boolean }) => {
    if (message.stop) return end();
    running = begin(message);
    running.then(
      ({ ready, leaves }) => {
        process.send?.({ ready });
        void leaves?.then(end);
      },
      (error: unknown) => {
        const refused = error instanceof Error ? error.message : String(error);
        process.send?.({ refused }, () => process.exit(1));
      },
    );
  });
  process.on('disconnect', end);
  process.on('SIGTERM', end);
}
