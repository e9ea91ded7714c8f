import type { Bulk, BulkPreview, Longshore } from '../../client/index.ts';
import type { Cli } from '../cli.ts';
import { columns } from './columns.ts';
import { confirm } from '../options/confirm.ts';
import { noteUnknown } from '../options/known-definition.ts';
import { idCell } from './id-cell.ts';
import { errorRow } from '../../core/failure/failure-words.ts';
import { age } from '../../core/values/duration.ts';
import { exitCode } from '../exit-codes.ts';
import type { Output } from './output.ts';
import { printable } from '../../core/values/printable.ts';

/** Options of a bulk action on the command line. */
export interface BulkWork {
  preview?: boolean | undefined;
  yes?: boolean | undefined;
  wait?: boolean | undefined;
}

export interface ManyJobs {
  action: string;
  work: BulkWork;
  /** Of the filter, if it names one. */
  definitionKey?: string | undefined;
  preview: () => Promise<BulkPreview>;
  start: () => Promise<Bulk>;
}

/** Counts, confirms, starts and waits. Without a terminal `--yes` is required. */
export async function startMany(
  cli: Cli,
  out: Output,
  client: Longshore,
  { action, work, definitionKey, preview, start }: ManyJobs,
): Promise<void> {
  if (work.preview) {
    const found = await preview();
    tellPreview(out, found);
    if (found.matched === 0) await noteUnknown(out, client, definitionKey);
    return;
  }
  if (!work.yes) {
    const { matched, matchedIsExact } = await preview();
    if (matched === 0) {
      out.note('No matching jobs.');
      return await noteUnknown(out, client, definitionKey);
    }
    const question = `${capital(action)} ${count(matched, matchedIsExact)}?`;
    if (!(await confirm(cli, question))) return out.note('Nothing changed.');
  }
  const begun = await start();
  const bulk = work.wait === false ? begun : await waitFor(cli, out, client, begun);
  if (bulk.failed > 0) cli.exitCode = exitCode('failed');
  if (out.json) return out.document(bulk);
  out.lines([bulk.bulkId]);
  out.note(bulkSentence(bulk, out.next));
}

/** Shows a progress bar on a terminal; after Ctrl-C the action continues. */
async function waitFor(cli: Cli, out: Output, client: Longshore, begun: Bulk): Promise<Bulk> {
  const leaving = new AbortController();
  cli.onSignal = () => leaving.abort();
  try {
    return await client.bulk.wait(begun.bulkId, {
      signal: leaving.signal,
      onProgress: (bulk) => {
        if (out.isTerminal) out.status(progressBar(bulk));
      },
    });
  } catch (error) {
    if (!leaving.signal.aborted) throw error;
    cli.exitCode = exitCode('interrupted');
    out.note(`The action continues. Show it with: ${out.next(`bulk show ${begun.bulkId}`)}`);
    return begun;
  } finally {
    cli.onSignal = null;
    if (out.isTerminal) out.status('');
  }
}

function tellPreview(out: Output, preview: BulkPreview): void {
  if (out.json) return out.document(preview);
  const { matched, matchedIsExact, sample } = preview;
  out.note(`${count(matched, matchedIsExact)} would be changed.`);
  out.lines(
    columns(
      sample.map((job) => [
        idCell(job.jobId, out.width),
        job.definitionKey,
        job.status,
        job.error === null ? '' : errorRow(job.error),
      ]),
      out.width,
    ),
  );
}

const BAR_WIDTH = 30;

export function progressBar({ done, skipped, failed, matched, matchedIsExact }: Bulk): string {
  const seen = done + skipped + failed;
  const share = matched === 0 ? 1 : Math.min(1, seen / matched);
  const full = Math.floor(share * BAR_WIDTH);
  const bar = '#'.repeat(full).padEnd(BAR_WIDTH, '.');
  return `[${bar}] ${seen} of ${matchedIsExact ? '' : 'at least '}${matched}`;
}

export function bulkSentence({ bulkId, ...bulk }: Bulk, next: (command: string) => string): string {
  const { action, status, done, skipped, failed, matched, matchedIsExact, note } = bulk;
  const parts = [
    `${done} of ${count(matched, matchedIsExact)}`,
    ...(skipped > 0 ? [`${skipped} skipped`] : []),
    ...(failed > 0 ? [`${failed} failed (${note ?? 'unknown reason'})`] : []),
  ];
  const more = status === 'running' ? `; show it with: ${next(`bulk show ${bulkId}`)}` : '';
  return printable(`${action} ${status}: ${parts.join(', ')}${more}`);
}

const HEADER = ['ID', 'ACTION', 'STATUS', 'DONE', 'SKIPPED', 'FAILED', 'MATCHED', 'AGE'];

export function bulkTable(bulks: readonly Bulk[], now: Date, widthMax: number): string[] {
  const rows = bulks.map((bulk) => [
    idCell(bulk.bulkId, widthMax),
    bulk.action,
    bulk.status,
    String(bulk.done),
    String(bulk.skipped),
    String(bulk.failed),
    `${bulk.matched}${bulk.matchedIsExact ? '' : '+'}`,
    age(now.getTime() - Date.parse(bulk.createdAt)),
  ]);
  return columns([HEADER, ...rows], widthMax);
}

function count(matched: number, exact: boolean): string {
  if (matched === 1 && exact) return '1 job';
  return `${exact ? '' : 'at least '}${matched} jobs`;
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
