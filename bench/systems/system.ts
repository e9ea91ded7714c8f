/** What every measured job carries: small params, and when a latency is taken, when it was sent. */
export interface Params {
  n: number;
  /** Monotonic milliseconds of the machine at the enqueue call; see `harness/clock.ts`. */
  at?: number;
}

export type Role = 'producer' | 'worker' | 'both';

/**
 * Where user code runs: in the worker, a thread, a warm process, or a new process for each job.
 * `deployed` is a warm process with deployed code.
 */
export type Isolation = 'inline' | 'thread' | 'process' | 'fresh' | 'command' | 'deployed';

/** What a system is set up for when its docs advise different settings for the two. */
export type Aim = 'throughput' | 'latency';

/** Which queues the jobs go to; see the adapter of Longshore. */
export type Queues = 'one' | 'six' | 'mixed';

/** Workers over HTTP: their key, and how many of them. */
export interface Remote {
  key: string;
  workers: number;
}

export interface OpenOptions {
  system: string;
  url: string;
  role: Role;
  isolation: Isolation;
  aim: Aim;
  queues?: Queues;
  remote?: Remote;
  /** The handler answers with a promise, which is settled in a later turn of the event loop. */
  awaits?: boolean;
  handler(params: Params): void | Promise<void>;
}

/** A system at work in this process. */
export interface Opened {
  enqueue(params: Params): Promise<unknown>;
  enqueueMany(list: readonly Params[]): Promise<unknown>;
  stop(): Promise<void>;
}

/** How the benchmark speaks to one system. It runs in agents, never in the harness itself. */
export interface Adapter {
  /** Makes the tables in an empty database. */
  prepare(url: string, aim: Aim): Promise<void>;
  open(options: OpenOptions): Promise<Opened>;
}

/** The half that a role does not have. */
export async function notOpened(): Promise<never> {
  throw new Error('this process was opened without that role');
}
