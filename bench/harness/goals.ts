import { figure } from './numbers.ts';
import type { Row } from './results.ts';
import { table } from './report.ts';

interface Goal {
  /** The metric, and the system whose value it is; compared with the best of the peers, if any. */
  of: string;
  ours?: string;
  peers?: readonly string[];
  /** For a rate the best peer is the fastest one, for a time or a cost the one with the least. */
  must: '≥' | '≤' | '<';
  goal: number;
}

const GRAPHILE = ['graphile', 'graphile-docs', 'graphile-max'];
const ON_POSTGRES = [...GRAPHILE, 'pg-boss', 'bullmq-pg'];
const ALL = [...ON_POSTGRES, 'bullmq-redis', 'bullmq-redis-always'];
const DOCS = ['graphile-docs'];
const DRAINS = ['drain-1', 'drain-1-60k', 'drain-2', 'drain-2-60k'];

const GOALS: readonly Goal[] = [
  { of: 'enqueue-32', peers: ON_POSTGRES, must: '≥', goal: 14 },
  { of: 'enqueue-32', peers: ['bullmq-redis-always'], must: '≥', goal: 1 },
  { of: 'sdk-1.ratio', must: '≥', goal: 0.5 },
  { of: 'sdk-32.ratio', must: '≥', goal: 0.5 },
  { of: 'remote.ratio', must: '≥', goal: 0.5 },
  { of: 'remote-500.p99-ratio', must: '≤', goal: 2 },
  { of: 'remote-idle.cpu-api', must: '<', goal: 10 },
  { of: 'bulk', peers: ALL, must: '≥', goal: 1.5 },
  { of: 'bulk.two-at-a-time', peers: ALL, must: '≥', goal: 1.5 },
  ...DRAINS.map((of) => ({ of, peers: DOCS, must: '≥', goal: 2 }) as const),
  ...DRAINS.map((of) => ({ of, peers: GRAPHILE, must: '≥', goal: 1.5 }) as const),
  { of: 'drain-1.cpu-worker', must: '≤', goal: 15 },
  { of: 'drain-1.cpu-server', must: '≤', goal: 26 },
  { of: 'drain-1-60k.cpu-worker', must: '≤', goal: 15 },
  { of: 'drain-1-60k.cpu-server', must: '≤', goal: 26 },
  { of: 'failures.ratio', must: '≥', goal: 0.85 },
  { of: 'mixed.ratio', must: '≥', goal: 0.85 },
  { of: 'xmin-held.ratio', must: '≥', goal: 0.95 },
  { of: 'deployed.ratio', must: '≥', goal: 0.95 },
  { of: 'backlog.ratio', must: '≥', goal: 0.85 },
  { of: 'blocked-backlog.ratio', must: '≥', goal: 0.8 },
  { of: 'history.ratio', must: '≥', goal: 0.9 },
  { of: 'latency-idle.p50', peers: DOCS, must: '≤', goal: 0.9 },
  { of: 'latency-idle.p99', peers: DOCS, must: '≤', goal: 0.9 },
  {
    of: 'latency-idle.p50',
    ours: 'longshore-same-process',
    peers: ON_POSTGRES,
    must: '≤',
    goal: 0.5,
  },
  { of: 'steady-500.p99', peers: ON_POSTGRES, must: '<', goal: 1 },
  { of: 'steady-500.cpu', peers: GRAPHILE, must: '≤', goal: 0.8 },
  { of: 'drain-process', peers: ['bullmq-redis'], must: '≥', goal: 4 },
  { of: 'drain-process.runner-pss', must: '≤', goal: 60 },
  { of: 'drain-fresh', peers: ['machine'], must: '≥', goal: 0.75 },
  { of: 'delayed.p99', must: '≤', goal: 50 },
  { of: 'peak.ended', must: '≥', goal: 100 },
  { of: 'startup.import', must: '≤', goal: 0.08 },
  { of: 'startup.help', must: '≤', goal: 0.15 },
  { of: 'idle.pss-all', must: '≤', goal: 260 },
  { of: 'idle.cpu-all', must: '≤', goal: 1 },
];

/** A table of the goals whose metrics were measured; empty when there are none. */
export function goalsTable(rows: readonly Row[]): string {
  const body = GOALS.flatMap((goal) => {
    const line = judge(goal, rows);
    return line ? [line] : [];
  });
  return body.length === 0 ? '' : table(['goal', 'measured', 'against', ''], body);
}

function judge(
  { of, ours = 'longshore', peers = [], must, goal }: Goal,
  rows: readonly Row[],
): string[] | undefined {
  const own = rows.find((row) => row.workload === of && row.system === ours);
  const others = rows.filter((row) => row.workload === of && peers.includes(row.system));
  if (!own || (peers.length > 0 && others.length === 0)) return undefined;
  const best = others.toSorted((a, b) =>
    must === '≥' ? b.median - a.median : a.median - b.median,
  )[0];
  const value = own.median / (best?.median ?? 1);
  const unit = best ? ' ×' : ` ${own.unit}`;
  const name = ours === 'longshore' ? of : `${of} (${ours})`;
  return [
    `${name} ${must} ${goal}${unit}`,
    `${figure(value)}${unit}`,
    best?.system ?? '',
    isReached(value, must, goal) ? 'reached' : '**missed**',
  ];
}

function isReached(value: number, must: Goal['must'], goal: number): boolean {
  if (must === '≥') return value >= goal;
  return must === '≤' ? value <= goal : value < goal;
}
