import { ON_POSTGRES, PRODUCERS } from '../workloads/workload.ts';
import { figure } from './numbers.ts';
import { table } from './report.ts';
import type { Row } from './results.ts';

interface Goal {
  /** What the goal says, in words. */
  name: string;
  /** The metric, and the system whose value it is; compared with the best of the peers, if any. */
  of: string;
  ours?: string;
  /** All of them must be measured: without the best one, the comparison says nothing. */
  peers?: readonly string[];
  /** For a rate the best peer is the fastest one, for a time or a cost the one with the least. */
  must: '≥' | '≤' | '<';
  goal: number;
  /** Of a goal without peers. */
  unit?: string;
}

const isPeer = (name: string): boolean => name !== 'longshore';
const PRODUCERS_ON_POSTGRES = PRODUCERS.filter(
  (name) => isPeer(name) && ON_POSTGRES.includes(name),
);
const DOCS = ['graphile-docs'];
/** Its default takes jobs one by one and drains at a fraction of these two. */
const BATCHING = ['graphile-docs', 'graphile-max'];
/** `steady-500` leaves out the setting that is only for drains. */
const STEADY = ON_POSTGRES.filter((name) => isPeer(name) && name !== 'graphile-max');

const DRAINS = {
  'drain-1': 'drain, 1 worker, 20,000 jobs',
  'drain-1-60k': 'drain, 1 worker, 60,000 jobs',
  'drain-2': 'drain, 2 workers, 20,000 jobs',
  'drain-2-60k': 'drain, 2 workers, 60,000 jobs',
};

/** The goals of issue 17, in its order. */
const OF_ISSUE: readonly Goal[] = [
  ...drainGoals('rate', '', { peers: DOCS, must: '≥', goal: 2 }),
  ...drainGoals('rate', '', { peers: BATCHING, must: '≥', goal: 1.5 }),
  ...drainGoals('CPU of the worker', '.cpu-worker', { must: '≤', goal: 15, unit: 'µs/job' }),
  ...drainGoals('CPU of the server', '.cpu-server', { must: '≤', goal: 26, unit: 'µs/job' }),
  { name: 'drain with 1 % failures', of: 'failures.ratio', must: '≥', goal: 0.85, unit: '× plain' },
  { name: 'drain of mixed queues', of: 'mixed.ratio', must: '≥', goal: 0.85, unit: '× plain' },
  { name: 'drain with xmin held', of: 'xmin-held.ratio', must: '≥', goal: 0.95, unit: '× plain' },
  { name: '32 callers', of: 'enqueue-32', peers: PRODUCERS_ON_POSTGRES, must: '≥', goal: 14 },
  {
    name: 'SDK over HTTP, 1 caller',
    of: 'sdk-1.ratio',
    must: '≥',
    goal: 0.5,
    unit: '× in-process',
  },
  {
    name: 'SDK over HTTP, 32 callers',
    of: 'sdk-32.ratio',
    must: '≥',
    goal: 0.5,
    unit: '× in-process',
  },
  { name: 'bulk, one call at a time', ...bulkGoal('bulk') },
  { name: 'bulk, two at a time', ...bulkGoal('bulk.two-at-a-time') },
  { name: 'idle latency, p50', of: 'latency-idle.p50', peers: DOCS, must: '≤', goal: 0.9 },
  { name: 'idle latency, p99', of: 'latency-idle.p99', peers: DOCS, must: '≤', goal: 0.9 },
  { name: '500 a second, p99', of: 'steady-500.p99', peers: STEADY, must: '<', goal: 1 },
  {
    name: '500 a second, CPU of worker and server',
    of: 'steady-500.cpu',
    peers: STEADY.filter((name) => name.startsWith('graphile')),
    must: '≤',
    goal: 0.8,
  },
  {
    name: 'warm processes',
    of: 'drain-process',
    peers: ['bullmq-redis'],
    must: '≥',
    goal: 4,
  },
  { name: 'fresh processes', of: 'drain-fresh', peers: ['machine'], must: '≥', goal: 0.75 },
  {
    name: 'memory of a warm runner',
    of: 'drain-process.runner-pss',
    must: '≤',
    goal: 60,
    unit: 'MB',
  },
  { name: "CPU of import 'longshore'", of: 'startup.import', must: '≤', goal: 0.08, unit: 's' },
  { name: 'CPU of longshore --help', of: 'startup.help', must: '≤', goal: 0.15, unit: 's' },
  {
    name: 'memory of an idle longshore start',
    of: 'idle.pss-all',
    must: '≤',
    goal: 260,
    unit: 'MB',
  },
  {
    name: 'CPU of an idle longshore start',
    of: 'idle.cpu-all',
    must: '≤',
    goal: 1,
    unit: '% of a core',
  },
];

