import type { JobState } from '../../src/core/job/job.ts';

/**
 * The recorded history of a chaos run, and all that the checker reads. It has six independent
 * sources: the clients, triggers in the database, the jobs, the processes, the logs of the servers
 * and the injector of the faults. A run passes when they agree.
 *
 * All times are microseconds on CLOCK_MONOTONIC, which every process of one machine shares. What the
 * database wrote in its own time is brought onto that clock when the files are read.
 */

export type Micros = number;

/** What the run was started with; the checker takes its bounds from here. */
export interface Run {
  seed: number;
  profile: string;
  commit: string;
  versions: Record<string, string>;
  leaseMs: number;
  heartbeatMs: number;
  pollMs: number;
  drainMs: number;
  /** How much longer a lost worker may be believed alive because Redis says so; 0 without Redis. */
  hearsayMs: number;
  /** How many jobs a worker runs at once; histories of earlier versions do not say. */
  slotsPerWorker?: number;
  /** The children of the job that is there from the beginning; histories of earlier versions do not say. */
  fanOut?: number;
  /** The jobs of the batch that is filled during the run; histories of earlier versions do not say. */
  batchJobs?: number;
  /** Within so long after the last fault everything that was due must have ended. */
  drainBoundMs: number;
  /** What must have happened at least once, or the run was too tame to prove anything. */
  sometimes: string[];
  /** Fault kinds that this machine cannot have, with the reason. */
  skipped: Record<string, string>;
}

/** A job as a client asked for it. Its params are unlike those of any other request. */
export interface WantedJob {
  paramsSha: string;
  definition: string;
  does: string;
  delayMs: number;
  /** What it may not run beside, as its definition was written. */
  limits?: WantedLimit[];
  /** The longest silence, as its definition was written. */
  stallTimeoutMs?: number;
  /** The deployment that it asks for. */
  pinned?: number;
  /** The jobs that it runs after. */
  after?: string[];
  /** It also runs after parents that did not succeed. */
  runsAnyway?: boolean;
  /** The most jobs of one call, as its definition was written. */
  groupSize?: number;
  /** The hashes of the params of its children. */
  spawns?: string[];
}

/** So many of the jobs that name it may run at once. */
export interface WantedLimit {
  name: string;
  most: number;
}

/** A batch as a client asked for it. Its name is unlike that of any other batch. */
export interface WantedBatch {
  name: string;
  /** Whether it accepts more jobs until it is closed. */
  open: boolean;
  jobs: WantedJob[];
  onComplete: WantedJob | null;
  onSuccess: WantedJob | null;
}

export type Call =
  | { name: 'enqueue'; key: string | null; jobs: WantedJob[] }
  | { name: 'batch'; key: string; batch: WantedBatch }
  /** More jobs for the batch of this id. */
  | { name: 'add'; key: string; batch: string; jobs: WantedJob[] }
  | { name: 'close-batch' | 'cancel-batch'; batch: string }
  | { name: 'cancel'; job: string }
  | { name: 'release'; job: string }
  | { name: 'signal'; job: string; token: string }
  | { name: 'retry'; job: string }
  | { name: 'get'; job: string };

/** `unknown` is a result of its own: the request may or may not have been carried out. */
export type ClientEvent =
  | { op: number; at: Micros; phase: 'invoke'; api: string; call: Call }
  | { op: number; at: Micros; phase: 'ok'; jobs: { id: string; status: string }[] }
  | { op: number; at: Micros; phase: 'fail'; status: number; code: string }
  | { op: number; at: Micros; phase: 'unknown'; why: string };

export type Place = 'waiting' | 'running' | 'done';

/** A job's narrow row came to a table or left it; a trigger records it in the same transaction. */
export interface RowEvent {
  /** Per job this order is exact, because each writer holds the lock of the row. */
  seq: number;
  xid: string;
  at: Micros;
  /** When the statement reached the database. */
  begun: Micros;
  move: 'came' | 'left';
  place: Place;
  job: string;
  state: JobState;
  claim: number;
  attempts: number;
  maxAttempts: number;
  worker: string | null;
  runAt: Micros | null;
  errorCode: string | null;
  /** Which execution the stored result came from. */
  execution: string | null;
}

/** An attempt that did not end its job well, as stored. */
export interface AttemptEvent {
  seq: number;
  at: Micros;
  job: string;
  claim: number;
  number: number;
  worker: string;
  errorCode: string | null;
  execution: string | null;
}

/** The progress of a claim as stored; its message names the execution that reported it. */
export interface ProgressEvent {
  seq: number;
  at: Micros;
  job: string;
  claim: number;
  attempts: number;
  execution: string;
}

/** A worker instance registered, renewed its lease, or was declared dead. */
export interface LeaseEvent {
  seq: number;
  at: Micros;
  worker: string;
  pid: number;
  until: Micros;
  deadAt: Micros | null;
}

