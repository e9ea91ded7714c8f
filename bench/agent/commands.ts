import type { Aim, Isolation, Queues, Remote, Role } from '../systems/system.ts';

export interface OpenCommand {
  system: string;
  url: string;
  role: Role;
  isolation: Isolation;
  aim: Aim;
  queues?: Queues;
  /** Every so many jobs, one fails. */
  failEvery?: number;
  remote?: Remote;
  /** The handler waits for a turn of the event loop. */
  awaits?: boolean;
  /** Where the process writes its CPU profile when it stops, if anywhere. */
  profileFolder?: string;
}

export interface Load {
  port: number;
  connections: number;
  seconds: number;
  path: string;
  /** How many jobs one request brings. */
  jobsPerRequest: number;
  definitionKey: string;
  /** Requests due per second; without it each connection asks again as soon as it is answered. */
  perSecond?: number;
}

export interface LoadReport {
  jobs: number;
  refused: number;
  seconds: number;
  /** How long each answer took, in milliseconds. */
  answersMs: number[];
}

/** A moment, and how many handlers had started by then. */
export type Mark = readonly [atMs: number, count: number];

/** What the harness can ask an agent to do. Arguments and answers travel as IPC messages. */
export interface Commands {
  /** Imports the adapter ahead of time, so that two workers can begin together. */
  load(system: string): Promise<void>;
  prepare(system: string, url: string, aim: Aim): Promise<void>;
  open(command: OpenCommand): Promise<void>;
  /** For a process that is killed instead of stopped; `stop` does it, too. */
  writeProfile(): Promise<void>;
  stop(): Promise<void>;
  /** Callers that enqueue one job after another; answers how many jobs, in how much time. */
  enqueueLoop(callers: number, ms: number): Promise<{ jobs: number; ms: number }>;
  /** Answers how many milliseconds it took. */
  enqueueBulk(count: number, size: number, inFlight: number): Promise<number>;
  enqueueOne(n: number): Promise<void>;
  /** Keeps a rate whatever the answers take. */
  enqueueSteadily(perSecond: number, seconds: number): Promise<void>;
  /** Each handler start is reported at once instead of every now and then. */
  reportEachStart(): Promise<void>;
  marks(): Promise<Mark[]>;
  /** From enqueue call to handler start, in milliseconds, in order of start. */
  latencies(): Promise<number[]>;
  httpLoad(load: Load): Promise<LoadReport>;
}

export type CommandName = keyof Commands;

export interface Request {
  id: number;
  name: CommandName;
  args: unknown[];
}

export type FromAgent =
  | { type: 'answer'; id: number; value: unknown }
  | { type: 'failure'; id: number; message: string }
  | { type: 'count'; count: number };