/** Goals from elsewhere, judged where they were measured. */
const FURTHER: readonly Goal[] = [
  {
    name: '32 callers',
    of: 'enqueue-32',
    peers: ['bullmq-redis-always'],
    must: '≥',
    goal: 1,
  },
  { name: 'worker over HTTP', of: 'remote.ratio', must: '≥', goal: 0.5, unit: '× direct' },
  {
    name: 'worker over HTTP, p99',
    of: 'remote-500.p99-ratio',
    must: '≤',
    goal: 2,
    unit: '× direct',
  },
  {
    name: '1,000 idle workers over HTTP',
    of: 'remote-idle.cpu-api',
    must: '<',
    goal: 10,
    unit: '% of a core',
  },
  { name: 'deployed code', of: 'deployed.ratio', must: '≥', goal: 0.95, unit: '× plain' },
  { name: 'jobs behind', of: 'backlog.ratio', must: '≥', goal: 0.85, unit: '× plain' },
  { name: 'blocked jobs', of: 'blocked-backlog.ratio', must: '≥', goal: 0.8, unit: '× plain' },
  { name: 'finished jobs', of: 'history.ratio', must: '≥', goal: 0.9, unit: '× plain' },
  { name: 'delayed jobs, p99', of: 'delayed.p99', must: '≤', goal: 50, unit: 'ms' },
  { name: '1,000 a second over HTTP', of: 'peak.ended', must: '≥', goal: 100, unit: '% of jobs' },
];

function drainGoals(what: string, metric: string, rest: Omit<Goal, 'name' | 'of'>): Goal[] {
  return Object.entries(DRAINS).map(([drain, words]) => ({
    name: `${words}: ${what}`,
    of: `${drain}${metric}`,
    ...rest,
  }));
}

function bulkGoal(of: string): Omit<Goal, 'name'> {
  return { of, peers: PRODUCERS.filter(isPeer), must: '≥', goal: 1.5 };
}

/** The workloads that the goals of issue 17 are about, each with the systems that they compare. */
export function systemsOfGoals(): Map<string, Set<string>> {
  const systems = new Map<string, Set<string>>();
  for (const { of, ours = 'longshore', peers = [] } of OF_ISSUE) {
    const workload = workloadOf(of);
    const known = systems.get(workload) ?? new Set();
    systems.set(workload, known);
    for (const system of [ours, ...peers]) known.add(system);
  }
  return systems;
}

/** The workload of a metric: `latency-idle` of `latency-idle.p50`. */
export function workloadOf(metric: string): string {
  return metric.split('.', 1)[0] ?? metric;
}

export interface GoalsOptions {
  /** Also the goals of issue 17 that were not measured. */
  all: boolean;
  /** What to call the run that measured a workload, where several are shown together. */
  runOf?: (workload: string) => string;
}

/** A table of the goals whose metrics were measured; empty when there are none. */
export function goalsTable(rows: readonly Row[], { all, runOf }: GoalsOptions): string {
  const judged = [
    ...OF_ISSUE.map((goal) => judge(goal, rows, all)),
    ...FURTHER.map((goal) => judge(goal, rows, false)),
  ].filter((line) => line !== undefined);
  const body = judged.map(({ of, cells }) => (runOf ? [...cells, runOf(workloadOf(of))] : cells));
  const head = ['goal', 'metric', 'measured', 'best peer', 'met or missed'];
  return body.length === 0 ? '' : table(runOf ? [...head, 'run'] : head, body);
}

function judge(
  { name, of, ours = 'longshore', peers = [], must, goal, unit }: Goal,
  rows: readonly Row[],
  evenMissing: boolean,
): { of: string; cells: string[] } | undefined {
  const find = (system: string) => rows.find((row) => row.workload === of && row.system === system);
  const own = find(ours);
  const cells = (measured: string, peer: string, verdict: string) => {
    return { of, cells: [`${name} ${must} ${goal} ${unit ?? '×'}`, of, measured, peer, verdict] };
  };
  if (!own) return evenMissing ? cells('–', '', 'not measured') : undefined;
  const others = peers.flatMap((peer) => find(peer) ?? []);
  const best = others.toSorted((a, b) =>
    must === '≥' ? b.median - a.median : a.median - b.median,
  )[0];
  if (peers.length > 0 && !best) {
    return evenMissing ? cells('–', '', 'not judged: no peer was measured') : undefined;
  }
  const value = own.median / (best?.median ?? 1);
  const measured = `${figure(value)} ${unit ?? '×'}`;
  const missing = peers.filter((peer) => !find(peer));
  const isMet = isReached(value, must, goal);
  // A peer that was not measured can only make it worse.
  if (missing.length > 0 && isMet) {
    return cells(measured, best?.system ?? '', `not judged: without ${missing.join(', ')}`);
  }
  return cells(measured, best?.system ?? '', isMet ? 'met' : '**missed**');
}

function isReached(value: number, must: Goal['must'], goal: number): boolean {
  if (must === '≥') return value >= goal;
  return must === '≤' ? value <= goal : value < goal;
}
