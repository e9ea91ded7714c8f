import { figure } from './numbers.ts';
import type { Row } from './results.ts';
import { table } from './report.ts';

interface Goal {
  /** The metric, and whose value it is; compared with the best of the peers, if any. */
  of: string;
  ours: string;
  peers: readonly string[];
  /** For a rate the best peer is the fastest one, for a time or a cost the one with the least. */
  must: '≥' | '≤';
  goal: number;
}

const ON_POSTGRES = ['graphile', 'graphile-docs', 'graphile-max', 'pg-boss', 'bullmq-pg'];
const ALL = [...ON_POSTGRES, 'bullmq-redis', 'bullmq-redis-always'];
const ours = 'longshore';

/** What was promised before it was measured. */
const GOALS: readonly Goal[] = [
  { of: 'enqueue-32', ours, peers: ON_POSTGRES, must: '≥', goal: 12 },
  { of: 'enqueue-32', ours, peers: ['bullmq-redis-always'], must: '≥', goal: 1 },
  { of: 'bulk', ours, peers: ALL, must: '≥', goal: 1.25 },
  { of: 'bulk.two-at-a-time', ours, peers: ALL, must: '≥', goal: 1.25 },
  { of: 'drain-1', ours, peers: ['graphile-docs'], must: '≥', goal: 2 },
  { of: 'drain-1', ours, peers: ['graphile-max'], must: '≥', goal: 1.7 },
  { of: 'drain-process', ours, peers: ['bullmq-redis'], must: '≥', goal: 4 },
  { of: 'drain-fresh', ours, peers: ['machine'], must: '≥', goal: 0.8 },
  { of: 'latency-idle.p50', ours: 'longshore-handover', peers: ON_POSTGRES, must: '≤', goal: 0.5 },
  { of: 'latency-idle.p50', ours, peers: ON_POSTGRES, must: '≤', goal: 0.85 },
  { of: 'steady-500.p99', ours, peers: ['graphile-docs'], must: '≤', goal: 0.4 },
  { of: 'steady-500.cpu', ours, peers: ['graphile-docs'], must: '≤', goal: 0.7 },
  { of: 'backlog.ratio', ours, peers: [], must: '≥', goal: 0.85 },
  { of: 'blocked-backlog.ratio', ours, peers: [], must: '≥', goal: 0.8 },
  { of: 'history.ratio', ours, peers: [], must: '≥', goal: 0.9 },
  { of: 'xmin-held.ratio', ours, peers: [], must: '≥', goal: 0.9 },
  { of: 'delayed.p99', ours, peers: [], must: '≤', goal: 50 },
  { of: 'peak.ended', ours, peers: [], must: '≥', goal: 100 },
];

/** A table of the goals that this run can say something about; empty when there are none. */
export function goalsTable(rows: readonly Row[]): string {
  const body = GOALS.flatMap((goal) => {
    const line = judge(goal, rows);
    return line ? [line] : [];
  });
  return body.length === 0 ? '' : table(['goal', 'measured', 'against', 'reached'], body);
}

function judge({ of, ours, peers, must, goal }: Goal, rows: readonly Row[]): string[] | undefined {
  const own = rows.find((row) => row.workload === of && row.system === ours);
  const others = rows.filter((row) => row.workload === of && peers.includes(row.system));
  if (!own || (peers.length > 0 && others.length === 0)) return undefined;
  const best = others.toSorted((a, b) =>
    must === '≥' ? b.median - a.median : a.median - b.median,
  );
  const value = own.median / (best[0]?.median ?? 1);
  const reached = must === '≥' ? value >= goal : value <= goal;
  const unit = best[0] ? ' ×' : ` ${own.unit}`;
  const name = ours === 'longshore' ? of : `${of} (${ours})`;
  return [
    `${name} ${must} ${goal}${unit}`,
    `${figure(value)}${unit}`,
    best[0]?.system ?? '',
    reached ? 'yes' : 'no',
  ];
}
