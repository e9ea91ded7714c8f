import type { Row } from '../harness/results.ts';
import type { Bar, Panel } from './bar-chart.ts';

export interface Chart {
  /** Of the file in docs/images, and of the picture for readers who cannot see it. */
  name: string;
  title: string;
  panels: readonly Panel[];
  /** What is in it: each metric, with its heading or label. */
  metrics: readonly { metric: string; heading: string }[];
}

/** Panels by the name of their metric. */
const BY_SYSTEM: readonly { name: string; title: string; metrics: Record<string, string> }[] = [
  {
    name: 'bench-enqueue',
    title: 'Enqueueing: jobs per second',
    metrics: {
      'enqueue-1': 'One caller',
      'enqueue-32': '32 callers',
      bulk: 'Bulk, one batch at a time',
      'bulk.two-at-a-time': 'Bulk, two at a time',
    },
  },
  {
    name: 'bench-drain',
    title: 'Draining a queue: jobs per second',
    metrics: {
      'drain-1': '20,000 jobs, one worker',
      'drain-2': '20,000 jobs, two workers',
      'drain-1-60k': '60,000 jobs, one worker',
      'drain-2-60k': '60,000 jobs, two workers',
    },
  },
  {
    name: 'bench-latency',
    title: 'From the enqueue call to the start of the handler',
    metrics: {
      'latency-idle.p50': 'Idle, p50',
      'latency-idle.p99': 'Idle, p99',
      'steady-500.p50': '500 jobs a second, p50',
      'steady-500.p99': '500 jobs a second, p99',
    },
  },
  {
    name: 'bench-cpu',
    title: 'CPU time per job',
    metrics: {
      'drain-1.cpu-worker': 'Drain, worker',
      'drain-1.cpu-server': 'Drain, PostgreSQL or Redis',
      'steady-500.cpu-worker': '500 jobs a second, worker',
      'steady-500.cpu-server': '500 jobs a second, PostgreSQL or Redis',
    },
  },
  {
    name: 'bench-isolation',
    title: 'Jobs in processes of their own',
    metrics: {
      'drain-process': 'Four warm processes',
      'drain-process.runner-pss': 'Memory of a warm process (PSS)',
      'drain-fresh': 'A new process for each job',
    },
  },
];

/** Panels of Longshore alone, with a bar for each metric. */
const OURS: readonly { name: string; title: string; metrics: Record<string, string> }[] = [
  {
    name: 'bench-loads',
    title: 'Rate under a load',
    metrics: {
      'failures.ratio': '1 % of jobs fail',
      'mixed.ratio': 'limit and webhook',
      'backlog.ratio': '300,000 behind',
      'blocked-backlog.ratio': '1,000,000 blocked',
      'xmin-held.ratio': 'open transaction',
      'history.ratio': '2,000,000 finished',
    },
  },
  {
    name: 'bench-sdk',
    title: 'SDK over HTTP and in the process',
    metrics: {
      'sdk-1.http': '1 caller, HTTP',
      'sdk-1.in-process': '1 caller, in-process',
      'sdk-32.http': '32 callers, HTTP',
      'sdk-32.in-process': '32 callers, in-process',
    },
  },
];

/** The charts for which there are rows. */
export function chartsOf(rows: readonly Row[]): Chart[] {
  const drawn = (metrics: Record<string, string>) =>
    Object.entries(metrics)
      .filter(([metric]) => rows.some(({ workload }) => workload === metric))
      .map(([metric, heading]) => ({ metric, heading }));
  const bySystem = BY_SYSTEM.map(({ name, title, metrics }) => ({
    name,
    title,
    metrics: drawn(metrics),
    panels: Object.entries(metrics).flatMap(([metric, heading]) => {
      const found = rows.filter(({ workload }) => workload === metric);
      return panelOf(heading, found, ({ system }) => system);
    }),
  }));
  const ours = OURS.map(({ name, title, metrics }) => {
    const found = Object.keys(metrics).flatMap((metric) =>
      rows.filter(({ workload, system }) => workload === metric && system === 'longshore'),
    );
    const labelOf = ({ workload }: Row): string => metrics[workload] ?? workload;
    return { name, title, metrics: drawn(metrics), panels: panelOf(title, found, labelOf) };
  });
  return [...bySystem, ...ours].filter(({ panels }) => panels.length > 0);
}

function panelOf(title: string, rows: readonly Row[], labelOf: (row: Row) => string): Panel[] {
  if (rows.length === 0) return [];
  const bars = rows.map((row): Bar => {
    const { median: value, min, max } = row;
    return { label: labelOf(row), value, min, max, ours: row.system.startsWith('longshore') };
  });
  return [{ title, unit: rows[0]?.unit ?? '', bars }];
}
