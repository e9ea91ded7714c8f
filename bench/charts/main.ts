import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { goalsTable } from '../harness/goals.ts';
import { reportOf, systemsTable } from '../harness/report.ts';
import type { ResultsFile, Row } from '../harness/results.ts';
import { WORKLOADS } from '../workloads/index.ts';
import { barChart } from './bar-chart.ts';
import { chartsOf } from './charts.ts';

/**
 * `npm run bench:charts -- RESULTS.json …`: draws docs/images/bench-*.svg and writes the results of
 * docs/performance.md from files of `npm run bench -- --json`. Of several files, the last one that
 * has a row counts.
 */

const BEGIN = '<!-- npm run bench:charts writes from here -->';
const END = '<!-- to here -->';
const root = fileURLToPath(new URL('../..', import.meta.url));
const page = `${root}docs/performance.md`;

const files = process.argv.slice(2);
if (files.length === 0) {
  process.stderr.write('usage: npm run bench:charts -- RESULTS.json …\n');
  process.exit(2);
}
const results = files.map((file) => JSON.parse(readFileSync(file, 'utf8')) as ResultsFile);
const rows = merged(results);
const charts = chartsOf(rows);
for (const { name, title, panels } of charts) {
  writeFileSync(`${root}docs/images/${name}.svg`, barChart(title, panels));
}
const text = readFileSync(page, 'utf8');
const [before, after] = [text.split(BEGIN)[0], text.split(END)[1]];
if (before === undefined || after === undefined) throw new Error(`${page} lacks its marks`);
writeFileSync(page, `${before}${BEGIN}\n\n${resultsText()}\n${END}${after}`);
spawnSync('npx', ['prettier', '--write', page], { cwd: root, stdio: 'inherit' });

function resultsText(): string {
  const pictures = charts.map(({ name, title }) => `![${title}](images/${name}.svg)\n`);
  const machine = [...new Set(results.flatMap((file) => file.machine))];
  return [
    '## Goals\n',
    goalsTable(rows),
    '## Charts\n',
    'Bars are medians, the thin lines go from the lowest to the highest round.\n',
    ...pictures,
    '## All results\n',
    reportOf(WORKLOADS, rows, '###'),
    '## Set-up\n',
    systemsTable(rows.map(({ system }) => system)),
    machine.map((line) => `- ${line}\n`).join(''),
  ].join('\n');
}

function merged(all: readonly ResultsFile[]): Row[] {
  const byName = new Map<string, Row>();
  for (const row of all.flatMap((file) => file.rows)) {
    byName.set(`${row.workload}\n${row.system}`, row);
  }
  return [...byName.values()];
}
