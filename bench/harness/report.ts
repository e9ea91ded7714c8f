import { SYSTEMS } from '../systems/catalogue.ts';
import { metricName, type Row } from './results.ts';
import { type Metric, withBaseline, type Workload } from '../workloads/workload.ts';
import { figure } from './numbers.ts';

const OURS = 'longshore';

export interface ReportOptions {
  heading?: string;
  /** The name of the run that measured a workload, where several are shown together. */
  runOf?: (workload: string) => string;
}

/** Markdown that is readable as text: a table per workload. */
export function reportOf(
  workloads: readonly Workload[],
  rows: readonly Row[],
  { heading = '##', runOf }: ReportOptions = {},
): string {
  return workloads
    .filter((workload) => rows.some((row) => belongs(row, workload)))
    .map((workload) => {
      const run = runOf ? ` Run \`${runOf(workload.name)}\`.` : '';
      return `${heading} ${workload.name}\n\n${section(workload, rows, run)}`;
    })
    .join('\n');
}

/** The settings of the measured systems, and what each keeps of a finished job. */
export function systemsTable(names: readonly string[]): string {
  const used = SYSTEMS.filter(({ name }) => names.includes(name));
  const cells = used.map(({ name, settings, keeps }) => [name, settings, keeps]);
  return table(['system', 'set-up', 'keeps of a finished job'], cells);
}

function section(workload: Workload, rows: readonly Row[], run: string): string {
  const systems = withBaseline(workload).filter((system) =>
    rows.some((row) => row.system === system && belongs(row, workload)),
  );
  const compared = systems.length > 1 && systems.includes(OURS);
  const head = workload.metrics.flatMap((metric) => {
    const title = `${metric.key === '' ? '' : `${metric.key} `}${metric.unit}`;
    return compared ? [title, 'ours is'] : [title];
  });
  const body = systems.map((system) => [
    system,
    ...workload.metrics.flatMap((metric) => cellsOf(workload, metric, system, rows, compared)),
  ]);
  const rounds = Math.max(...rows.filter((row) => belongs(row, workload)).map((row) => row.rounds));
  const note = `Median [min–max] of ${rounds} ${rounds === 1 ? 'round' : 'rounds'}.`;
  return `${workload.what} ${note}${run}\n\n${table(['', ...head], body)}`;
}

function belongs(row: Row, { name, metrics }: Workload): boolean {
  return metrics.some(({ key }) => row.workload === metricName(name, key));
}

function cellsOf(
  workload: Workload,
  { key }: Metric,
  system: string,
  rows: readonly Row[],
  compared: boolean,
): string[] {
  const name = metricName(workload.name, key);
  const find = (of: string) => rows.find((row) => row.workload === name && row.system === of);
  const row = find(system);
  const ours = find(OURS);
  const value = valueOf(row);
  if (!compared) return [value];
  return [value, !row || !ours || system === OURS ? '' : `${figure(ours.median / row.median)} ×`];
}

function valueOf(row: Row | undefined): string {
  if (!row) return '–';
  const range = row.min === row.max ? '' : ` [${figure(row.min)}–${figure(row.max)}]`;
  return figure(row.median) + range;
}

export function table(head: readonly string[], body: readonly (readonly string[])[]): string {
  const widths = head.map((title, i) =>
    Math.max(title.length, 3, ...body.map((cells) => cells[i]?.length ?? 0)),
  );
  const line = (cells: readonly string[]) =>
    `| ${widths.map((width, i) => (cells[i] ?? '').padEnd(width)).join(' | ')} |\n`;
  const rule = line(widths.map((width) => '-'.repeat(width)));
  return line(head) + rule + body.map(line).join('');
}