/** What a job did to the world: written by its own process, with one append that survives any kill. */
export interface Effect {
  at: Micros;
  what:
    | 'start'
    | 'tick'
    | 'abort'
    | 'snooze'
    | 'wait'
    | 'sleep'
    | 'woke'
    | 'signal'
    | 'joined'
    | 'told'
    | 'throw'
    | 'crash'
    | 'hang'
    | 'stall'
    | 'kill-worker'
    | 'end';
  job: string;
  attempt: number;
  /** One per run of the handler: what a stale worker would hand in belongs to an older one. */
  execution: string;
  pid: number;
  parent: number;
  isolation: string;
  paramsSha?: string;
  resultSha?: string;
  delayMs?: number;
  /** The payload of the signal that it got. */
  token?: string;
  /** The children whose outcomes it got. */
  jobs?: string[];
  /** The hash of each of their results, in the same order; null: there was no result. */
  resultShas?: (string | null)[];
  /** How its batch ended, as a callback read it. */
  batch?: { id: string; state: string };
  /** The call that ran it together with other jobs. */
  group?: string;
  /** The name that is written in the deployed code that ran. */
  build?: string;
}

export interface FaultEvent {
  id: number;
  at: Micros;
  phase: 'inject' | 'heal';
  kind: string;
  targets: string[];
  /** True for what happened to the machine without anybody asking for it. */
  observed?: boolean;
  /** Processes that were ended by it. */
  pids?: number[];
  note?: string;
}

export interface ProcessEvent {
  at: Micros;
  slot: string;
  pid: number;
  phase: 'spawn' | 'up' | 'exit';
  /** The `longshore start` that it is the worker process of. */
  parent?: number;
  code?: number | null;
  signal?: string | null;
}

/** A log line of a server that says what the database cannot show. */
export interface Notice {
  at: Micros;
  slot: string;
  what:
    'stale-refused' | 'declared-dead' | 'self-fenced' | 'given-back' | 'reclaimed' | 'recovered';
  job?: string;
  claim?: number;
}

export interface PhaseEvent {
  at: Micros;
  name: string;
}

/** A job as the tables had it at the very end. */
export interface FinalJob {
  job: string;
  places: number;
  state: JobState | null;
  claim: number;
  attempts: number;
  maxAttempts: number;
  attemptRows: number;
  errorCode: string | null;
  key: string | null;
  paramsSha: string;
  resultSha: string | null;
  /** The name of the batch that this job is; null for every other job. Earlier histories do not say. */
  batch?: string | null;
  /** The counts that it has stored, as JSON. */
  batchResult?: string | null;
  /** The schedule that made it, and for which instant, in milliseconds of the calendar. */
  schedule: string | null;
  scheduledForMs: number | null;
}

/** A schedule that a client made: due at every multiple of so many milliseconds. */
export interface MadeSchedule {
  id: string;
  everyMs: number;
  /** It certainly existed from here until there, in milliseconds of the calendar. */
  fromMs: number;
  untilMs: number;
}

/** What became of one due instant of a schedule, or of all of them up to `throughMs`. */
export interface SlotRow {
  schedule: string;
  slotMs: number;
  throughMs: number | null;
  status: 'fired' | 'skipped' | 'collapsed';
  reason: string | null;
  job: string | null;
}

/** What was left on the machine after every process had got SIGTERM. */
export interface Leftovers {
  processes: string[];
  connections: number;
}

/** What a client asked of deployments, and what it heard. */
export interface DeployCall {
  what: 'deploy' | 'promote' | 'rollback' | 'retire';
  from: Micros;
  until: Micros;
  result: 'ok' | 'fail' | 'unknown';
  /** The name of the code that was uploaded. */
  build: string | null;
  /** The deployment that the call or its answer names; for a release, what new jobs get. */
  number: number | null;
  /** Whether new jobs get it. */
  released: boolean;
}

/** A waiting or running job of the deployed definition got a row in a queue of this version. */
export interface VersionEvent {
  seq: number;
  at: Micros;
  begun: Micros;
  job: string;
  claim: number;
  version: number;
}

/** The release of the deployed definition changed; the time is that of the commit. */
export interface ReleaseEvent {
  seq: number;
  at: Micros;
  current: number | null;
}

/** A deployment as the tables had it at the very end. */
export interface FinalDeployment {
  number: number;
  build: string | null;
  retired: boolean;
}

/** A job of a batch as the tables had it at the very end. */
export interface BatchMember {
  /** The id of the batch. */
  batch: string;
  job: string;
  /** How the job ended, as the batch knows it. */
  ended: JobState | null;
}

/** A limit at the very end: what its counters say, and what a count of the rows says. */
export interface FinalLimiter {
  name: string;
  inUse: number;
  held: number;
  blocked: number;
  waiting: number;
}

export interface History {
  run: Run;
  client: ClientEvent[];
  rows: RowEvent[];
  attempts: AttemptEvent[];
  progress: ProgressEvent[];
  leases: LeaseEvent[];
  effects: Effect[];
  faults: FaultEvent[];
  processes: ProcessEvent[];
  notices: Notice[];
  phases: PhaseEvent[];
  final: FinalJob[];
  schedules: MadeSchedule[];
  slots: SlotRow[];
  deploys: DeployCall[];
  versions: VersionEvent[];
  releases: ReleaseEvent[];
  deployments: FinalDeployment[];
  members: BatchMember[];
  limiters: FinalLimiter[];
  leftovers: Leftovers;
}
