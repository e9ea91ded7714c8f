import type {
  DeadLetter,
  DeadLetterGroups,
  DefinitionStats,
  PublishedDefinition,
  Schedule,
  Stats,
} from '../../../client/index.ts';
import { errorRow } from '../../../core/failure/failure-words.ts';
import { shortId } from '../../../core/job/short-id.ts';
import { age, duration } from '../../../core/values/duration.ts';
import { printable, printableJson } from '../../../core/values/printable.ts';
import { columns } from '../columns.ts';
import { limitCells, pausedSince } from '../limit-text.ts';
import { scheduleSentence } from '../schedule-text.ts';

/** One definition with its newest version and its jobs. */
export interface DefinitionRow {
  key: string;
  version: number;
  owner: string | null;
  waiting: number;
  running: number;
  suspended: number;
  /** Dead letters of the last 24 hours. */
  failed: number;
  failedIsExact: boolean;
  paused: PublishedDefinition['paused'];
}

export function definitionRows(
  definitions: readonly PublishedDefinition[],
  stats: Pick<Stats, 'definitions'>,
  { groups, complete }: DeadLetterGroups,
): DefinitionRow[] {
  const counts = new Map(stats.definitions.map((one) => [one.key, one]));
  const failures = groups.flatMap((group) =>
    group.definitions.map((share) => ({ ...share, isExact: group.countIsExact })),
  );
  // By key and version: the last of a key is its newest version.
  const newest = [...new Map(definitions.map((one) => [one.key, one])).values()];
  return newest.map(({ key, version, owner, paused }) => {
    const own = failures.filter(({ definitionKey }) => definitionKey === key);
    const of = counts.get(key);
    return {
      key,
      version,
      owner,
      waiting: of ? waitingOf(of) : 0,
      running: of?.running ?? 0,
      suspended: of?.states.suspended ?? 0,
      failed: own.reduce((sum, { count }) => sum + count, 0),
      failedIsExact: complete && own.every(({ isExact }) => isExact),
      paused,
    };
  });
}

const HEADER = [
  'DEFINITION',
  'VERSION',
  'OWNER',
  'WAITING',
  'RUNNING',
  'SUSPENDED',
  'FAILED 24 H',
  'PAUSED',
];

export function definitionTable(rows: readonly DefinitionRow[], widthMax: number): string[] {
  const cells = rows.map((row) => [
    row.key,
    String(row.version),
    row.owner ?? '-',
    String(row.waiting),
    String(row.running),
    String(row.suspended),
    `${row.failed}${row.failedIsExact ? '' : '+'}`,
    row.paused ? (row.paused.reason ?? 'yes') : '-',
  ]);
  return columns([HEADER, ...cells], widthMax);
}

export interface DefinitionPage {
  definition: PublishedDefinition;
  row: DefinitionRow;
  versions: number[];
  schedules: readonly Schedule[];
  failures: readonly DeadLetter[];
}

/** Output of `definitions KEY`. */
export function definitionText(page: DefinitionPage, now: Date, widthMax: number): string[] {
  const { definition, row, versions, schedules, failures } = page;
  const facts: [name: string, value: string | null][] = [
    ['definition', `${definition.key} version ${definition.version}`],
    ['versions', versions.length > 1 ? versions.join(', ') : null],
    ['purpose', definition.description],
    ['owner', definition.owner],
    ['runbook', definition.runbookUrl],
    ['paused', row.paused ? pausedSince(row.paused, now) : null],
    [
      'jobs',
      `${row.waiting} waiting, ${row.running} running, ${row.suspended} suspended, ${failedText(row)}`,
    ],
    [
      'attempts',
      `${definition.maxAttempts}, each up to ${duration(definition.timeoutSeconds * 1_000)}`,
    ],
    ['isolation', isolationText(definition)],
    ['limits', limitsText(definition)],
    ['hidden', definition.redact.length > 0 ? definition.redact.join(', ') : null],
  ];
  return [
    ...columns(
      facts.flatMap(([name, value]) => (value === null ? [] : [[name, value]])),
      widthMax,
    ),
    ...section(
      'Schedules',
      schedules.map((one) => scheduleLine(one, now)),
    ),
    ...section('Latest failures', failures.length > 0 ? failureTable(failures, now, widthMax) : []),
    ...section('Schema of the params', schemaLines(definition.paramsSchema)),
  ];
}

function failedText({ failed, failedIsExact }: DefinitionRow): string {
  return `${failed}${failedIsExact ? '' : '+'} failed in 24 h`;
}

function isolationText({ isolation, memoryMb, command }: PublishedDefinition): string {
  const memory = memoryMb === null ? '' : `, ${memoryMb} MB`;
  return `${isolation}${memory}${command ? `, runs ${command.join(' ')}` : ''}`;
}

function limitsText({ limits }: PublishedDefinition): string {
  const names = ['running', 'running per key', 'starts', 'starts per key'];
  const set = limitCells(limits.effective).flatMap((cell, index) =>
    cell === '-' ? [] : [`${names[index]} ${cell}`],
  );
  return set.join(', ') || 'none';
}

function scheduleLine(schedule: Schedule, now: Date): string {
  const { name, id, cron, timezone } = schedule;
  return printable(`${name ?? id}  ${cron} (${timezone})  ${scheduleSentence(schedule, now)}`);
}

function failureTable(failures: readonly DeadLetter[], now: Date, widthMax: number): string[] {
  const rows = failures.map((job) => [
    shortId(job.jobId),
    `${age(now.getTime() - Date.parse(job.finishedAt ?? job.updatedAt))} ago`,
    job.error === null ? '' : errorRow(job.error),
  ]);
  return columns(rows, widthMax);
}

function schemaLines(schema: unknown): string[] {
  return schema === null || schema === undefined ? [] : printableJson(schema, 2).split('\n');
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', `${title}:`, ...lines.map((line) => `  ${line}`)];
}

function waitingOf({ states }: DefinitionStats): number {
  return states.queued + states.scheduled + states.retrying + states.created;
}
