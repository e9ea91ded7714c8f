import { rootCause } from '../failure/dead-letter.ts';
import type { JobView } from '../job/job.ts';
import { csvCells } from '../values/csv-cell.ts';

/** Jobs as lines of a file. */
export const EXPORT_FORMATS = ['csv', 'jsonl'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** Rows of one export; the next one continues after the last job. */
export const EXPORT_ROWS_MAX = 100_000;

const COLUMNS: Record<string, (job: JobView) => unknown> = {
  jobId: ({ jobId }) => jobId,
  definitionKey: ({ definitionKey }) => definitionKey,
  definitionVersion: ({ definitionVersion }) => definitionVersion,
  owner: ({ owner }) => owner,
  status: ({ status }) => status,
  priority: ({ priority }) => priority,
  attempts: ({ attempts }) => attempts,
  maxAttempts: ({ maxAttempts }) => maxAttempts,
  tags: ({ tags }) => tags.join(','),
  createdAt: ({ createdAt }) => createdAt,
  queuedAt: ({ queuedAt }) => queuedAt,
  runAt: ({ runAt }) => runAt,
  startedAt: ({ startedAt }) => startedAt,
  finishedAt: ({ finishedAt }) => finishedAt,
  errorCode: ({ error }) => error?.code,
  errorMessage: ({ error }) => error?.message,
  rootCause: ({ error }) => error && rootCause(error),
  params: ({ params }) => JSON.stringify(params),
  result: ({ result }) => (result === null ? null : JSON.stringify(result)),
};

const cell = csvCells({ separator: ',', escapeFormulas: true });

/** The first line; empty when the format has none. */
export function exportHead(format: ExportFormat): string {
  return format === 'csv' ? `${Object.keys(COLUMNS).join(',')}\r\n` : '';
}

export function exportLine(format: ExportFormat, job: JobView): string {
  if (format === 'jsonl') return `${JSON.stringify(job)}\n`;
  const cells = Object.values(COLUMNS).map((of) => cell(String(of(job) ?? '')));
  return `${cells.join(',')}\r\n`;
}

/**
 * Counts the rows of an export as it arrives, to know whether it reached its limit and where to
 * continue. The first id of a row is that of its job.
 */
export class ExportCount {
  readonly #format: ExportFormat;
  #rows: number;
  #row = '';
  #quoted = false;
  #lastId: string | null = null;

  constructor(format: ExportFormat) {
    this.#format = format;
    this.#rows = format === 'csv' ? -1 : 0;
  }

  add(text: string): void {
    for (const char of text) {
      if (char === '"' && this.#format === 'csv') this.#quoted = !this.#quoted;
      if (char === '\n' && !this.#quoted) this.#endRow();
      else if (this.#row.length < ROW_START) this.#row += char;
    }
  }

  get rows(): number {
    return Math.max(0, this.#rows);
  }

  get lastId(): string | null {
    return this.#lastId;
  }

  #endRow(): void {
    this.#rows += 1;
    this.#lastId = ID.exec(this.#row)?.[0] ?? this.#lastId;
    this.#row = '';
  }
}

const ROW_START = 60;
const ID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/;
