import { CONNECTIONS, ACTIVE, LIVE_ROW_BYTES, MEMORY, ROUND_SECONDS } from './constants.ts';
import { added, type Batches, costParts, type JobCost } from './job-cost.ts';
import type { Workload } from './workload.ts';

/** The answer of `longshore plan`. */
export interface Plan {
  workload: Workload;
  rate: { meanPerSecond: number; peakPerSecond: number };
  /** Of a mean job, at the peak. */
  job: JobCost;
  parts: Record<string, JobCost>;
  workers: {
    slots: number;
    processes: number;
    /** What Longshore needs, and what the code of the jobs needs. */
    cores: number;
    jobCores: number;
    memoryBytes: number;
  };
  api: { processes: number; cores: number };
  database: {
    cores: number;
    walBytesPerSecond: number;
    walBytesPerDay: number;
    historyBytes: number;
    liveBytes: number;
    walDiskBytes: number;
    diskBytes: number;
    connections: number;
    /** Machines of the given size; Longshore runs on one. */
    machines: number;
  };
}

const DAY_SECONDS = 86_400;
/** So many of the slots and cores are busy at the peak; the rest is for bursts and restarts. */
export const BUSY_SLOTS = 0.8;
export const BUSY_CORES = 0.7;
/** One process of the API is one core, and a second one keeps it available. */
const API_PROCESSES_MIN = 2;
/** The default of `max_wal_size` is for small servers: WAL of ten minutes fits between checkpoints. */
const WAL_KEPT_SECONDS = 600;
/** Dead rows of the last minutes wait for vacuum: one of `waiting` and one of `running` per job. */
const VACUUM_SECONDS = 120;
/** History is dropped by whole days. */
const PARTITION_DAYS = 1;

export function planCapacity(workload: Workload): Plan {
  const meanPerSecond = workload.jobsPerDay / DAY_SECONDS;
  const peakPerSecond = meanPerSecond * workload.peak;
  const busySlots = peakPerSecond * workload.seconds;
  const slots = Math.max(1, Math.ceil(busySlots / BUSY_SLOTS));
  const processes = Math.ceil(slots / workload.concurrency);
  const parts = settledParts(workload, peakPerSecond, processes);
  const job = added(...Object.values(parts));
  const coresOf = (us: number) => (peakPerSecond * us) / 1e6 / BUSY_CORES;
  const apiProcesses = Math.max(API_PROCESSES_MIN, Math.ceil(coresOf(job.apiUs)));
  const apiCores = coresOf(job.apiUs) + apiProcesses * ACTIVE.apiCores;
  const historyBytes =
    job.storedBytes * workload.jobsPerDay * (workload.retentionDays + PARTITION_DAYS);
  const liveBytes = (busySlots + peakPerSecond * VACUUM_SECONDS * 2) * LIVE_ROW_BYTES;
  const walDiskBytes = peakPerSecond * job.walBytes * WAL_KEPT_SECONDS;
  const diskBytes = historyBytes + liveBytes + walDiskBytes;
  const cores = coresOf(job.serverUs) + processes * ACTIVE.serverCores;
  return {
    workload,
    rate: { meanPerSecond, peakPerSecond },
    job,
    parts,
    workers: {
      slots,
      processes,
      cores: coresOf(job.workerUs) + processes * ACTIVE.workerCores,
      jobCores: coresOf(workload.cpuSeconds * 1e6),
      memoryBytes:
        processes * MEMORY.workerBytes +
        slots * (MEMORY.slotBytes[workload.isolation] + workload.memoryBytes),
    },
    api: { processes: apiProcesses, cores: apiCores },
    database: {
      cores,
      walBytesPerSecond: peakPerSecond * job.walBytes,
      walBytesPerDay: workload.jobsPerDay * job.walBytes,
      historyBytes,
      liveBytes,
      walDiskBytes,
      diskBytes,
      connections: (processes + apiProcesses) * CONNECTIONS,
      machines: Math.max(
        1,
        Math.ceil(cores / workload.machineCores),
        Math.ceil(diskBytes / workload.machineDiskBytes),
      ),
    },
  };
}

/**
 * Jobs that arrive while a statement runs share the next one, so batches grow with the rate of a
 * process: a job costs more in many processes with little work than in a few with much.
 */
function settledParts(workload: Workload, peakPerSecond: number, processes: number) {
  const perRound = (rate: number) => Math.max(1, rate * ROUND_SECONDS);
  const callers = Math.max(API_PROCESSES_MIN, Math.ceil(peakPerSecond / API_RATE));
  const batches: Batches = {
    perCall: workload.batch,
    enqueue: Math.max(workload.batch, perRound(peakPerSecond / callers)),
    round: perRound(peakPerSecond / processes),
  };
  return costParts(workload, batches);
}

/** Jobs per second that one process of the API takes, before another one is added. */
const API_RATE = 2_000;
