import type { ImportReport } from '../../import/report.ts';
import { columns } from './columns.ts';

const COUNT = new Intl.NumberFormat('en');

export function progressText(jobs: number): string {
  return `${COUNT.format(jobs)} jobs …`;
}

export function importText(report: ImportReport, width: number): string[] {
  const { jobs, schedules, left, dryRun } = report;
  const rows = jobs.map(({ queue, definitionKey, ...counts }) => {
    const { waiting, delayed, retrying, before } = counts;
    return [queue, definitionKey, ...[waiting, delayed, retrying, before].map(COUNT.format)];
  });
  const header = ['QUEUE', 'DEFINITION', 'WAITING', 'DELAYED', 'RETRYING', 'IMPORTED BEFORE'];
  const lines: string[] = rows.length > 0 ? columns([header, ...rows], width) : [];
  if (schedules.length > 0) {
    const found = schedules.map(({ queue, definitionKey, name, cron, before }) => {
      return [queue, definitionKey, name, cron, before ? 'yes' : 'no'];
    });
    const head = ['QUEUE', 'DEFINITION', 'SCHEDULE', 'CRON', 'IMPORTED BEFORE'];
    lines.push('', ...columns([head, ...found], width));
  }
  if (left.length > 0) {
    const found = left.map(({ queue, reason, count, examples }) => {
      return [queue, COUNT.format(count), reason, `like ${examples.join(', ')}`];
    });
    lines.push('', ...columns([['QUEUE', 'LEFT', 'REASON', ''], ...found], width));
  }
  return [...lines, ...(lines.length > 0 ? [''] : []), summary(report, dryRun)];
}

function summary({ jobs, schedules, removed }: ImportReport, dryRun: boolean): string {
  const total = jobs.reduce((sum, row) => sum + row.waiting + row.delayed + row.retrying, 0);
  if (dryRun) {
    return `Would import ${many(total, 'job')} and ${many(schedules.length, 'schedule')}.`;
  }
  const before = jobs.reduce((sum, row) => sum + row.before, 0);
  const made = schedules.filter((one) => !one.before).length;
  const gone =
    removed.jobs + removed.schedules > 0
      ? ` Removed there: ${many(removed.jobs, 'job')}, ${many(removed.schedules, 'schedule')}.`
      : '';
  return `Imported ${many(total - before, 'job')} and ${many(made, 'schedule')}.${gone}`;
}

function many(count: number, noun: string): string {
  return `${COUNT.format(count)} ${noun}${count === 1 ? '' : 's'}`;
}
