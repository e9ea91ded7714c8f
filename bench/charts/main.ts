import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { goalsTable, workloadOf } from '../harness/goals.ts';
import { reportOf, systemsTable } from '../harness/report.ts';
import { WORKLOADS } from '../workloads/index.ts';
import { barChart } from './bar-chart.ts';
import { type Chart, chartsOf } from './charts.ts';
import { mergeRuns, readRuns } from './runs.ts';

/**
 * `npm run bench:charts`: draws docs/images/bench-*.svg and writes the results of
 * docs/performance.md from bench/results/*.json and from the files of `npm run bench -- --json` that
 * are its arguments. Each workload is taken from the newest file that has it. `--to DIR` writes page and
 * images there, and `--results DIR` reads the committed files there.
 */

const BEGIN = '<!-- npm run bench:charts writes from here -->';
const END = '<!-- to here -->';
const root = fileURLToPath(new URL('../..', import.meta.url));

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { to: { type: 'string' }, results: { type: 'string' } },
});
const { rows, runs, runOf } = mergeRuns(
  readRuns(values.results ?? `${root}bench/results`, positionals),
);
const charts = chartsOf(rows);
const folder = values.to ?? `${root}docs`;
mkdirSync(`${folder}/images`, { recursive: true });
for (const { name, title, panels } of charts) {
  writeFileSync(`${folder}/images/${name}.svg`, barChart(title, panels));
}
const text = readFileSync(`${root}docs/performance.md`, 'utf8');
const [before, after] = [text.split(BEGIN)[0], text.split(END)[1]];
if (before === undefined || after === undefined) throw new Error('the page lacks its marks');
const page = `${folder}/performance.md`;
writeFileSync(page, `${before}${BEGIN}\n\n${resultsText()}\n${END}${after}`);
if (values.to === undefined) {
  spawnSync('npx', ['prettier', '--write', page], { cwd: root, stdio: 'inherit' });
}

function resultsText(): string {
  return [
    '## Goals\n',
    'The first goals are those of issue 17. "×" compares Longshore with the best of the peers that ' +
      'the goal names, in the same run. Without one of them the goal is not judged.\n',
    goalsTable(rows, { all: true, runOf }),
    '## Charts\n',
    'Bars are medians, the thin lines go from the lowest to the highest round.\n',
    ...charts.map((chart) => `![${chart.title}](images/${chart.name}.svg)\n\n${runsOf(chart)}\n`),
    '## All results\n',
    reportOf(WORKLOADS, rows, { heading: '###', runOf }),
    '## Set-up\n',
    systemsTable(rows.map(({ system }) => system)),
    ...runs.map(
      ({ name, at, commit, command, machine }) =>
        `Run \`${name}\`: ${at}, commit ${commit}, \`${command}\`\n\n` +
        machine.map((line) => `- ${line}\n`).join(''),
    ),
  ].join('\n');
}

/** Which file each part of the picture is from. */
function runsOf({ metrics }: Chart): string {
  const parts = new Map<string, string[]>();
  for (const { metric, heading } of metrics) {
    const run = runOf(workloadOf(metric));
    parts.set(run, [...(parts.get(run) ?? []), heading]);
  }
  const [only, ...others] = parts.keys();
  if (others.length === 0) return `Run \`${only}\`.`;
  const lines = [...parts].map(([run, headings]) => `\`${run}\` (${headings.join('; ')})`);
  return `Runs ${lines.join(', ')}.`;
}
