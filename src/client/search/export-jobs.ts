import type { ExportFormat } from '../../core/search/job-export.ts';
import { queryOf } from '../http/query.ts';
import type { Transport } from '../http/transport.ts';
import type { ListFilter } from '../job.ts';

export interface ExportOptions extends Omit<ListFilter, 'id' | 'cursor' | 'sort'> {
  sort?: '-createdAt' | 'createdAt' | undefined;
  fingerprint?: string | undefined;
  finishedAfter?: Date | string | undefined;
  finishedBefore?: Date | string | undefined;
  /** Maximum number of jobs; default and maximum 100,000. */
  limit?: number | undefined;
  /** Continue after this job: the last one of the previous export. */
  after?: string | undefined;
  signal?: AbortSignal | undefined;
}

/** The parts of the file, as they arrive. */
export async function* exportJobs(
  transport: Transport,
  format: ExportFormat,
  { signal, ...filter }: ExportOptions,
): AsyncGenerator<string, void, undefined> {
  const query = queryOf({ format, ...filter });
  const headers = { accept: '*/*' };
  const opened = await transport.open({ path: '/v1/jobs/export', query, headers, signal });
  if ('error' in opened) throw opened.error;
  const { body } = opened.value;
  if (body === null) return;
  const decoder = new TextDecoder();
  for await (const chunk of body) yield decoder.decode(chunk as Uint8Array, { stream: true });
  yield decoder.decode();
}
