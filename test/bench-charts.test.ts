import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'bench-charts-'));
  mkdirSync(join(folder, 'results'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

type Medians = Record<string, Record<string, number>>;

function writeRun(file: string, at: string, medians: Medians): void {
  const rows = Object.entries(medians).flatMap(([workload, systems]) =>
    Object.entries(systems).map(([system, median]) => {
      return { workload, system, unit: 'jobs/s', median, min: median, max: median, rounds: 1 };
    }),
  );
  const run = { at, commit: 'abc1234', command: 'npm run bench', machine: ['a machine'], rows };
  writeFileSync(join(folder, file), JSON.stringify(run));
}

/** The page that the program writes from the files in `results` and these others. */
function draw(...others: string[]): string {
  const to = join(folder, 'page');
  const files = others.map((file) => join(folder, file));
  const args = ['bench/charts/main.ts', '--results', join(folder, 'results'), '--to', to, ...files];
  execFileSync(process.execPath, args, { cwd: root });
  return readFileSync(join(to, 'performance.md'), 'utf8');
}

function goalLine(page: string, start: string): string[] {
  const line = page.split('\n').find((line) => line.startsWith(`| ${start}`)) ?? '';
  return line.split('|').map((cell) => cell.trim());
}

test('a run for the goals keeps the charts of other workloads, and is compared with itself only', () => {
  writeRun('results/all.json', '2026-01-01', {
    'enqueue-1': { longshore: 500, 'pg-boss': 400 },
    'drain-1': { longshore: 10_000, 'graphile-docs': 9_000, 'graphile-max': 9_500 },
    'history.ratio': { longshore: 0.97 },
  });
  writeRun('goals.json', '2026-02-01', {
    'drain-1': { longshore: 30_000, 'graphile-docs': 14_000, 'graphile-max': 21_000 },
    'enqueue-32': { longshore: 15_000, 'pg-boss': 1_000 },
  });
  const page = draw('goals.json');
  expect(goalLine(page, 'drain, 1 worker, 20,000 jobs: rate ≥ 2 ×').slice(3, 7)).toEqual([
    '2.14 ×',
    'graphile-docs',
    'met',
    'goals',
  ]);
  expect(goalLine(page, 'drain, 1 worker, 20,000 jobs: rate ≥ 1.5').slice(3, 6)).toEqual([
    '1.43 ×',
    'graphile-max',
    '**missed**',
  ]);
  expect(goalLine(page, 'finished jobs ≥ 0.9').slice(5, 7)).toEqual(['met', 'all']);
  expect(goalLine(page, 'drain, 2 workers, 60,000 jobs: rate ≥ 2 ×')[5]).toBe('not measured');
  // The best of all peers is not known yet.
  expect(goalLine(page, '32 callers ≥ 14')[5]).toBe('not judged: without graphile, bullmq-pg');
  expect(page).toContain('Runs `all` (One caller), `goals` (32 callers).');
  expect(page).toContain('Run `all`: 2026-01-01, commit abc1234');
  expect(readdirSync(join(folder, 'page', 'images'))).toEqual([
    'bench-drain.svg',
    'bench-enqueue.svg',
    'bench-loads.svg',
  ]);
  // The older run of the same workload is in no table.
  expect(page).not.toContain('| 10,000 ');
});

test('the committed results give the page that is committed', () => {
  const to = join(folder, 'committed');
  execFileSync(process.execPath, ['bench/charts/main.ts', '--to', to], { cwd: root });
  const images = readdirSync(join(to, 'images'));
  for (const name of images) {
    const committed = readFileSync(join(root, 'docs/images', name), 'utf8');
    expect(committed, name).toBe(readFileSync(join(to, 'images', name), 'utf8'));
  }
  const drawn = readdirSync(join(root, 'docs/images')).filter((name) => name.endsWith('.svg'));
  expect(images).toEqual(drawn.filter((name) => name.startsWith('bench-')));
});
