import type { Plan } from '../../../core/capacity/plan.ts';
import type { JobCost } from '../../../core/capacity/job-cost.ts';
import { columns } from '../../text/columns.ts';

/** The text of `longshore plan`. */
export function planText(plan: Plan, width: number): string[] {
  const { workload, rate, workers, api, database } = plan;
  const { machineCores, machineDiskBytes } = workload;
  const rows: [string, string, string][] = [
    [
      'Jobs',
      `${counted(workload.jobsPerDay)} a day`,
      `${rateText(rate.meanPerSecond)} a second, ${rateText(rate.peakPerSecond)} at the peak`,
    ],
    [
      'Worker slots',
      counted(workers.slots),
      `in ${count(workers.processes, 'process', 'processes')} of ${workload.concurrency}; ` +
        `a job runs ${short(workload.seconds)} s (${workload.isolation})`,
    ],
    ['Worker cores', cores(workers.cores), `for Longshore, ${jobCores(plan)}`],
    ['Worker memory', bytes(workers.memoryBytes), memoryNote(plan)],
    [
      'API cores',
      cores(api.cores),
      `in ${count(api.processes, 'process', 'processes')}, if callers use HTTP`,
    ],
    [
      'PostgreSQL cores',
      cores(database.cores),
      `${short(plan.job.serverUs)} µs for a job at the peak`,
    ],
    [
      'WAL',
      `${bytes(database.walBytesPerSecond)}/s`,
      `at the peak; ${bytes(database.walBytesPerDay)} a day`,
    ],
    [
      'Disk',
      bytes(database.diskBytes),
      `history of ${short(workload.retentionDays)} days ${bytes(database.historyBytes)}, ` +
        `live and dead rows ${bytes(database.liveBytes)}, WAL ${bytes(database.walDiskBytes)}`,
    ],
    ['Connections', counted(database.connections), connectionsNote(database.connections)],
    [
      'Database machines',
      counted(database.machines),
      `of ${machineCores} cores and ${bytes(machineDiskBytes)}`,
    ],
  ];
  return [...columns(rows, width), '', ...columns(costTable(plan), width), '', ...verdict(plan)];
}

function jobCores({ workers, workload }: Plan): string {
  return workload.cpuSeconds === 0
    ? 'without your own code (--cpu-seconds)'
    : `and ${cores(workers.jobCores)} for your own code`;
}

function memoryNote({ workload }: Plan): string {
  return workload.memoryBytes === 0
    ? 'without what your own code needs (--memory)'
    : `with ${bytes(workload.memoryBytes)} for your own code in each slot`;
}

const MANY_CONNECTIONS = 500;

function connectionsNote(connections: number): string {
  return connections > MANY_CONNECTIONS
    ? 'use a pooler (docs/operate/poolers.md), or more slots in a process'
    : 'set max_connections above it';
}

const NAMES: Record<string, string> = {
  base: 'plain job',
  commits: 'small batches',
  failures: 'failed attempts',
  concurrencyLimits: 'concurrency limits',
  idempotency: 'idempotency keys',
  unique: 'unique jobs',
  delayed: 'delayed jobs',
};

/** Parts that cost nothing here are left out. */
function costTable({ parts, job }: Plan): string[][] {
  const rows = Object.entries(parts).filter(([, cost]) => Object.values(cost).some((n) => n > 0));
  return [
    'COST OF A MEAN JOB|POSTGRESQL|WORKER|API|WAL|DISK'.split('|'),
    ...rows.map(([name, cost]) => [NAMES[name] ?? name, ...cells(cost)]),
    ['sum', ...cells(job)],
  ];
}

function cells({ serverUs, workerUs, apiUs, walBytes, storedBytes }: JobCost): string[] {
  const time = (us: number) => (us === 0 ? '-' : `${short(us)} µs`);
  const size = (n: number) => (n === 0 ? '-' : bytes(n));
  return [time(serverUs), time(workerUs), time(apiUs), size(walBytes), size(storedBytes)];
}

function verdict({ database, workload }: Plan): string[] {
  const { machines } = database;
  if (machines === 1) return ['One PostgreSQL of this size is enough. Shards are not needed.'];
  const byDisk = database.diskBytes / workload.machineDiskBytes;
  const byCores = database.cores / workload.machineCores;
  return [
    `One PostgreSQL of this size is not enough: ${byDisk > byCores ? 'the disk' : 'the number of cores'} is the limit.`,
    `Longshore runs on one PostgreSQL; Citus and other distributed databases are not supported yet.`,
    `Divide the definitions or tenants among ${machines} installations, use a larger machine`,
    `(--machine-cores, --machine-disk), ` +
      (byDisk > byCores
        ? 'or keep less: --retention, --params, --result.'
        : 'or make batches larger: --batch, --concurrency.'),
  ];
}

function count(n: number, one: string, many: string): string {
  return `${counted(n)} ${n === 1 ? one : many}`;
}

function counted(n: number): string {
  return Math.round(n).toLocaleString('en-US');
}

function rateText(n: number): string {
  return n >= 10 ? counted(n) : short(n);
}

/** Two digits, or all before the point. */
function short(n: number): string {
  return n >= 100 ? counted(n) : String(Number(n.toPrecision(2)));
}

/** A part of a core is not rounded away. */
function cores(n: number): string {
  return n >= 10 ? counted(Math.ceil(n)) : String(Math.ceil(n * 10) / 10);
}

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];

function bytes(n: number): string {
  const unit = n < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log10(n) / 3));
  return `${short(n / 1_000 ** unit)} ${UNITS[unit]}`;
}
