import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { jobsByState } from '../src/core/shards/shards.ts';
import { clusterFamilies } from '../src/metrics/cluster.ts';
import { textOf } from '../src/metrics/family.ts';
import { processFamilies } from '../src/metrics/process-families.ts';
import { SignInCounts } from '../src/metrics/sign-in-counts.ts';
import { WorkerMetrics } from '../src/metrics/worker-metrics.ts';
import { readPrometheusText } from './support/servers/prometheus-text.ts';

/** What docs, alerts and dashboard say of metrics, held to what `/metrics` really has. */

const fileNamed = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');

const move = { key: 'a', first: 1, was: null, state: 'queued', code: null, attempt: null, n: 1 };
const ended = { ...move, was: 'running', state: 'failed', code: 'TIMEOUT' };
const rows = {
  moves: [move, ended, { ...ended, code: 'LEASE_EXPIRED' }, { ...move, state: 'running' }].concat({
    ...ended,
    state: 'retrying',
    attempt: 1,
  } as never),
  spans: ['running', 'failed'].map((state) => ({ key: 'a', state, bucket: 0, n: 1, ms: 1 })),
  oldest: [],
  suspended: [],
  workers: [],
  held: [],
  shards: [{ jobs: jobsByState([]), oldestAgeMs: 0, lateMs: 0 }],
  lateMs: 0,
  counterLagMs: 0,
  tables: [{ table: 'waiting', bytes: 1, partitions: 0, deadRows: 0 }],
  holder: null,
} as unknown as Parameters<typeof clusterFamilies>[0];

const api = readPrometheusText(
  await textOf([
    ...clusterFamilies(rows),
    ...new SignInCounts().families(),
    ...processFamilies('1.2.3'),
  ]),
);
const worker = readPrometheusText(await new WorkerMetrics().text());

/** By the name of a series, the labels that it has. */
const series = new Map(
  [...api.values(), ...worker.values()].flatMap(({ samples }) =>
    samples.map(({ name, labels }) => [name, Object.keys(labels)] as const),
  ),
);

interface Rules {
  groups: { rules: { alert?: string; record?: string; expr: string; annotations?: object }[] }[];
}
interface Panel {
  title: string;
  targets: { expr: string }[];
  gridPos: { x: number; y: number; w: number; h: number };
}

const rules = (parse(fileNamed('deploy/prometheus/rules.yaml')) as Rules).groups.flatMap(
  (group) => group.rules,
);
const { panels } = JSON.parse(fileNamed('deploy/grafana/longshore.json')) as { panels: Panel[] };
const asked = [
  ...rules.map(({ alert, record, expr }) => [alert ?? record ?? '', expr] as const),
  ...panels.flatMap(({ title, targets }) => targets.map(({ expr }) => [title, expr] as const)),
];

test.each(asked)('%s asks for series that there are, by labels that they have', (_, expression) => {
  const named = [...expression.matchAll(/\b((?:longshore|process)_\w+)(?:\{([^}]*)\})?/g)];
  const recorded = [...expression.matchAll(/\blongshore:[\w:]+/g)].map(([name]) => name);
  expect(named.length + recorded.length).toBeGreaterThan(0);
  const labels = new Set(['instance', 'le']);
  for (const [, name = '', inside = ''] of named) {
    const own = series.get(name);
    expect(own, name).toBeDefined();
    for (const [, label = ''] of inside.matchAll(/(\w+)\s*=~?/g)) expect(own).toContain(label);
    for (const label of own ?? []) labels.add(label);
  }
  for (const [, inside = ''] of expression.matchAll(/\b(?:by|on|group_left) \(([^)]*)\)/g)) {
    for (const label of inside.split(/,\s*/)) expect([...labels]).toContain(label);
  }
  for (const name of recorded) expect(rules.map(({ record }) => record)).toContain(name);
  for (const [open, close] of ['()', '{}', '[]'].map((pair) => pair.split(''))) {
    const count = (sign = '') => expression.split(sign).length;
    expect(count(open)).toBe(count(close));
  }
});

test('alerts have names of their own and say what is wrong', () => {
  const alerts = rules.filter(({ alert }) => alert !== undefined);
  expect(alerts.length).toBeGreaterThan(8);
  expect(new Set(alerts.map(({ alert }) => alert)).size).toBe(alerts.length);
  for (const { annotations } of alerts) expect(annotations).toHaveProperty('summary');
});

test('no two panels of the dashboard are in one place', () => {
  const places = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, n) => `${x + (n % w)} ${y + Math.floor(n / w)}`),
  );
  expect(new Set(places).size).toBe(places.length);
});

describe('docs/operate/metrics.md', () => {
  const page = fileNamed('docs/operate/metrics.md');
  const listed = (from: string, to: string) => {
    const part = page.slice(page.indexOf(from), page.indexOf(to));
    return [...part.matchAll(/^\|(.*?)\|/gm)].flatMap(([, cell = '']) =>
      [...cell.matchAll(/`([a-z_]+)`/g)].map(([, name = '']) => name),
    );
  };

  test('lists what the API tells, with its labels', () => {
    expect(listed('| Metric | Labels', '### Workers and schedulers').sort()).toEqual(
      [...api.keys()].sort(),
    );
    for (const [, name = '', labels = ''] of page.matchAll(/^\| `(\w+)` \|([^|]*)\|.+\|$/gm)) {
      const family = api.get(name);
      if (!family) continue;
      const listed = [...labels.matchAll(/`(\w+)`/g)].map(([, label]) => label);
      const own = Object.keys(family.samples[0]?.labels ?? {}).filter((label) => label !== 'le');
      expect([name, listed]).toEqual([name, own]);
    }
  });

  test('lists what a worker tells', () => {
    const own = [...worker.keys()].filter((name) => !api.has(name));
    expect(listed('### Workers and schedulers', '### Ready to use')).toEqual(
      expect.arrayContaining(own),
    );
  });
});
